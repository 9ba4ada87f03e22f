"""Checking layers of settings with pydantic, and putting the sound ones over each other.

Loaded only when a file or variable says something (see ``otto_tui/config.py``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from os.path import realpath
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from otto_tui.config_sources import DELIMITER, PREFIX, Layer
from otto_tui.paths import from_home
from otto_tui.settings import (
    EmbeddingSettings,
    LedgerSettings,
    McpServerSettings,
    McpSettings,
    MemorySettings,
    ModelSettings,
    ProviderSettings,
    SeatSettings,
    Settings,
    ToolSettings,
    UiSettings,
    WorkspaceSettings,
)
from sessions.display import one_line

KeyPath = tuple[str, ...]
"""Section and key: ``("memory", "x_budget")``."""

ONLY_WHERE_TRUSTED = (
    ("providers",),
    ("model", "api_base"),
    ("embedding",),
    ("workspaces",),
    ("ledger", "debug_log_text"),
    ("tools", "run_command"),
    ("mcp",),
)
"""What a folder's own file may set only once the person trusts the folder; the last ones have commands run."""

WHO_READS = (("model", "chat"), *(("seats", seat.name) for seat in fields(SeatSettings)))
"""What a folder's own file may set, but not without a word."""

POOL_TARGET = ("ledger", "observations_pool_target_tokens")

SERVER_DEPTH = 3
"""Keys that lead to one MCP server: ``mcp.servers.NAME``."""

SECRET_KEYS = frozenset({"api_key_env", "api_key", "key", "token", "password"})
"""A value under one of these is never repeated: people put the key itself there."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Variables(BaseSettings):
    """The shape by which pydantic-settings reads the environment."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter=DELIMITER, env_ignore_empty=True)

    model: ModelSettings = ModelSettings()
    seats: SeatSettings = SeatSettings()
    memory: MemorySettings = MemorySettings()
    ledger: LedgerSettings = LedgerSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    tools: ToolSettings = ToolSettings()
    mcp: McpSettings = McpSettings()
    ui: UiSettings = UiSettings()
    workspaces: WorkspaceSettings = WorkspaceSettings()
    providers: dict[str, ProviderSettings] = {}


@dataclass(frozen=True, slots=True)
class _Complaint:
    """Something wrong in a layer, before it is known which value takes its place."""

    key: str
    path: KeyPath
    problem: str


def environment_source() -> EnvSettingsSource:
    """pydantic-settings' own reader of ``OTTO_...__...`` variables."""
    return EnvSettingsSource(_Variables)


