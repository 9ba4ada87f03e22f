"""The vectors of a store: made in batches behind the conversation, kept under the stamp of the model that
made them.

One stamp is current (``meta``, ``embedding_stamp``): the one that recall may rank by. ``reembed`` makes the
vectors of another model beside it and changes over in one transaction, so that two spaces are never mixed,
whenever it stops.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memory import event_rows
from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.json_text import dump
from memory.store import MemoryStore
from memory.values import EmbeddingState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.embeddings import Vector

STAMP_KEY = "embedding_stamp"
"""The meta key that holds the current stamp."""

BATCH = 64
"""Texts embedded at a time, and vectors written in one transaction."""

_Waiting = tuple[int, str, str]
"""A chunk without a vector: its row, its hash and its words."""


def current_stamp(store: MemoryStore) -> str | None:
    """Return the stamp that recall may rank by; None before the first vector."""
    return store.get_meta(STAMP_KEY)


def embedding_state(store: MemoryStore) -> EmbeddingState:
    """Return the current stamp and how many chunks have, and have not, a vector of it."""
    stamp = current_stamp(store)
    chunks, waiting = _counts(store, stamp or "")
    return EmbeddingState(stamp, chunks - waiting, waiting)


def embed_waiting(
    store: MemoryStore,
    embedder: Embedder,
    batch: int = BATCH,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Give every chunk that has none a vector; return how many were made.

    Goes on where an earlier call stopped. The first vectors of a store set its current stamp.

    Args:
        stop: asked before each batch; True ends the work with what is done.

    Raises:
        EmbeddingUnavailable: the embedder failed (finished batches stay), or the store's vectors are of
        another model.
    """
    stamp = embedder.stamp
    made = after = 0
    while not stop():
        _refuse_other_stamp(store, stamp)
        waiting = _waiting(store, stamp, after, batch)
        if not waiting:
            break
        made += _write(store, stamp, waiting, embedder, claim=True)
        after = waiting[-1][0]
    return made


def reembed(
    store: MemoryStore,
    embedder: Embedder,
    progress: Callable[[int, int], None] | None = None,
    *,
    batch: int = BATCH,
    stop: Callable[[], bool] = lambda: False,
) -> EmbeddingState:
    """Move a store to ``embedder``'s space. Until that is complete, recall goes on in the old one.

    Interrupted at any point, by ``stop`` or by a kill, it goes on where it stopped when called again.

    Args:
        progress: told the number of vectors done and needed, after each batch.

    Raises:
        EmbeddingUnavailable: the embedder failed; what was made stays for the next call.
    """
    stamp = embedder.stamp
    while not stop():
        total, missing = _counts(store, stamp)
        if progress is not None:
            progress(total - missing, total)
        if missing:
            _write(store, stamp, _waiting(store, stamp, 0, batch), embedder, claim=False)
        elif _change_over(store, stamp):
            break
    return embedding_state(store)


