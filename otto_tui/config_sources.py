"""Reading settings as plain values: a TOML file or the environment gives a ``Layer``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from otto_tui.settings import Settings
from sessions.display import one_line
from sessions.private_files import reason

PREFIX = "OTTO_"
DELIMITER = "__"
EMBEDDING_MODEL = "OTTO_EMBEDDING_MODEL"
"""A short name for ``OTTO_EMBEDDING__MODEL``, which wins where both are set."""
PASSIVE = "OTTO_PASSIVE"
"""A short name for ``OTTO_LEDGER__PASSIVE``, which wins where both are set."""

SHORT_NAMES = {EMBEDDING_MODEL: ("embedding", "model"), PASSIVE: ("ledger", "passive")}
"""Variables that stand for one setting without naming its section."""

LARGEST_FILE = 1_000_000
"""Bytes. A settings file beyond it is something else."""

SECTIONS = tuple(section.name for section in fields(Settings))


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source says, unchecked."""

    where: str
    """The file's path, or ``environment``."""
    values: dict[str, Any] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()
    """Why some or all of it could not be read, a sentence each."""
    of_workspace: bool = False
    """It came with a folder and not from the person."""
    names: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    """What a key is called in this source, where that is not its usual name."""

    def name_of(self, path: tuple[str, ...]) -> str:
        """How a person finds this key in this source."""
        if self.where == "environment":
            return f"{self.names.get(path) or PREFIX + DELIMITER.join(path).upper()} in the environment"
        return f"{self.where}: {one_line('.'.join(path), 80)}"


def file_layer(path: Path, *, of_workspace: bool = False) -> Layer:
    """The values of a TOML file; none when there is no such file."""

    def unreadable(why: str) -> Layer:
        return Layer(str(path), complaints=(f"{path} {why}, so none of it is used.",), of_workspace=of_workspace)

    try:
        if not path.is_file():
            return Layer(str(path)) if not path.exists() else unreadable("is not a file")
        if path.stat().st_size > LARGEST_FILE:
            return unreadable(f"is larger than {LARGEST_FILE // 1_000_000} MB")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return unreadable("is not UTF-8 text")
    except OSError as error:
        return unreadable(f"cannot be read ({reason(error)})")
    if not text.strip():
        return Layer(str(path))

    import tomllib

    try:
        return Layer(str(path), tomllib.loads(text), of_workspace=of_workspace)
    except RecursionError:
        return unreadable("is nested too deeply")
    except ValueError as error:  # TOMLDecodeError, and a number with thousands of digits
        return unreadable(f"is not valid TOML ({one_line(str(error), 200)})")


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """The values of the ``OTTO_...__...`` variables, as pydantic-settings reads them."""
    from pydantic_settings.sources.utils import parse_env_vars

    from otto_tui.config_check import environment_source

    known, complaints = _known_variables(environ)
    source = environment_source()
    source.env_vars = parse_env_vars(known, case_sensitive=False, ignore_empty=True)
    values = source()
    names: dict[tuple[str, ...], str] = {}
    for name, (section, key) in SHORT_NAMES.items():
        short = environ.get(name, "").strip()
        beside = values.setdefault(section, {}) if short else None
        if isinstance(beside, dict) and key not in beside:
            beside[key] = short
            names[section, key] = name
    trusted = values.get("workspaces", {}).get("trusted")
    if isinstance(trusted, str):
        values["workspaces"]["trusted"] = [part for part in trusted.split(os.pathsep) if part]
    return Layer("environment", values, complaints, names=names)


def names_a_setting(variable: str) -> bool:
    """True for a variable that is meant as one of Otto's settings, rightly or wrongly spelt."""
    name = variable.upper()
    if not name.startswith(PREFIX):
        return False
    rest = name.removeprefix(PREFIX)
    return DELIMITER in rest or rest.lower() in SECTIONS or name in SHORT_NAMES


def _known_variables(environ: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables that belong to a section, and a sentence for each that belongs to none."""
    known: dict[str, str] = {}
    complaints = []
    for variable, value in environ.items():
        if not names_a_setting(variable) or variable.upper() in SHORT_NAMES:
            continue
        section, delimiter, rest = variable[len(PREFIX) :].lower().partition(DELIMITER)
        if section in SECTIONS and delimiter and rest:
            known[variable] = value
        elif section in SECTIONS:
            complaints.append(
                f"{one_line(variable, 80)} in the environment is a section, not a setting, so it is left out; name one"
                f" of its keys, such as {PREFIX}{section.upper()}{DELIMITER}{_first_key(section).upper()}."
            )
        else:
            complaints.append(
                f"{one_line(variable, 80)} in the environment is not a setting of Otto, so it is left out;"
                f" the sections are {', '.join(SECTIONS)}."
            )
    return known, tuple(complaints)


def _first_key(section: str) -> str:
    value = getattr(Settings(), section)
    return "NAME" + DELIMITER + "API_BASE" if section == "providers" else fields(value)[0].name
