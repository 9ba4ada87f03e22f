"""The vectors of a store: made in batches behind the conversation, kept under the stamp of the model that made them.

One stamp is current (``meta``, ``embedding_stamp``): the one that recall may rank by. ``reembed`` makes the vectors
of another model beside it and changes over in one transaction, so that two spaces are never mixed, wherever it stops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from memory import event_rows, vector_rows
from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.store import MemoryStore
from memory.values import EmbeddingState

BATCH = 32
"""Texts embedded at a time, and vectors written in one transaction; a stop waits for one batch, about a second."""


def current_stamp(store: MemoryStore) -> str | None:
    """Return the stamp that recall may rank by; None before the first vector."""
    return store.get_meta(vector_rows.STAMP_KEY)


def embedding_state(store: MemoryStore) -> EmbeddingState:
    """Return the current stamp and how many chunks have, and have not, a vector of it."""
    stamp = current_stamp(store)
    chunks, waiting = _count(store, stamp or "")
    return EmbeddingState(stamp, chunks - waiting, waiting)


def of_current_stamp(store: MemoryStore, embedders: Sequence[Embedder]) -> Embedder | None:
    """Return the embedder that can rank by this store's vectors; the first where none of them can, or none is."""
    stamp = current_stamp(store)
    for embedder in embedders:
        with suppress(EmbeddingUnavailable):
            if embedder.stamp == stamp:
                return embedder
    return embedders[0] if embedders else None


def embed_waiting(
    store: MemoryStore,
    embedder: Embedder,
    batch: int = BATCH,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Give every chunk that has none a vector; return how many were made.

    Goes on where an earlier call stopped. The first vectors of a store set its current stamp.

    Args:
        stop: asked before each batch; True ends the work with what is done.
        progress: told after each batch how many chunks have a vector, of how many.

    Raises:
        EmbeddingUnavailable: the embedder failed (finished batches stay), or the store's vectors are another model's.
    """
    stamp = embedder.stamp
    made = after = 0
    while not stop():
        _refuse_other_stamp(store, stamp)
        waiting = _waiting(store, stamp, after, batch)
        if not waiting:
            break
        made += _embed(store, stamp, waiting, embedder, current=True)
        after = waiting[-1].row
        if progress is not None:
            chunks, missing = _count(store, stamp)
            progress(chunks - missing, chunks)
    return made


def reembed(
    store: MemoryStore,
    embedder: Embedder,
    progress: Callable[[int, int], None] | None = None,
    *,
    batch: int = BATCH,
    stop: Callable[[], bool] = lambda: False,
    keep: Collection[str] = (),
) -> EmbeddingState:
    """Move a store to ``embedder``'s space. Until that is complete, recall goes on in the old one.

    Interrupted at any point, by ``stop`` or by a kill, it goes on where it stopped when called again.

    Args:
        progress: told the number of vectors done and needed, before the first batch and after each.
        stop: asked before each batch; True ends the work with what is done.
        keep: stamps whose vectors stay although they are not current, so that going back to them costs little.

    Raises:
        EmbeddingUnavailable: the embedder failed; what was made stays for the next call.
    """
    stamp = embedder.stamp
    size = int(embedder.embed_query("size").shape[0])
    with store.transaction() as db:
        vector_rows.remove_other_sizes(db, stamp, size)
    while not stop():
        total, missing = _count(store, stamp)
        if progress is not None:
            progress(total - missing, total)
        if missing:
            _embed(store, stamp, _waiting(store, stamp, 0, batch), embedder, current=False)
        elif _change_over(store, stamp, keep):
            break
    return embedding_state(store)


def other_stamp_sentence(store: MemoryStore, current: str, stamp: str) -> str:
    """Say that a store's vectors are another model's, and what to do."""
    return (
        f"The vectors of this session were made by {current} and the embedding model is now {stamp}; the two are"
        f" never compared. Otto makes them anew behind the conversation; `otto sessions --reembed {store.path.stem}`"
        " (MemoryStore re-embedding) does so at once."
    )


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A chunk without a vector."""

    row: int
    hash: str
    text: str


def _count(store: MemoryStore, stamp: str) -> tuple[int, int]:
    with store.reading() as db:
        return vector_rows.count(db, stamp)


def _waiting(store: MemoryStore, stamp: str, after: int, limit: int) -> list[_Waiting]:
    with store.reading() as db:
        rows = vector_rows.without_vector(db, stamp, after, limit)
        # Each text is read once for all its chunks: SQLite would walk a long one from its start for every chunk.
        texts = {event.seq: event.text for event in event_rows.by_seq(db, {row.seq for row in rows})}
    return [_Waiting(row.row, row.hash, texts[row.seq][row.start : row.end]) for row in rows]


def _embed(store: MemoryStore, stamp: str, waiting: Sequence[_Waiting], embedder: Embedder, *, current: bool) -> int:
    """Make vectors and write them in one short transaction; with ``current``, only while the stamp is current."""
    import numpy as np

    rows = np.ascontiguousarray(embedder.embed_passages([chunk.text for chunk in waiting]), np.float32)
    if rows.ndim != 2 or len(rows) != len(waiting):
        raise EmbeddingUnavailable(f"{stamp} did not make one vector for each of {len(waiting)} texts.")
    with store.transaction() as db:
        if current and not vector_rows.claim(db, stamp):
            return 0
        kept = vector_rows.size_of(db, stamp)
        if kept not in (None, rows.shape[1]):
            raise EmbeddingUnavailable(
                f"{stamp} makes vectors of {rows.shape[1]} numbers where this session's have {kept}."
                f" Run `otto sessions --reembed {store.path.stem}` to make them all again."
            )
        return vector_rows.insert(
            db, stamp, ((chunk.hash, row.tobytes()) for chunk, row in zip(waiting, rows, strict=True))
        )


def _change_over(store: MemoryStore, stamp: str, keep: Collection[str]) -> bool:
    """Make ``stamp`` current and remove the vectors of others but ``keep``, unless text has come that has none yet."""
    with store.transaction() as db:
        if vector_rows.without_vector(db, stamp, 0, 1):
            return False
        vector_rows.make_current(db, stamp)
        vector_rows.remove_other_stamps(db, {stamp, *keep})
    return True


def _refuse_other_stamp(store: MemoryStore, stamp: str) -> None:
    current = current_stamp(store)
    if current is not None and current != stamp:
        raise EmbeddingUnavailable(other_stamp_sentence(store, current, stamp))