class VectorCache:
    """The vectors of one store and stamp, read from disk once. Keep one beside each open store.

    What it holds never goes stale: a chunk's hash stands for its words, and a stamp for its model.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[object, str] | None = None
        self._place: dict[str, int] = {}
        self._rows: Vector | None = None

    def look_up(self, store: MemoryStore, stamp: str, hashes: Sequence[str]) -> tuple[Vector, NDArray[np.intp]]:
        """Return a matrix, and for each hash the row of its vector, or -1 where the chunk has none yet.

        Raises:
            EmbeddingUnavailable: vectors of this stamp differ in size, so that the file cannot be trusted.
        """
        import numpy as np

        with self._lock:
            if self._of != (store.path, stamp):
                self._of, self._place, self._rows = (store.path, stamp), {}, None
            missing = [hash for hash in hashes if hash not in self._place]
            if missing:
                self._read(store, stamp, missing)
            matrix = np.empty((0, 0), np.float32) if self._rows is None else self._rows
            place = self._place
            return matrix, np.fromiter((place.get(hash, -1) for hash in hashes), np.intp, len(hashes))

    def _read(self, store: MemoryStore, stamp: str, hashes: Sequence[str]) -> None:
        import numpy as np

        rows = _select(store.reader(), stamp, hashes)
        if not rows:
            return
        sizes = {len(blob) for _, blob in rows}
        if self._rows is not None:
            sizes.add(self._rows.shape[1] * 4)
        if len(sizes) > 1 or sizes.pop() % 4:
            raise EmbeddingUnavailable(
                f"The vectors of this session under {stamp} differ in size."
                f" Run `otto sessions --reembed {store.path.stem}` to make them again."
            )
        read = np.frombuffer(b"".join(blob for _, blob in rows), np.float32).reshape(len(rows), -1)
        start = 0 if self._rows is None else len(self._rows)
        self._rows = read if self._rows is None else np.concatenate([self._rows, read])
        self._place.update((hash, start + offset) for offset, (hash, _) in enumerate(rows))


def _counts(store: MemoryStore, stamp: str) -> tuple[int, int]:
    """Chunks, and chunks without a vector of this stamp."""
    row = store.reader().execute(
        "SELECT count(*), count(*) - count(vectors.hash) FROM chunks"
        " LEFT JOIN vectors ON vectors.stamp = ? AND vectors.hash = chunks.hash",
        (stamp,),
    )
    chunks, waiting = row.fetchone()
    return int(chunks), int(waiting)


def _waiting(store: MemoryStore, stamp: str, after: int, limit: int) -> list[_Waiting]:
    db = store.reader()
    rows = db.execute(
        "SELECT chunks.rowid, chunks.hash, chunks.seq, chunks.start, chunks.end FROM chunks"
        " LEFT JOIN vectors ON vectors.stamp = ? AND vectors.hash = chunks.hash"
        " WHERE vectors.hash IS NULL AND chunks.rowid > ? ORDER BY chunks.rowid LIMIT ?",
        (stamp, after, limit),
    ).fetchall()
    # Each text is read once for all its chunks: SQLite would walk a long one from its start for every chunk.
    texts = {event.seq: event.text for event in event_rows.by_seq(db, {row["seq"] for row in rows})}
    return [(row["rowid"], row["hash"], texts[row["seq"]][row["start"] : row["end"]]) for row in rows]


def _write(store: MemoryStore, stamp: str, waiting: Sequence[_Waiting], embedder: Embedder, *, claim: bool) -> int:
    """Embed, then write in one short transaction; with ``claim``, only while the stamp is or becomes
    current."""
    import numpy as np

    vectors = np.ascontiguousarray(embedder.embed_passages([text for _, _, text in waiting]), np.float32)
    if vectors.shape[:1] != (len(waiting),):
        raise EmbeddingUnavailable(f"{stamp} made {len(vectors)} vectors of {len(waiting)} texts.")
    with store.transaction() as db:
        if claim:
            db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", (STAMP_KEY, stamp))
            if _stamp_in(db) != stamp:
                return 0
        # A chunk that is gone meanwhile gets no vector.
        return sum(
            db.execute(
                "INSERT OR IGNORE INTO vectors (hash, stamp, vector) SELECT hash, ?, ? FROM chunks WHERE hash = ?",
                (stamp, vector.tobytes(), hash),
            ).rowcount
            for (_, hash, _), vector in zip(waiting, vectors, strict=True)
        )


def _change_over(store: MemoryStore, stamp: str) -> bool:
    """Make ``stamp`` current and remove all other vectors, unless text has come that has no vector yet."""
    with store.transaction() as db:
        missing = db.execute(
            "SELECT 1 FROM chunks LEFT JOIN vectors ON vectors.stamp = ? AND vectors.hash = chunks.hash"
            " WHERE vectors.hash IS NULL LIMIT 1",
            (stamp,),
        ).fetchone()
        if missing:
            return False
        db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (STAMP_KEY, stamp),
        )
        db.execute("DELETE FROM vectors WHERE stamp != ?", (stamp,))
    return True


def _refuse_other_stamp(store: MemoryStore, stamp: str) -> None:
    current = current_stamp(store)
    if current not in (None, stamp):
        raise EmbeddingUnavailable(other_stamp_sentence(store, current, stamp))


def other_stamp_sentence(store: MemoryStore, current: str | None, stamp: str) -> str:
    """Say that a store's vectors are of another model, and what to do."""
    return (
        f"The vectors of this session were made by {current}, and the embedding model is now {stamp}, so they are"
        f" not compared. Run `otto sessions --reembed {store.path.stem}` (MemoryStore re-embedding) to make them again."
    )


def _stamp_in(db: sqlite3.Connection) -> str | None:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (STAMP_KEY,)).fetchone()
    return None if row is None else str(row[0])


def _select(db: sqlite3.Connection, stamp: str, hashes: Sequence[str]) -> list[tuple[str, bytes]]:
    rows = db.execute(
        "SELECT hash, vector FROM vectors WHERE stamp = ? AND hash IN (SELECT value FROM json_each(?))",
        (stamp, dump(list(hashes))),
    )
    return [(str(row[0]), bytes(row[1])) for row in rows]
