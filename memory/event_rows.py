"""Events as rows of the tape."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime

from memory.ids import new_event_id
from memory.json_text import dump, load
from memory.text import storable
from memory.values import EVENT_KINDS, ROLES, TIERED_KINDS, Event, NewEvent

_COLUMNS = "seq, id, thread, source, role, kind, t_event, t_ingest, text, refs, meta"


def complete(new: NewEvent, now: datetime) -> Event:
    """``new`` with everything the tape fills in, but for its ``seq`` (0 until it is written).

    Raises:
        ValueError: ``t_event`` is not an ISO 8601 time, or there is no such role or kind.
    """
    if new.role not in ROLES or new.kind not in EVENT_KINDS:
        raise ValueError(f"no event has the role {new.role!r} and the kind {new.kind!r}")
    return Event(
        seq=0,
        id=storable(new.id) if new.id is not None else new_event_id(),
        thread=storable(new.thread),
        source=storable(new.source),
        role=storable(new.role),
        kind=storable(new.kind),
        t_event=_with_offset(new.t_event) if new.t_event is not None else now.isoformat(),
        t_ingest=now.astimezone(UTC).isoformat(),
        text=storable(new.text),
        refs=tuple(storable(ref) for ref in new.refs),
        meta=load(storable(dump(dict(new.meta)))),
    )


def _with_offset(time: str) -> str:
    parsed = datetime.fromisoformat(time)
    return time if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC).isoformat()


def same(a: Event, b: Event) -> bool:
    """Whether both say the same thing; times and extras may differ between two sendings."""
    return (a.text, a.role, a.kind, a.source) == (b.text, b.role, b.kind, b.source)


def insert(db: sqlite3.Connection, event: Event) -> Event:
    """Write ``event`` under the next ``seq``, or under its own when it has one."""
    values = (
        event.seq or None,
        event.id,
        event.thread,
        event.source,
        event.role,
        event.kind,
        event.t_event,
        event.t_ingest,
        event.text,
        dump(list(event.refs)),
        dump(dict(event.meta)),
    )
    cursor = db.execute(f"INSERT INTO events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    return Event(
        seq=int(cursor.lastrowid or 0),
        id=event.id,
        thread=event.thread,
        source=event.source,
        role=event.role,
        kind=event.kind,
        t_event=event.t_event,
        t_ingest=event.t_ingest,
        text=event.text,
        refs=event.refs,
        meta=event.meta,
    )


def find(db: sqlite3.Connection, thread: str, id: str) -> Event | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM events WHERE thread = ? AND id = ?", (thread, id)).fetchone()
    return None if row is None else _event(row)


def numbers(db: sqlite3.Connection, thread: str, ids: Iterable[str]) -> dict[str, int]:
    """The ``seq`` of each of these events that stands in tiers; what is not there is left out."""
    rows = db.execute(
        "SELECT id, seq FROM events WHERE thread = ?1 AND id IN (SELECT value FROM json_each(?2))"
        " AND kind IN (SELECT value FROM json_each(?3))",
        (thread, dump(sorted(set(ids))), dump(sorted(TIERED_KINDS))),
    )
    return {row[0]: row[1] for row in rows}


def open_turn(db: sqlite3.Connection, thread: str, seq: int) -> int:
    """The ``seq`` that opened the turn which goes on at event ``seq``: the last thing said, else the first event."""
    row = db.execute(
        "SELECT coalesce(max(seq) FILTER (WHERE role = 'user' AND kind = 'message'), min(seq)) FROM events"
        " WHERE thread = ?1 AND seq <= ?2 AND kind IN (SELECT value FROM json_each(?3))",
        (thread, seq, dump(sorted(TIERED_KINDS))),
    ).fetchone()
    return int(row[0])


def by_seq(db: sqlite3.Connection, seqs: Iterable[int]) -> list[Event]:
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM events WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (dump(sorted(set(seqs))),),
    )
    return [_event(row) for row in rows]


def select(
    db: sqlite3.Connection,
    *,
    after: int,
    before: int | None,
    kinds: Iterable[str] | None,
    limit: int | None,
    newest_first: bool,
) -> list[Event]:
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM events WHERE seq > ?1 AND (?2 IS NULL OR seq < ?2)"
        " AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3)))"
        f" ORDER BY seq {'DESC' if newest_first else 'ASC'} LIMIT ?4",
        (after, before, None if kinds is None else dump(sorted(kinds)), -1 if limit is None else limit),
    )
    return [_event(row) for row in rows]


def _event(row: sqlite3.Row) -> Event:
    return Event(
        seq=row["seq"],
        id=row["id"],
        thread=row["thread"],
        source=row["source"],
        role=row["role"],
        kind=row["kind"],
        t_event=row["t_event"],
        t_ingest=row["t_ingest"],
        text=row["text"],
        refs=tuple(load(row["refs"])),
        meta=load(row["meta"]),
    )
