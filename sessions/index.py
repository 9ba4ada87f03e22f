"""``SessionIndex``: the sessions a person had, in ``sessions.db`` (seed 000, "Resuming a session").

Several processes may use it at once: each call is a connection and a transaction of its own. It can be lost without
loss: what it holds is rebuilt from the tapes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from memory.errors import StoreDamaged
from memory.text import storable
from sessions.index_file import reading, set_aside, writing
from sessions.rows import SessionRow, newest_first

_COLUMNS = ("id", "title", "workspace", "created", "updated", "turns", "parent")

_Result = TypeVar("_Result")


class SessionIndex:
    """The rows of ``home/sessions.db``. Nothing is created before the first write.

    Every method raises StoreUnavailable or StoreTooNew where the file cannot be used. A damaged file is given another
    name and a new one begun; ``take_notices`` then says so.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "sessions.db"
        self._notices: list[str] = []

    def take_notices(self) -> list[str]:
        """Sentences that a person should see, each once."""
        notices, self._notices = self._notices, []
        return notices

    def rows(self) -> list[SessionRow]:
        """Every session in the index, last used first."""
        return newest_first(self._read(_select))

    def row(self, id: str) -> SessionRow | None:
        """The session with exactly this id."""
        return next(iter(self._read(lambda db: _select(db, id))), None)

    def record(self, *rows: SessionRow) -> None:
        """Write what a finished turn changed. A title that is there already stays: the person may have chosen it."""
        self._write(lambda db: _put(db, rows, keep_titles=True))

    def put(self, *rows: SessionRow) -> None:
        """Write these rows whole."""
        self._write(lambda db: _put(db, rows, keep_titles=False))

    def rename(self, id: str, title: str) -> bool:
        """Give a session a title; False when the index has no such session."""
        return self._write(
            lambda db: db.execute("UPDATE sessions SET title = ? WHERE id = ?", (storable(title), id)).rowcount > 0
        )

    def remove(self, id: str) -> None:
        """Forget a session. Its tape is not touched."""
        self._write(lambda db: db.execute("DELETE FROM sessions WHERE id = ?", (id,)))

    def _read(self, question: Callable[[sqlite3.Connection], list[SessionRow]]) -> list[SessionRow]:
        try:
            with reading(self.path) as db:
                return [] if db is None else question(db)
        except StoreDamaged as damage:
            self._begin_anew(damage)
            return []

    def _write(self, change: Callable[[sqlite3.Connection], _Result]) -> _Result:
        try:
            with writing(self.path) as db:
                return change(db)
        except StoreDamaged as damage:
            self._begin_anew(damage)
            with writing(self.path) as db:
                return change(db)

    def _begin_anew(self, damage: StoreDamaged) -> None:
        aside = set_aside(self.path)
        if aside is not None:
            self._notices.append(
                f"The list of sessions was damaged. It is kept as {aside.name}, and a new one was made from the"
                " sessions themselves; titles and times are as the sessions say."
            )


def _select(db: sqlite3.Connection, id: str | None = None) -> list[SessionRow]:
    there = {row["name"] for row in db.execute("PRAGMA table_info(sessions)")}
    if not there:
        # Another process has made the file and is about to make the table.
        return []
    columns = ", ".join(name if name in there else f"NULL AS {name}" for name in _COLUMNS)
    rows = db.execute(f"SELECT {columns} FROM sessions WHERE ?1 IS NULL OR id = ?1", (id,))
    return [_row(row) for row in rows if row["id"] is not None]


def _row(row: sqlite3.Row) -> SessionRow:
    return SessionRow(
        id=_text(row["id"]),
        title=_text(row["title"]),
        workspace=_text(row["workspace"]),
        created=_text(row["created"]),
        updated=_text(row["updated"]),
        turns=row["turns"] if isinstance(row["turns"], int) else 0,
        parent=None if row["parent"] is None else _text(row["parent"]),
    )


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _put(db: sqlite3.Connection, rows: Sequence[SessionRow], *, keep_titles: bool) -> None:
    title = "coalesce(nullif(sessions.title, ''), excluded.title)" if keep_titles else "excluded.title"
    db.executemany(
        f"INSERT INTO sessions ({', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        f" ON CONFLICT (id) DO UPDATE SET title = {title}, workspace = excluded.workspace,"
        " created = excluded.created, updated = excluded.updated, turns = excluded.turns, parent = excluded.parent",
        [
            (
                row.id,
                storable(row.title),
                storable(row.workspace),
                row.created,
                row.updated,
                row.turns,
                row.parent,
            )
            for row in rows
        ],
    )
