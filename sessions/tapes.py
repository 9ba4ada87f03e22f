"""The tapes of a home: where they are, and what a tape says of its own session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory.store import MemoryStore
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
    first = store.events(kinds=["message"], limit=1)
    if not first:
        return None
    last = store.events(kinds=["message"], limit=1, newest_first=True)
    created = store.get_meta(CREATED) or first[0].t_event
    row = SessionRow(
        id=id,
        title=store.get_meta(TITLE) or title_of(first[0].text),
        workspace=store.get_meta(WORKSPACE) or "",
        created=created,
        updated=max(created, last[0].t_event, key=moment),
        turns=store.counts().turns,
        parent=store.get_meta(PARENT),
    )
    return TapeSummary(row, answered=last[0].role == "assistant" or row.turns > 1)


def summary_at(home: Path, id: str, now: Callable[[], datetime]) -> TapeSummary | None:
    """As ``summary_of``, for a tape that is not open.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable.
    """
    path = tape_path(home, id)
    if path.stat().st_size == 0:
        # Killed between making the file and the first word.
        return None
    with MemoryStore(path, read_only=True, now=now) as store:
        return summary_of(store, id)
