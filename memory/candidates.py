"""What recall may return: chunks that have left the raw view, in the order in which they were said."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

from memory.database import readable_errors
from memory.json_text import dump
from memory.pending_rows import load_spans
from memory.store import MemoryStore
from memory.values import Chunk, Span

_Standing = dict[int, tuple[Span, ...] | None]
"""What the view shows of events that stand raw in it: all (None) or these pieces."""

_COLUMNS = "chunks.rowid, chunks.hash, chunks.seq, chunks.start, chunks.end, chunks.tokens"


@dataclass(frozen=True)
class Candidates:
    """Chunks by place: the first is the oldest. Neighbours are those at the next places."""

    chunks: tuple[Chunk, ...]
    rows: tuple[int, ...] = field(repr=False)
    """The row of each chunk in the keyword index."""

    def __len__(self) -> int:
        return len(self.chunks)

    @cached_property
    def hashes(self) -> tuple[str, ...]:
        return tuple(chunk.hash for chunk in self.chunks)

    @cached_property
    def places(self) -> dict[int, int]:
        """From a row of the keyword index to the chunk's place."""
        return {row: place for place, row in enumerate(self.rows)}


def behind_bullets(store: MemoryStore, kind: str, left_out: Collection[int] = ()) -> Candidates:
    """Every chunk behind a live bullet, and what only an excerpt or nothing at all stands for in the view.

    Args:
        left_out: ``seq`` of raw events that the view has no room for right now (``View.left_out``).
    """
    with readable_errors(store.path):
        db = store.reader()
        standing = _pending(db, kind)
        rows = db.execute(
            f"SELECT {_COLUMNS} FROM chunks WHERE chunks.seq IN ("
            " SELECT seq FROM bullet_refs WHERE kind = ?1"
            " UNION SELECT seq FROM pending WHERE kind = ?1 AND (spans IS NOT NULL"
            "  OR seq IN (SELECT value FROM json_each(?2)))"
            ") ORDER BY chunks.seq, chunks.start",
            (kind, dump(sorted(set(left_out)))),
        )
        return _candidates(rows, {seq: spans for seq, spans in standing.items() if seq not in left_out})


def of_event_kind(store: MemoryStore, event_kind: str) -> Candidates:
    """Every chunk of events of this kind that do not stand raw in any view."""
    with readable_errors(store.path):
        db = store.reader()
        standing = _pending(db, None)
        rows = db.execute(
            f"SELECT {_COLUMNS} FROM chunks JOIN events ON events.seq = chunks.seq WHERE events.kind = ?"
            " ORDER BY chunks.seq, chunks.start",
            (event_kind,),
        )
        return _candidates(rows, standing)


def _pending(db: sqlite3.Connection, kind: str | None) -> _Standing:
    rows = db.execute("SELECT seq, spans FROM pending WHERE ?1 IS NULL OR kind = ?1", (kind,))
    return {seq: load_spans(spans) for seq, spans in rows}


def _candidates(rows: sqlite3.Cursor, standing: _Standing) -> Candidates:
    chunks: list[Chunk] = []
    places: list[int] = []
    for rowid, hash, seq, start, end, tokens in rows:
        if seq in standing and _is_shown(standing[seq], start, end):
            continue
        chunks.append(Chunk(hash, seq, start, end, tokens))
        places.append(rowid)
    return Candidates(tuple(chunks), tuple(places))


def _is_shown(spans: tuple[Span, ...] | None, start: int, end: int) -> bool:
    return spans is None or any(begin <= start and end <= stop for begin, stop in spans)
