"""Writing to standard output and standard error so that nothing in the text can command a terminal or crash Otto."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from sessions.display import displayable


def prepare_streams() -> None:
    """Show what the terminal's encoding lacks as ``\\u2026`` instead of failing at it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """A line on standard output."""
    _write(sys.stdout, displayable(text) + "\n")


def say_aside(text: str) -> None:
    """A line on standard error: what a person should know and a pipe should not carry."""
    _write(sys.stderr, displayable(text) + "\n")


def ask_aside(text: str) -> None:
    """A question on standard error, whose answer goes on the same line."""
    _write(sys.stderr, displayable(text))


def say_notices(notices: Iterable[str]) -> None:
    """Each sentence once, on standard error."""
    for sentence in dict.fromkeys(notices):
        say_aside(f"Note: {sentence}")


def say_json(value: Any) -> None:
    """A JSON document on standard output. It is plain ASCII: every control character in it is escaped."""
    _write(sys.stdout, json.dumps(value, indent=2) + "\n")


def say_json_line(value: Any) -> None:
    """A JSON document on one line."""
    _write(sys.stdout, json.dumps(value) + "\n")


def is_terminal(stream: TextIO | None) -> bool:
    """False also for a stream that is closed or missing."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def drop_standard_output() -> None:
    """After a broken pipe: let what is still buffered go nowhere, so that the interpreter does not complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        # Not a real stream: there is nobody who could complain.
        return


def table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> list[str]:
    """Rows as text columns, two spaces apart, the last as long as it is. Cells must be on one line already."""
    from rich.cells import cell_len

    widths = [max(cell_len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def _write(stream: TextIO | None, text: str) -> None:
    """Write at once. A stream that was closed before Otto began takes nothing."""
    if stream is not None:
        stream.write(text)
        stream.flush()