def settle(layers: Sequence[Layer], workspace: Path, environ: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """The settings that ``layers``, weakest first, come to, and a sentence for each value left out."""
    adapter = TypeAdapter(Settings)
    trusted = _is_trusted(workspace, layers, environ, adapter)
    merged: dict[str, Any] = {}
    complaints: list[_Complaint] = []
    sentences: list[str] = []
    for layer in layers:
        values = layer.values
        if layer.of_workspace and not trusted:
            values, refused = _within_its_rights(layer, workspace)
            sentences += refused
        sound, found = _sound(replace(layer, values=values), adapter)
        complaints += found
        _lay_over(merged, sound)
    settings = adapter.validate_python(merged)
    if problem := _target_problem(settings.ledger):
        complaints.append(_Complaint(_named_last(layers, POOL_TARGET), POOL_TARGET, problem))
        _remove(merged, POOL_TARGET)
        settings = adapter.validate_python(merged)
    sentences += [_sentence(complaint, settings) for complaint in complaints]
    sentences += [
        f"The provider {one_line(name, 40)} has no api_base, so it is left out; give its address in"
        f" [providers.{one_line(name, 40)}]."
        for name, provider in settings.providers.items()
        if not provider.api_base
    ]
    sentences += [
        f"The MCP server {one_line(name, 40)} has {'both' if server.command else 'neither'} command"
        f" {'and' if server.command else 'nor'} url, so it is left out; give one of the two in"
        f" [mcp.servers.{one_line(name, 40)}]."
        for name, server in settings.mcp.servers.items()
        if bool(server.command) == bool(server.url)
    ]
    return settings, tuple(sentences)


def _is_of_a_server(path: KeyPath) -> bool:
    """Part of an MCP server: one that is half configured is not started at all."""
    return path[:2] == ("mcp", "servers") and len(path) >= SERVER_DEPTH


def _target_problem(ledger: LedgerSettings) -> str | None:
    """What is wrong between two settings, however many layers they came from."""
    target, most = ledger.observations_pool_target_tokens, ledger.observations_pool_max_tokens
    if target is None or target < most:
        return None
    return f"should be less than observations_pool_max_tokens, which is {most}, not {target}"


def _named_last(layers: Sequence[Layer], path: KeyPath) -> str:
    """How the strongest layer that has this key calls it."""
    return [layer.name_of(path) for layer in layers if _get(layer.values, path) is not None][-1]


# -- one layer -----------------------------------------------------------------------------------------------------


def _sound(layer: Layer, adapter: TypeAdapter[Settings]) -> tuple[dict[str, Any], list[_Complaint]]:
    """The part of a layer that holds, and what is wrong with the rest."""
    values = deepcopy(layer.values)
    complaints = []
    for path, problem in tuple(_not_what_it_seems(values)):
        _remove(values, path)
        complaints.append(_Complaint(layer.name_of(path), path, problem))
    while True:
        try:
            adapter.validate_python(values)
        except ValidationError as error:
            for details in error.errors(include_url=False):
                path = _present(values, tuple(str(part) for part in details["loc"]))
                if path:
                    complaints.append(_Complaint(layer.name_of(path), path, _problem(details, path)))
                    _remove(values, path[:SERVER_DEPTH] if _is_of_a_server(path) else path)
        else:
            return values, complaints


def _not_what_it_seems(values: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """What pydantic would take with a smile: ``true`` for 1, and numbers that are none."""
    for section in fields(Settings):
        content = values.get(section.name)
        if section.name == "providers" or not isinstance(content, dict):
            continue
        types = {setting.name: str(setting.type) for setting in fields(getattr(Settings(), section.name))}
        for key, value in tuple(content.items()):
            if isinstance(value, bool) and key in types and types[key] != "bool":
                yield (section.name, key), f"should be {_wanted(types[key])}, not {json.dumps(value)}"
            elif isinstance(value, float) and not math.isfinite(value):
                yield (section.name, key), f"should be a number, not {value}"
    providers = values.get("providers")
    for name, provider in providers.items() if isinstance(providers, dict) else ():
        variable = _get(provider, ("api_key_env",))
        if isinstance(variable, str) and not _VARIABLE.fullmatch(variable):
            path = ("providers", name, "api_key_env")
            yield path, "should be the name of an environment variable, not the key itself"


def _within_its_rights(layer: Layer, workspace: Path) -> tuple[dict[str, Any], list[str]]:
    """What an untrusted folder's file may set, and a sentence about what it may not."""
    values = deepcopy(layer.values)
    refused = [path for path in ONLY_WHERE_TRUSTED if _get(values, path) is not None]
    refused += [path for path in WHO_READS if "://" in str(_get(values, path) or "")]
    for path in refused:
        _remove(values, path)
    sentences = []
    if refused:
        names = ", ".join(".".join(path) for path in refused)
        sentences.append(
            f"{layer.where}: {names} left out, since a folder's own file may not say where your words and keys go"
            " or have commands run;"
            f' to allow it, add "{workspace}" to trusted in [workspaces] of your own config.toml.'
        )
    sentences += [
        f"{layer.where} chooses {one_line(str(_get(values, path)), 80)} for {'.'.join(path)}."
        for path in WHO_READS
        if _get(values, path) is not None
    ]
    return values, sentences


def _is_trusted(
    workspace: Path, layers: Sequence[Layer], environ: Mapping[str, str], adapter: TypeAdapter[Settings]
) -> bool:
    """Whether the person's own settings, wherever they stand, list this very folder."""
    for layer in layers:
        if layer.of_workspace:
            continue
        values, _ = _sound(layer, adapter)
        for folder in _get(values, ("workspaces", "trusted")) or ():
            # Unlike Path.resolve, realpath takes looping links as they are.
            if "\0" not in folder and realpath(from_home(folder, environ)) == realpath(workspace):
                return True
    return False


# -- sentences -----------------------------------------------------------------------------------------------------


def _problem(details: ErrorDetails, path: KeyPath) -> str:
    """What is wrong with one value, ready to follow its name."""
    kind = details["type"]
    context = details.get("ctx", {})
    if kind == "unexpected_keyword_argument":
        return f"is not a setting of Otto{_perhaps(path)}"
    wanted = {
        "int_from_float": "a whole number",
        "int_parsing": "a whole number",
        "int_parsing_size": "a smaller number",
        "int_type": "a whole number",
        "float_parsing": "a number",
        "float_type": "a number",
        "bool_parsing": "true or false",
        "bool_type": "true or false",
        "string_type": "text",
        "tuple_type": "a list",
        "mapping_type": "a section",
        "dict_type": "a section",
        "dataclass_type": "a section",
        "greater_than": f"more than {context.get('gt')}",
        "greater_than_equal": f"at least {context.get('ge')}",
        "less_than_equal": f"at most {context.get('le')}",
        "literal_error": str(context.get("expected")).replace("'", ""),
    }.get(kind)
    hidden = path[-1] in SECRET_KEYS or len(path) == 1 or _is_of_a_server(path)
    shown = "" if hidden else f", not {_shown(details['input'])}"
    return f"should be {wanted}{shown}" if wanted else f"is wrong ({one_line(details['msg'], 120)})"


def _wanted(annotation: str) -> str:
    if "int" in annotation:
        return "a whole number"
    return "a number" if "float" in annotation else "text"


def _shown(value: Any) -> str:
    return one_line(json.dumps(value, ensure_ascii=False, default=str), 40)


def _perhaps(path: KeyPath) -> str:
    """Name the setting that was probably meant."""
    if len(path) == 1:
        known = [section.name for section in fields(Settings)]
    elif path[0] == "providers":
        known = [setting.name for setting in fields(ProviderSettings)]
    elif _is_of_a_server(path):
        known = [setting.name for setting in fields(McpServerSettings)]
    else:
        known = [setting.name for setting in fields(getattr(Settings(), path[0]))]
    close = get_close_matches(path[-1].lower(), known, n=1)
    return f" (did you mean {close[0]}?)" if close else f" (there are {', '.join(known)})"


def _sentence(complaint: _Complaint, settings: Settings) -> str:
    if _is_of_a_server(complaint.path):
        name = one_line(complaint.path[SERVER_DEPTH - 1], 40)
        return f"{complaint.key} {complaint.problem}, so the MCP server {name} is left out."
    sentence = f"{complaint.key} {complaint.problem}, so it is left out"
    if " is not a setting" in f" {complaint.problem}":
        return sentence + "."
    value = _used(complaint.path, settings)
    return f"{sentence} and the default is used." if value is None else f"{sentence} and {value} is used."


def _used(path: KeyPath, settings: Settings) -> str | None:
    """The value that took its place; None where that is "unset" or a whole section."""
    if len(path) != 2 or path[0] == "providers":
        return None
    value = getattr(getattr(settings, path[0]), path[1], None)
    return None if value is None or value == () else _shown(value)


# -- nested values -------------------------------------------------------------------------------------------------


def _lay_over(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            _lay_over(below[key], value)
        else:
            below[key] = value


def _get(values: Any, path: KeyPath) -> Any:
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _present(values: Any, path: KeyPath) -> KeyPath:
    """The longest beginning of ``path`` that is there."""
    found: list[str] = []
    for key in path:
        if not isinstance(values, dict) or key not in values:
            break
        found.append(key)
        values = values[key]
    return tuple(found)


def _remove(values: dict[str, Any], path: KeyPath) -> None:
    *sections, key = path
    for section in sections:
        values = values[section]
    values.pop(key, None)
