"""Finding sessions: by their titles, and by what was said in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from memory import chunk_rows, event_rows
from memory.database import connect_to_look, readable_errors
from memory.errors import OttoError
from memory.words import match_query
from sessions import tapes
from sessions.display import one_line
from sessions.rows import SessionRow

SNIPPET_LENGTH = 80
"""Most characters of what was said that a hit shows."""

_LEAD = 24

Damaged = Callable[[str, OttoError], None]
"""Told the id of each session that could not be searched, and why."""


def in_titles(rows: Sequence[SessionRow], query: str) -> list[SessionRow]:
    """Rows whose title holds every word of ``query``, in their order. Case does not matter."""
    words = query.casefold().split()
    return [row for row in rows if all(word in row.title.casefold() for word in words)]


def in_what_was_said(home: Path, rows: Sequence[SessionRow], query: str, damaged: Damaged) -> list[SessionRow]:
    """Rows in which one passage that was said, printed or quoted has every word of ``query``, each with a snippet.

    Opens the tape of each row, one after the other. One that cannot be read is passed over and ``damaged`` is told.
    """
    match = _every_word(query)
    hits: list[SessionRow] = []
    for row in rows if match else ():
        try:
            snippet = _said_in(tapes.tape_path(home, row.id), match, query)
        except FileNotFoundError:
            # Deleted meanwhile by another process.
            continue
        except OttoError as error:
            damaged(row.id, error)
            continue
        if snippet is not None:
            hits.append(replace(row, snippet=snippet))
    return hits


def _every_word(query: str) -> str:
    # The engine's query asks for any of the words, each in quotation marks and in small letters.
    return match_query(query).replace(" OR ", " AND ")


def _said_in(path: Path, match: str, query: str) -> str | None:
    if path.stat().st_size == 0:
        return None
    with readable_errors(path), closing(connect_to_look(path)) as db:
        chunk = chunk_rows.newest_match(db, match)
        if chunk is None:
            return None
        (event,) = event_rows.by_seq(db, [chunk.seq])
    return snippet_of(event.text[chunk.start : chunk.end], query)


def snippet_of(text: str, query: str) -> str:
    """One line of ``text`` around the first word of ``query`` that stands in it."""
    words = [re.escape(word) for word in query.split()]
    found = re.search("|".join(words), text, re.IGNORECASE) if words else None
    at = found.start() if found else 0
    if at <= _LEAD:
        return one_line(text, SNIPPET_LENGTH)
    start = text.rfind(" ", 0, at - _LEAD) + 1
    return one_line("… " + text[max(start, at - 2 * _LEAD) :][: SNIPPET_LENGTH * 3], SNIPPET_LENGTH)
