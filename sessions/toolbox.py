"""Tools that a model may call: what one is, and the box that answers any call whatever with words, never by raising."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Protocol

from memory.errors import OttoError
from memory.text import storable
from sessions.approvals import Ask
from sessions.chat_model import ToolCall, ToolSpec
from sessions.display import one_line
from sessions.events import SessionEvent

LONGEST_PROBLEM = 300
"""Characters of what a library says was wrong."""


class ToolRefused(OttoError):
    """The model asked for what cannot be done. The sentence is for the model: what was wrong, what to do instead."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool call comes to."""

    text: str
    """For the model."""
    summary: str
    """One line for the person; it stands for the whole text once that has left the transcript."""
    refs: tuple[str, ...] = ()
    """Ids of the events it quotes."""
    ok: bool = True


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a tool knows of the call besides its arguments."""

    call: str
    """The call's id."""
    emit: Callable[[SessionEvent], None]
    """Tells the session's subscribers. Called on the event loop only."""
    ask: Ask | None
    """Asks the person; None where nobody can be asked."""
    keep: Callable[[ToolAnswer], object] = lambda answer: None
    """For a tool that is cancelled: hands over what it has so far, before the cancellation goes on."""


class Tool(Protocol):
    """One tool. Safe to call several times at once."""

    @property
    def spec(self) -> ToolSpec:
        """In OpenAI's function format. ``spec["function"]["name"]`` is its name, ``["parameters"]`` a JSON schema."""
        ...

    @property
    def group(self) -> str:
        """``memory``, ``workspace``, ``command`` or ``mcp:NAME``."""
        ...

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        """Answer a call whose arguments keep to the schema. Must not block the event loop.

        Cancellation stops it. Raises ``ToolRefused`` for what the model did wrong.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool as a person sees it in a list."""

    name: str
    group: str
    description: str
    enabled: bool
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema of its arguments."""


def name_of(tool: Tool) -> str:
    return str(tool.spec["function"]["name"])


def description_of(tool: Tool) -> str:
    return str(tool.spec["function"].get("description", ""))


class Toolbox:
    """Tools by name. Of two with one name the first one counts."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self._tools.setdefault(name_of(tool), tool)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def specs(self) -> list[ToolSpec]:
        """For a request, in an order that does not change."""
        return [tool.spec for tool in self._tools.values()]

    def tool(self, name: str) -> Tool | None:
        return self._tools.get(name)

    async def answer(self, call: ToolCall, context: CallContext) -> ToolAnswer:
        """What the call comes to. Never raises but ``CancelledError``.

        An unknown tool, arguments that are no JSON or break the schema, and a tool that fails are answered with one
        sentence that says what was wrong (``ok`` is False).
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return refusal(self._unknown(call.name))
        schema = tool.spec["function"].get("parameters") or {}
        try:
            # What a model wrote may be long, and the library that checks it takes a moment to import.
            arguments = await asyncio.to_thread(_arguments, call, schema)
            answer = await tool.call(arguments, context)
        except ToolRefused as error:
            return refusal(str(error))
        except OttoError as error:
            return refusal(f"{call.name} failed: {error}")
        except Exception as error:
            said = one_line(str(error), LONGEST_PROBLEM) or type(error).__name__
            return refusal(f"{call.name} failed: {said}")
        # What the model reads is what the tape keeps, to the letter.
        return replace(answer, text=storable(answer.text), summary=one_line(answer.summary, LONGEST_PROBLEM))

    def _unknown(self, name: str) -> str:
        shown = one_line(name, 60)
        if not self._tools:
            return f"There is no tool named {shown}: no tools can be called here."
        close = get_close_matches(name, self._tools, n=1)
        perhaps = f" Did you mean {close[0]}?" if close else ""
        return f"There is no tool named {shown}.{perhaps} The tools are {', '.join(self._tools)}."


def refusal(sentence: str) -> ToolAnswer:
    """The answer to a call that cannot be done."""
    text = storable(sentence)
    return ToolAnswer(text, one_line(text, LONGEST_PROBLEM), ok=False)


def _arguments(call: ToolCall, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The call's arguments, which keep to the schema. Raises ``ToolRefused``."""
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        why = one_line(str(error), 80)
        raise ToolRefused(f"The arguments of {call.name} were not valid JSON ({why}). {_wanted(schema)}") from error
    if not isinstance(given, dict):
        raise ToolRefused(f"The arguments of {call.name} were not a JSON object. {_wanted(schema)}")
    problem = _problem(given, schema)
    if problem is not None:
        raise ToolRefused(f"The arguments of {call.name} were wrong: {problem}. {_wanted(schema)}")
    return given


def _wanted(schema: Mapping[str, Any]) -> str:
    """What to send instead, in words."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return "Give a JSON object: {}."
    required = schema.get("required") or ()
    named = [
        f"{name} ({_type(wanted)}{'' if name in required else ', optional'})" for name, wanted in properties.items()
    ]
    return f"Give a JSON object with {', '.join(named)}."


def _type(wanted: Any) -> str:
    type_ = wanted.get("type", "any") if isinstance(wanted, Mapping) else "any"
    return " or ".join(map(str, type_)) if isinstance(type_, list) else str(type_)


def _problem(given: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """The first thing that the schema does not allow; None where it holds, or where the schema itself is broken.

    A server's own broken schema is no reason to refuse: the server checks what it gets.
    """
    if not schema:
        return None
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from referencing import Registry

    try:
        # A registry of its own keeps a schema from having other schemas fetched from a network.
        error = best_match(Draft202012Validator(schema, registry=Registry()).iter_errors(given))
    except Exception:
        return None
    if error is None:
        return None
    where = ".".join(str(part) for part in error.absolute_path)
    said = one_line(error.message, LONGEST_PROBLEM)
    return f"{where}: {said}" if where else said
