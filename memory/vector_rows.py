"""Vectors as rows: little-endian float32, one for each chunk and stamp."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memory.json_text import dump

STAMP_KEY = "embedding_stamp"
"""The meta key that holds the current stamp."""

FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A chunk without a vector, and where its words stand."""

    row: int
    hash: str
    seq: int
    start: int
    end: int


def count(db: sqlite3.Connection, stamp: str) -> tuple[int, int]:
    """Chunks, and chunks without a vector of this stamp."""
    chunks, waiting = db.execute(
        "SELECT count(*), count(*) - count(vectors.hash) FROM chunks"
        " LEFT JOIN vectors ON vectors.stamp = ? AND vectors.hash = chunks.hash",
        (stamp,),
    ).fetchone()
    return int(chunks), int(waiting)


def without_vector(db: sqlite3.Connection, stamp: str, after: int, limit: int) -> list[Unembedded]:
    """The first chunks whose row comes after ``after`` and that have no vector of this stamp."""
    rows = db.execute(
        "SELECT chunks.rowid, chunks.hash, chunks.seq, chunks.start, chunks.end FROM chunks"
        " LEFT JOIN vectors ON vectors.stamp = ? AND vectors.hash = chunks.hash"
        " WHERE vectors.hash IS NULL AND chunks.rowid > ? ORDER BY chunks.rowid LIMIT ?",
        (stamp, after, limit),
    )
    return [Unembedded(*row) for row in rows]


def select(db: sqlite3.Connection, stamp: str, hashes: Sequence[str]) -> list[tuple[str, bytes]]:
    rows = db.execute(
        "SELECT hash, vector FROM vectors WHERE stamp = ? AND hash IN (SELECT value FROM json_each(?))",
        (stamp, dump(list(hashes))),
    )
    return [(str(row[0]), bytes(row[1])) for row in rows]


def size_of(db: sqlite3.Connection, stamp: str) -> int | None:
    """Numbers in this stamp's vectors; None when it has none."""
    row = db.execute("SELECT length(vector) FROM vectors WHERE stamp = ? LIMIT 1", (stamp,)).fetchone()
    return None if row is None else int(row[0]) // FLOAT_BYTES


def insert(db: sqlite3.Connection, stamp: str, vectors: Iterable[tuple[str, bytes]]) -> int:
    """Write vectors; a chunk that is gone meanwhile, or has one already, gets none. How many were written."""
    return sum(
        db.execute(
            "INSERT OR IGNORE INTO vectors (hash, stamp, vector) SELECT hash, ?, ? FROM chunks WHERE hash = ?",
            (stamp, vector, hash),
        ).rowcount
        for hash, vector in vectors
    )


def claim(db: sqlite3.Connection, stamp: str) -> bool:
    """Make ``stamp`` current if none is; whether it is current."""
    db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", (STAMP_KEY, stamp))
    return bool(db.execute("SELECT value = ? FROM meta WHERE key = ?", (stamp, STAMP_KEY)).fetchone()[0])


def make_current(db: sqlite3.Connection, stamp: str) -> None:
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (STAMP_KEY, stamp)
    )


def remove_other_stamps(db: sqlite3.Connection, stamps: Collection[str]) -> None:
    db.execute("DELETE FROM vectors WHERE stamp NOT IN (SELECT value FROM json_each(?))", (dump(sorted(stamps)),))


def remove_other_sizes(db: sqlite3.Connection, stamp: str, size: int) -> None:
    """Remove what a server of the same name but another model left under this stamp."""
    db.execute("DELETE FROM vectors WHERE stamp = ? AND length(vector) != ?", (stamp, size * FLOAT_BYTES))
