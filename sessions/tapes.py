"""The tapes of a home: where they are, and what a tape says of its own session."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memory import event_rows
from memory.database import connect_to_look, readable_errors
from memory.store import MemoryStore
from memory.values import Event
from sessions.errors import UnknownSession
from sessions.ids import is_session_id, title_of
from sessions.rows import SessionRow, moment

TITLE = "title"
WORKSPACE = "workspace"
CREATED = "created"
PARENT = "parent"
"""Facts that a tape holds of its session (``MemoryStore.get_meta``), so that the index can be rebuilt from it."""

SUFFIX = ".db"


@dataclass(frozen=True, slots=True)
class TapeSummary:
    """What a tape says of its session."""

    row: SessionRow
    answered: bool
    """Whether a turn has ended; the index holds only sessions in which one has."""


def folder(home: Path) -> Path:
    """The folder that holds every tape."""
    return home / "memory"


def tape_path(home: Path, id: str) -> Path:
    """The file of the session with this id, which need not exist.

    Raises:
        UnknownSession: no session can have such an id.
    """
    if not is_session_id(id):
        raise UnknownSession("That is not a session's id. Type otto sessions to see what there is.")
    return folder(home) / f"{id}{SUFFIX}"


def tape_ids(home: Path) -> set[str]:
    """The ids of all tapes; one look into one folder."""
    try:
        names = [entry.name for entry in folder(home).iterdir()]
    except OSError:
        # No folder, or none that can be read: no tapes from here.
        return set()
    stems = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
    return {stem for stem in stems if is_session_id(stem)}


def write_facts(store: MemoryStore, row: SessionRow) -> None:
    """Let the tape know what the index says of its session."""
    with store.transaction():
        store.set_meta(TITLE, row.title)
        store.set_meta(WORKSPACE, row.workspace)
        store.set_meta(CREATED, row.created or None)
        store.set_meta(PARENT, row.parent)


def summary_of(store: MemoryStore, id: str) -> TapeSummary | None:
    """What the tape says of its session; None while nothing has been said.

    ``created`` and ``updated`` are when the first and the last message were said, a fork's not before it was made.
    """
    with store.reading() as db:
        return _summary(db, id)


def summary_at(home: Path, id: str) -> TapeSummary | None:
    """As ``summary_of``, for a tape that is not open.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable.
    """
    path = tape_path(home, id)
    if path.stat().st_size == 0:
        # Killed between making the file and the first word.
        return None
    with readable_errors(path), closing(connect_to_look(path)) as db:
        return _summary(db, id)


def _summary(db: sqlite3.Connection, id: str) -> TapeSummary | None:
    first = _message(db, newest_first=False)
    last = _message(db, newest_first=True)
    if first is None or last is None:
        return None
    facts = dict(db.execute("SELECT key, value FROM meta").fetchall())
    turns = db.execute("SELECT count(*) FROM events WHERE role = 'user' AND kind = 'message'").fetchone()[0]
    created = facts.get(CREATED) or first.t_event
    row = SessionRow(
        id=id,
        title=facts.get(TITLE) or title_of(first.text),
        workspace=facts.get(WORKSPACE, ""),
        created=created,
        updated=max(created, last.t_event, key=moment),
        turns=turns,
        parent=facts.get(PARENT),
    )
    return TapeSummary(row, answered=last.role == "assistant" or turns > 1)


def _message(db: sqlite3.Connection, *, newest_first: bool) -> Event | None:
    found = event_rows.select(db, after=0, before=None, kinds=["message"], limit=1, newest_first=newest_first)
    return found[0] if found else None
