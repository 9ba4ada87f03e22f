"""``pending``: the mirror of which events stand raw in X and Y, so that a killed process resumes exactly."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from memory import event_rows, json_text
from memory.json_text import dump
from memory.values import Item, Span


def add(db: sqlite3.Connection, kind: str, item: Item) -> None:
    db.execute(
        "INSERT INTO pending (kind, seq, tier, turn, tokens, spans) VALUES (?, ?, ?, ?, ?, ?)",
        (kind, item.event.seq, item.tier, item.turn, item.tokens, dump_spans(item.spans)),
    )


def demote(db: sqlite3.Connection, kind: str, seqs: Iterable[int]) -> None:
    db.execute(
        "UPDATE pending SET tier = 'y' WHERE kind = ? AND seq IN (SELECT value FROM json_each(?))",
        (kind, dump(list(seqs))),
    )


def clear(db: sqlite3.Connection, kind: str, through: int) -> None:
    db.execute("DELETE FROM pending WHERE kind = ? AND tier = 'y' AND seq <= ?", (kind, through))


def load(db: sqlite3.Connection, kind: str) -> list[Item]:
    rows = db.execute(
        "SELECT seq, tier, turn, tokens, spans FROM pending WHERE kind = ? ORDER BY seq", (kind,)
    ).fetchall()
    events = {event.seq: event for event in event_rows.by_seq(db, (row["seq"] for row in rows))}
    return [Item(events[row["seq"]], row["tier"], row["turn"], row["tokens"], load_spans(row["spans"])) for row in rows]


def dump_spans(spans: tuple[Span, ...] | None) -> str | None:
    return None if spans is None else dump([list(span) for span in spans])


def load_spans(text: str | None) -> tuple[Span, ...] | None:
    return None if text is None else tuple((start, end) for start, end in json_text.load(text))
