"""``MemoryStore``: one session's tape file, and the tables that are derived from it.

Thread-safe (``memory/connections.py``). Every write is a transaction. The engine of seed 000, "Storage", on the tape of
seed 004.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from memory import bullet_rows, chunk_rows, event_rows, pending_rows
from memory.column_cache import ColumnCache
from memory.connections import Connections
from memory.errors import EventConflict, UnknownId
from memory.json_text import dump, load
from memory.text import storable
from memory.tier_ledger import COMPACTED, IMPORTED, CompactionMark
from memory.values import CONVERSATION as CONVERSATION
from memory.values import MAIN_THREAD, Bullet, Chunk, Event, Item, NewEvent, Voices


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a store holds. ``turns`` counts what the person said."""

    events: int
    turns: int
    chunks: int


@dataclass(frozen=True, slots=True)
class PreparedEvent:
    """An event that is ready to be written, with its chunks."""

    event: Event
    pieces: tuple[chunk_rows.Piece, ...]


@dataclass(frozen=True, slots=True)
class ReplyUsage:
    """Sums over all replies of a store."""

    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """US dollars; None when the cost of any reply is not known."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply that was streaming when it was last saved."""

    id: str
    thread: str
    source: str
    t_event: str
    text: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One append-only record of what the memory did."""

    n: int
    kind: str
    entry: str
    t: str
    data: Mapping[str, Any]


class MemoryStore:
    """A tape file, opened. Close it, or use it as a context manager.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable: on opening.
        StoreReadOnly: on any write when ``read_only``.
    """

    def __init__(self, path: Path | str, *, read_only: bool = False, now: Callable[[], datetime] = utc_now) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self.now = now
        self._connections = Connections(self.path, read_only=read_only)
        self.columns = ColumnCache()
        """What recall has read of this store."""

    def close(self) -> None:
        """Close every connection, as soon as what is being read and written has been. Safe to call twice."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- connections -------------------------------------------------------------------------------------------

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """The writer connection inside one transaction.

        A use inside another joins it: if it fails, what it wrote is undone alone; if the outermost one does, with it.

        Raises:
            StoreReadOnly, StoreUnavailable: nothing of the outermost one was written.
        """
        return self._connections.transaction()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection to read from, which must not be used afterwards. It never waits for the writer.

        It is this thread's own and sees what is committed; inside a transaction of this thread it is the writer's, and
        sees what that has written.

        Raises:
            StoreUnavailable, StoreDamaged: the file cannot be read, or the store has been closed.
        """
        return self._connections.reading()

    def reader(self) -> sqlite3.Connection:
        """This thread's own read connection, where it is known that nobody closes the store meanwhile."""
        return self._connections.reader()

    # -- the tape ----------------------------------------------------------------------------------------------

    def append(self, new: NewEvent) -> Event:
        """Write ``new`` and its chunks; the event once it is on disk.

        An event with the same thread and id is returned as it stands (a resend adds nothing).

        Raises:
            EventConflict: that event says something else.
            ValueError: its role, kind or time makes no sense.
        """
        return self.write(self.prepare(new))[0]

    def prepare(self, new: NewEvent) -> PreparedEvent:
        """``new`` cut into chunks: the slow part of ``append``, for which no other writer has to wait.

        Raises:
            ValueError: its role, kind or time makes no sense.
        """
        event = event_rows.complete(new, self.now())
        is_resent = new.id is not None and self.event_by_id(event.id, event.thread) is not None
        return PreparedEvent(event, () if is_resent else tuple(chunk_rows.prepare(event)))

    def write(self, prepared: PreparedEvent) -> tuple[Event, bool]:
        """The event once it is on disk, and whether it is new.

        Raises:
            EventConflict: another with its thread and id says something else.
        """
        event = prepared.event
        with self.transaction() as db:
            existing = event_rows.find(db, event.thread, event.id)
            if existing is not None:
                if not event_rows.same(existing, event):
                    raise EventConflict(
                        f"The tape already has an event {event.id!r} that says something else; it was kept."
                    )
                return existing, False
            written = event_rows.insert(db, event)
            chunk_rows.insert(db, written.seq, prepared.pieces)
        return written, True

    def event(self, seq: int) -> Event:
        """The event with this ``seq``.

        Raises:
            UnknownId: there is none.
        """
        with self.reading() as db:
            found = event_rows.by_seq(db, [seq])
        if not found:
            raise UnknownId(f"This session has no event number {seq}.")
        return found[0]

    def event_by_id(self, id: str, thread: str = MAIN_THREAD) -> Event | None:
        with self.reading() as db:
            return event_rows.find(db, thread, id)

    def events(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        kinds: Iterable[str] | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Event]:
        """Events with ``after < seq < before``, of these kinds."""
        with self.reading() as db:
            return event_rows.select(
                db, after=after, before=before, kinds=kinds, limit=limit, newest_first=newest_first
            )

    def open_turn(self, thread: str, seq: int) -> int:
        """The ``seq`` of the event that opened the turn to which event ``seq`` belongs."""
        with self.reading() as db:
            return event_rows.open_turn(db, thread, seq)

    def events_at(self, seqs: Iterable[int]) -> list[Event]:
        """The events with these numbers, in order; unknown numbers are left out."""
        with self.reading() as db:
            return event_rows.by_seq(db, seqs)

    def numbers_of(self, ids: Iterable[str], thread: str = MAIN_THREAD) -> dict[str, int]:
        """The ``seq`` of each of these events of a thread that stands in tiers; unknown ids are left out."""
        with self.reading() as db:
            return event_rows.numbers(db, thread, ids)

    def counts(self) -> Counts:
        with self.reading() as db:
            events = db.execute("SELECT count(*) FROM events").fetchone()[0]
            turns = db.execute("SELECT count(*) FROM events WHERE role = 'user' AND kind = 'message'").fetchone()[0]
            chunks = db.execute("SELECT count(*) FROM chunks").fetchone()[0]
        return Counts(events, turns, chunks)

    def usage(self) -> ReplyUsage:
        """Tokens and cost over all replies, from ``meta`` (``usage``, ``cost``)."""
        with self.reading() as db:
            row = db.execute(
                "SELECT coalesce(sum(json_extract(meta, '$.usage.prompt_tokens')), 0),"
                " coalesce(sum(json_extract(meta, '$.usage.completion_tokens')), 0),"
                " coalesce(sum(json_extract(meta, '$.cost')), 0.0),"
                " count(*) FILTER (WHERE json_extract(meta, '$.cost') IS NULL)"
                " FROM events WHERE role = 'assistant' AND kind = 'message'"
            ).fetchone()
        return ReplyUsage(row[0], row[1], None if row[3] else float(row[2]))

    # -- replies that are still coming -----------------------------------------------------------------------

    def save_draft(self, id: str, source: str, text: str, thread: str = MAIN_THREAD) -> None:
        """Keep what has come of a reply so far, so that a kill loses at most what came since."""
        with self.transaction() as db:
            db.execute(
                "INSERT INTO drafts (id, thread, source, t_event, text) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET text = excluded.text",
                (id, thread, source, self.now().isoformat(), storable(text)),
            )

    def drop_draft(self, id: str) -> None:
        with self.transaction() as db:
            db.execute("DELETE FROM drafts WHERE id = ?", (id,))

    def drafts(self) -> list[Draft]:
        with self.reading() as db:
            rows = db.execute("SELECT id, thread, source, t_event, text FROM drafts ORDER BY t_event, id")
            return [Draft(*row) for row in rows]

    # -- small facts -------------------------------------------------------------------------------------------

    def get_meta(self, key: str) -> str | None:
        with self.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str | None) -> None:
        """Set a fact; None removes it."""
        with self.transaction() as db:
            if value is None:
                db.execute("DELETE FROM meta WHERE key = ?", (key,))
            else:
                db.execute(
                    "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    (key, storable(value)),
                )

    # -- the live tiers ----------------------------------------------------------------------------------------

    def add_pending(self, kind: str, item: Item) -> None:
        """Mirror that an event stands raw in a tier."""
        with self.transaction() as db:
            pending_rows.add(db, kind, item)

    def demote_pending(self, kind: str, seqs: Iterable[int]) -> None:
        """Mirror that events moved from X to Y."""
        with self.transaction() as db:
            pending_rows.demote(db, kind, seqs)

    def clear_pending(self, kind: str, through: int) -> None:
        """Mirror that Y's raw events up to and including seq ``through`` have been compacted."""
        with self.transaction() as db:
            pending_rows.clear(db, kind, through)

    def pending(self, kind: str) -> list[Item]:
        """Events that stand raw, oldest first."""
        with self.reading() as db:
            return pending_rows.load(db, kind)

    # -- bullets -----------------------------------------------------------------------------------------------

    def bullets(self, kind: str) -> list[Bullet]:
        """The live bullets, in the order of the oldest event behind each."""
        with self.reading() as db:
            return bullet_rows.load(db, kind)

    def voices(self, kind: str) -> dict[str, Voices]:
        """By live bullet: who said what stands behind it, and when the newest of it was said."""
        with self.reading() as db:
            return bullet_rows.voices(db, kind)

    def replace_bullets(self, kind: str, removed: Iterable[str], added: Sequence[Bullet]) -> None:
        with self.transaction() as db:
            bullet_rows.replace(db, kind, removed, added)

    def generation(self, kind: str) -> int:
        """How many compactions this queue has seen."""
        with self.reading() as db:
            row = db.execute(
                "SELECT data FROM ledger WHERE kind = ? AND entry IN ('compacted', 'imported') ORDER BY n DESC LIMIT 1",
                (kind,),
            ).fetchone()
        return 0 if row is None else int(load(row[0])["generation"])

    # -- the ledger --------------------------------------------------------------------------------------------

    def record(self, kind: str, entry: str, data: Mapping[str, Any]) -> int:
        """Append to the ledger, with the ``seq`` of the newest event as ``at``; the number of the entry."""
        with self.transaction() as db:
            at = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            cursor = db.execute(
                "INSERT INTO ledger (kind, entry, t, data) VALUES (?, ?, ?, ?)",
                (kind, entry, self.now().isoformat(), storable(dump({**data, "at": at}))),
            )
        return int(cursor.lastrowid or 0)

    def ledger(self, kind: str | None = None, entry: str | Sequence[str] | None = None) -> list[LedgerEntry]:
        """Entries in order, of one kind or of all, with one name, one of several or any."""
        names = None if entry is None else dump([entry] if isinstance(entry, str) else list(entry))
        with self.reading() as db:
            rows = db.execute(
                "SELECT n, kind, entry, t, data FROM ledger WHERE (?1 IS NULL OR kind = ?1)"
                " AND (?2 IS NULL OR entry IN (SELECT value FROM json_each(?2))) ORDER BY n",
                (kind, names),
            ).fetchall()
        return [LedgerEntry(n, kind_, entry_, t, load(data)) for n, kind_, entry_, t, data in rows]

    def compaction_marks(self, kind: str) -> list[CompactionMark]:
        """When and how this queue was compacted, in order; what it imported as compacted counts as well."""
        with self.reading() as db:
            rows = db.execute(
                "SELECT coalesce(json_extract(data, '$.seen'), n),"
                " coalesce(json_extract(data, '$.through'), json_extract(data, '$.compacted_through')),"
                " coalesce(json_extract(data, '$.mode'), 'summarize'),"
                " coalesce(json_extract(data, '$.full_fold'), 0)"
                " FROM ledger WHERE kind = ? AND entry IN (?, ?) ORDER BY n",
                (kind, COMPACTED, IMPORTED),
            ).fetchall()
        marks: list[CompactionMark] = []
        through = 0
        for seen, reached, mode, full_fold in rows:
            through = max(through, reached)
            marks.append(CompactionMark(seen, through, mode, bool(full_fold)))
        return marks

    # -- chunks ------------------------------------------------------------------------------------------------

    def chunks_of(self, seqs: Iterable[int]) -> dict[int, list[Chunk]]:
        """The chunks of each of these events, in order."""
        with self.reading() as db:
            return chunk_rows.of_events(db, seqs)

    def chunk(self, hash: str) -> Chunk | None:
        with self.reading() as db:
            return chunk_rows.find(db, hash)

    def chunk_text(self, chunk: Chunk) -> str:
        """The chunk's exact words."""
        return self.event(chunk.seq).text[chunk.start : chunk.end]
