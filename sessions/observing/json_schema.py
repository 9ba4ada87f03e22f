"""Checking what a model sent against the very schema that it was given, with words that it can act on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
"""A JSON schema of objects, arrays and strings."""

MOST_STARTS = 50
"""Places in a text at which a JSON value is looked for."""

_TYPES: Mapping[str, Any] = {"object": dict, "array": list, "string": str}


def problem_with(value: Any, schema: Schema, name: str = "the arguments") -> str | None:
    """The first thing in ``value`` that ``schema`` does not allow, as part of a sentence; None where it holds."""
    wanted = schema["type"]
    if not isinstance(value, _TYPES[wanted]):
        return f"{name} must be of type {wanted}"
    if wanted == "object":
        return _problem_in_object(value, schema, name)
    if wanted == "array":
        return _problem_in_array(value, schema, name)
    if "enum" in schema and value not in schema["enum"]:
        return f"{name} must be one of {', '.join(schema['enum'])}"
    if schema.get("minLength") and not value.strip():
        return f"{name} must not be empty"
    return None


def parsed(text: str) -> Any:
    """``text`` as JSON; None where it is none. Any text will do."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a text, outermost first, whatever stands around them: prose, a code fence, thoughts."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(MOST_STARTS):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)


def _problem_in_object(value: Mapping[str, Any], schema: Schema, name: str) -> str | None:
    for key, inner in schema["properties"].items():
        if key not in value:
            if key in schema.get("required", ()):
                return f"{name} has no {key}"
            continue
        if problem := problem_with(value[key], inner, key):
            return problem
    return None


def _problem_in_array(value: list[Any], schema: Schema, name: str) -> str | None:
    if len(value) < schema.get("minItems", 0):
        return f"{name} must not be empty"
    for place, item in enumerate(value, 1):
        if problem := problem_with(item, schema["items"], f"number {place} of {name}"):
            return problem
    return None
