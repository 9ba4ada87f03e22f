"""Chunks as rows: where each piece of an event starts and ends, and its words in the keyword index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.chunking import split
from memory.ids import chunk_hash
from memory.json_text import dump
from memory.values import TIERED_KINDS, Chunk, Event
from memory.words import index_words

_COLUMNS = "hash, seq, start, end, tokens"

REMADE_KEY = "chunks_remade"
"""The meta key that counts how often all chunks were removed to be made anew."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before its event has a ``seq``."""

    hash: str
    start: int
    end: int
    tokens: int
    words: str


def prepare(event: Event) -> list[Piece]:
    """Cut an event. Notes and retractions are not units of search and have no chunks."""
    if event.kind not in TIERED_KINDS:
        return []
    return [
        Piece(
            hash=chunk_hash(event.thread, event.id, start, event.text[start:end]),
            start=start,
            end=end,
            tokens=tokens,
            words=index_words(event.text[start:end]),
        )
        for start, end, tokens in split(event.text)
    ]


def insert(db: sqlite3.Connection, seq: int, pieces: Sequence[Piece]) -> None:
    for piece in pieces:
        cursor = db.execute(
            f"INSERT INTO chunks ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
            (piece.hash, seq, piece.start, piece.end, piece.tokens),
        )
        db.execute("INSERT INTO chunks_fts (rowid, words) VALUES (?, ?)", (cursor.lastrowid, piece.words))


def remove_all(db: sqlite3.Connection) -> None:
    """Empty the chunks and the keyword index, so that they can be made anew; whoever holds chunks can tell."""
    db.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')")
    db.execute("DELETE FROM chunks")
    db.execute("INSERT INTO meta VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET value = value + 1", (REMADE_KEY,))


def remade(db: sqlite3.Connection) -> int:
    """How often all chunks were removed to be made anew."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (REMADE_KEY,)).fetchone()
    return 0 if row is None else int(row[0])


def of_events(db: sqlite3.Connection, seqs: Iterable[int]) -> dict[int, list[Chunk]]:
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM chunks WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq, start",
        (dump(sorted(set(seqs))),),
    )
    found: dict[int, list[Chunk]] = {}
    for row in rows:
        found.setdefault(row["seq"], []).append(Chunk(*row))
    return found


def find(db: sqlite3.Connection, hash: str) -> Chunk | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM chunks WHERE hash = ?", (hash,)).fetchone()
    return None if row is None else Chunk(*row)


def newest_match(db: sqlite3.Connection, match: str) -> Chunk | None:
    """The newest chunk that the keyword index finds for the FTS5 query ``match``."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM chunks WHERE rowid ="
        " (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rowid DESC LIMIT 1)",
        (match,),
    ).fetchone()
    return None if row is None else Chunk(*row)
