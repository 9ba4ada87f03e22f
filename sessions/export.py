"""Taking a session away as one file: JSON that can be imported again, or Markdown to read."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory.store import MemoryStore
from sessions import tapes
from sessions.display import displayable
from sessions.errors import ExportRefused
from sessions.export_document import document_of
from sessions.markdown import markdown_of
from sessions.options import Options
from sessions.private_files import reason, write_whole
from sessions.rows import SessionRow
from sessions.snapshots import reading_at_once

STANDARD_OUTPUT = Path("-")

ENDINGS = {"json": ".json", "markdown": ".md"}

# What a terminal obeys or what turns a line around, and JSON need not escape.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def export(options: Options, row: SessionRow, path: Path, *, format: str, tape: bool, overwrite: bool) -> Path:
    """Write the session ``row`` to ``path``; where it was written.

    Raises:
        ExportRefused: the file exists, or it cannot be written; nothing was changed.
        StoreUnavailable, StoreDamaged, StoreTooNew: the session cannot be read.
    """
    target = _target(path, row.id, format)
    if target != STANDARD_OUTPUT and not overwrite:
        _refuse_existing(target)
    path = tapes.tape_path(options.home, row.id)
    with MemoryStore(path, read_only=True, now=options.now) as store, reading_at_once(store):
        text = markdown_of(store, row) if format == "markdown" else json_text(document_of(store, row, tape=tape))
    _write(target, text, overwrite=overwrite)
    return target


def json_text(document: dict[str, Any]) -> str:
    """``document`` with each event, bullet and chunk on a line of its own, so that exports can be compared."""
    text = "".join(_laid_out(document, depth=0)) + "\n"
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _laid_out(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict) and depth < 2 and any(isinstance(part, list) for part in value.values()):
        between = "{\n"
        for key, part in value.items():
            yield f"{between}{json.dumps(key)}: "
            yield from _laid_out(part, depth + 1)
            between = ",\n"
        yield "\n}"
    elif isinstance(value, list) and value:
        between = "[\n"
        for part in value:
            yield between + _on_one_line(part)
            between = ",\n"
        yield "\n]"
    else:
        yield _on_one_line(value)


def _on_one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _target(path: Path, id: str, format: str) -> Path:
    if path == STANDARD_OUTPUT:
        return path
    return path / f"{id}{ENDINGS[format]}" if path.is_dir() else path


def _refuse_existing(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise ExportRefused(
            f"{target} exists already, so nothing was written. Choose another name, or ask to overwrite."
        )


def _write(target: Path, text: str, *, overwrite: bool) -> None:
    try:
        if target == STANDARD_OUTPUT:
            _print(text)
        else:
            write_whole(target, text.encode(), replace=overwrite)
    except FileExistsError:
        _refuse_existing(target)
        raise
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportRefused(f"{target} cannot be written: {reason(error)}. Nothing there was changed.") from error


def _print(text: str) -> None:
    """Exact bytes for a pipe or a file; for a terminal nothing that it would obey."""
    if sys.stdout.isatty():
        text = displayable(text)
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
