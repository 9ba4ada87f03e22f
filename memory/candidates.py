"""What recall may return: chunks that have left the raw view, in the order in which they were said.

Tool output is searched by itself and never among what people said (seed 000, "The context tier").
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field

from memory.json_text import dump
from memory.pending_rows import load_spans
from memory.store import MemoryStore
from memory.tool_events import RECALL_TOOLS
from memory.values import Span

_Standing = dict[int, tuple[Span, ...] | None]
"""What the view shows of events that stand raw in it: all (None) or these pieces."""


@dataclass(frozen=True)
class Candidates:
    """Chunks by place, as columns: there may be many, and few are returned. Neighbours stand at the next places."""

    rows: tuple[int, ...] = field(repr=False)
    """The row of each chunk in its table and in the keyword index."""
    hashes: tuple[str, ...] = field(repr=False)
    seqs: tuple[int, ...] = field(repr=False)
    """The event of each chunk."""
    tokens: tuple[int, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)


def behind_bullets(store: MemoryStore, kind: str, left_out: Collection[int] = ()) -> Candidates:
    """Every chunk behind a live bullet, and what only an excerpt or nothing at all stands for in the view; no tool's.

    Args:
        left_out: ``seq`` of raw events that the view has no room for right now (``View.left_out``).
    """
    with store.reading() as db:
        standing = {seq: spans for seq, spans in _standing(db, kind).items() if seq not in left_out}
        return _select(
            db,
            "chunks.seq IN (SELECT seq FROM bullet_refs WHERE kind = ?1"
            " UNION SELECT seq FROM pending WHERE kind = ?1 AND spans IS NOT NULL"
            " UNION SELECT value FROM json_each(?2))"
            " AND NOT EXISTS (SELECT 1 FROM events WHERE events.seq = chunks.seq AND events.kind = 'tool')",
            (kind, dump(sorted(set(left_out)))),
            standing,
        )


def of_event_kind(
    store: MemoryStore, event_kind: str, exclude: Collection[int] = (), left_out: Collection[int] = ()
) -> Candidates:
    """Every chunk of events of this kind that do not stand raw in any view, but for what was recalled from memory.

    Args:
        exclude: ``seq`` of events that stand word for word elsewhere, such as in a running turn.
        left_out: ``seq`` of events that do not, whatever the tiers say.
    """
    with store.reading() as db:
        standing = {seq: spans for seq, spans in _standing(db, None).items() if seq not in left_out}
        standing |= dict.fromkeys(exclude)
        return _select(
            db,
            "chunks.seq IN (SELECT seq FROM events WHERE kind = ?1"
            " AND NOT (kind = 'tool' AND source IN (SELECT value FROM json_each(?2))))",
            (event_kind, dump(RECALL_TOOLS)),
            standing,
        )


def _standing(db: sqlite3.Connection, kind: str | None) -> _Standing:
    rows = db.execute("SELECT seq, spans FROM pending WHERE ?1 IS NULL OR kind = ?1", (kind,))
    return {seq: load_spans(spans) for seq, spans in rows}


def _select(db: sqlite3.Connection, where: str, values: tuple[str, ...], standing: _Standing) -> Candidates:
    cursor = db.cursor()
    cursor.row_factory = None
    cursor.execute(
        f"SELECT chunks.rowid, chunks.hash, chunks.seq, chunks.tokens, chunks.start, chunks.end FROM chunks"
        f" WHERE {where} ORDER BY chunks.seq, chunks.start",
        values,
    )
    rows = [row for row in cursor if row[2] not in standing or not _is_shown(standing[row[2]], row[4], row[5])]
    columns = tuple(zip(*rows, strict=True)) or ((),) * 6
    return Candidates(*columns[:4])


def _is_shown(spans: tuple[Span, ...] | None, start: int, end: int) -> bool:
    return spans is None or any(begin <= start and end <= stop for begin, stop in spans)
