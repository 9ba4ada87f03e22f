"""Bringing a session in from an export: checked whole, built under another name, compared, and only then named."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from memory.budgets import budgets_key
from memory.store import CONVERSATION, MemoryStore
from sessions.display import one_line
from sessions.errors import ImportRefused
from sessions.export_document import FORMAT, LARGEST_IMPORT, VERSION, document_of
from sessions.export_shape import refused
from sessions.import_checks import Record, record_of
from sessions.options import Options
from sessions.private_files import reason
from sessions.rows import SessionRow
from sessions.tape_building import finish, fit_to_budgets, unfinished_tape, write_record

_NOTHING = "Nothing was imported."


def import_file(options: Options, path: Path) -> SessionRow:
    """Make a session of the export at ``path``; its row, with a notice where it got another id.

    Raises:
        ImportRefused: what is wrong with the file, and where.
        StoreUnavailable: the home cannot be written.
    """
    try:
        document = parsed(read(path))
        record = record_of(document, options.now().isoformat())
        with unfinished_tape(options.home, options.now) as store:
            _write(store, record)
            _compare(store, record, document)
            _fit(store, options)
            _verify(store)
            id = finish(store, options.home, record.row.id)
    except RecursionError:
        raise ImportRefused(f"The file is nested too deeply to be an Otto export. {_NOTHING}") from None
    except MemoryError:
        raise ImportRefused(f"The file needs more memory than there is. {_NOTHING}") from None
    return _named(record.row, id)


def read(path: Path) -> bytes:
    """The bytes of a file that may be an export.

    Raises:
        ImportRefused: it is no file, cannot be read, or is larger than ``LARGEST_IMPORT``.
    """
    name = one_line(str(path), 200)
    try:
        if not path.is_file():
            raise ImportRefused(f"{name} is not a file, so there is nothing to import.")
        with path.open("rb") as file:
            data = file.read(LARGEST_IMPORT + 1) if path.stat().st_size <= LARGEST_IMPORT else None
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise ImportRefused(f"{name} cannot be read: {why}. {_NOTHING}") from error
    if data is None or len(data) > LARGEST_IMPORT:
        raise ImportRefused(
            f"{name} is larger than {LARGEST_IMPORT // 1_000_000} MB, the most that can be imported. {_NOTHING}"
        )
    return data


def parsed(data: bytes) -> Mapping[str, Any]:
    """The document in ``data``.

    Raises:
        ImportRefused: it is not JSON, or not an export of a version that this Otto reads.
        RecursionError: it is nested too deeply.
    """
    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_float=_number,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise ImportRefused(f"The file is not UTF-8 text (byte {error.start}), so not an export. {_NOTHING}") from None
    except json.JSONDecodeError as error:
        raise ImportRefused(
            f"The file is not whole JSON: {error.msg[:1].lower()}{error.msg[1:]} in line {error.lineno}, column"
            f" {error.colno}. {_NOTHING}"
        ) from None
    except ValueError as error:
        raise ImportRefused(
            f"The file is not JSON that can be imported: {one_line(str(error), 200)}. {_NOTHING}"
        ) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refused("format", f'is not "{FORMAT}", so this is not an export of an Otto session')
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ImportRefused(f"version: {version} was written by a newer Otto. Upgrade Otto to import it. {_NOTHING}")
    if version != VERSION or isinstance(version, bool):
        raise refused("version", f"is not {VERSION}, the only version there is")
    return document


def first_difference(given: Any, made: Any, path: str = "") -> str | None:
    """The path of the first value in which two documents differ; None when they are the same."""
    if isinstance(given, dict) and isinstance(made, dict):
        for key in made:
            here = f"{path}.{key}" if path else key
            if key not in given:
                return here
            if (found := first_difference(given[key], made[key], here)) is not None:
                return found
        extra = next((one_line(key, 60) for key in given if key not in made), None)
        return extra if extra is None or not path else f"{path}.{extra}"
    if isinstance(given, list) and isinstance(made, list):
        for place, (one, other) in enumerate(zip(given, made, strict=False)):
            if (found := first_difference(one, other, f"{path}[{place}]")) is not None:
                return found
        return None if len(given) == len(made) else f"{path}[{min(len(given), len(made))}]"
    return None if type(given) is type(made) and given == made else path


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the key "{twice}" stands twice in one object')
    return made


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits} is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _write(store: MemoryStore, record: Record) -> None:
    try:
        write_record(store, record.row, record.events, record.ledger, facts=record.facts, pieces=record.pieces)
    except (KeyError, IndexError, ValueError, TypeError, sqlite3.IntegrityError) as error:
        # The checks should have found it; whatever they let through must not become a session.
        raise refused("tape.ledger", f"leads to no tiers ({one_line(repr(error), 100)})") from error


def _compare(store: MemoryStore, record: Record, document: Mapping[str, Any]) -> None:
    """What was written must export to what was given, to the last field."""
    made = document_of(store, record.row, tape="tape" in document and document["tape"] is not None)
    path = first_difference(document, made)
    if path is not None:
        raise refused(path, "does not fit the rest of the file")


def _fit(store: MemoryStore, options: Options) -> None:
    """Where tokens are counted otherwise than where the export was made, the view may be over its budgets here."""
    from memory.tier_checks import view_fits

    if any(view_fits(store, CONVERSATION)):
        fit_to_budgets(store, store.get_meta(budgets_key(CONVERSATION)), options)


def _verify(store: MemoryStore) -> None:
    from memory.verify import verify

    for check in verify(store).checks:
        if not check.ok:
            raise ImportRefused(f"{check.name}: {one_line(check.rows[0], 200)}. {_NOTHING}")


def _named(row: SessionRow, id: str) -> SessionRow:
    if id == row.id:
        return row
    return replace(row, id=id, notice=f"A session {row.id} is here already, so this one was imported as {id}.")
