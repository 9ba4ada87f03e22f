"""The vectors of one open store in memory, so that a recall reads from disk only what is new."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

from memory import vector_rows
from memory.errors import EmbeddingUnavailable
from memory.store import MemoryStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.embeddings import Vector

BATCH = 2_000
"""Vectors read at a time: beside the matrix they would take as much room again."""

ROOM = 1.25
"""How many times as many rows as are needed a matrix has room for, so that it is copied now and then only."""

LEAST_ROOM = 1_024


class _DifferentSizes(Exception):
    """A vector does not fit into the matrix."""


@dataclass(frozen=True, slots=True)
class _Lengths:
    matrix: object
    """What the matrix is a part of."""
    places: NDArray[np.intp]
    lengths: Vector


class VectorCache:
    """One float32 matrix for the store and stamp that were asked for last. Keep one beside each open store.

    What it holds never goes stale: a chunk's hash stands for its words, and a stamp for its model. Safe to use from
    any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[object, str] | None = None
        self._lengths: _Lengths | None = None
        self._clear()

    def look_up(self, store: MemoryStore, stamp: str, hashes: Sequence[str]) -> tuple[Vector, NDArray[np.intp]]:
        """Return a matrix, and for each hash the row of its vector, or -1 where the chunk has none yet.

        Asked again with the same tuple, it looks only for what had none.

        Raises:
            EmbeddingUnavailable: vectors of this stamp differ in size, so that they cannot be one model's.
        """
        with self._lock:
            if self._of != (store.path, stamp):
                self._of = (store.path, stamp)
                self._clear()
            with store.reading() as db:
                size = vector_rows.size_of(db, stamp)
            if self._room is not None and self._room.shape[1] != size:
                # Another model answers to the name of the one that what is kept here is from.
                self._clear()
            try:
                return self._matrix_and_places(store, stamp, hashes)
            except _DifferentSizes:
                raise EmbeddingUnavailable(
                    f"The vectors of this session under {stamp} differ in size."
                    f" Run `otto sessions --reembed {store.path.stem}` to make them again."
                ) from None

    def sum_lengths(self, matrix: Vector, places: NDArray[np.intp]) -> Vector:
        """What ``memory.dense_arms.sum_lengths`` says of what ``look_up`` returned; made for what is new only."""
        from memory.dense_arms import NEAR_VECTORS, sum_lengths

        with self._lock:
            known = self._lengths
        if known is not None and known.matrix is matrix.base and known.places is places:
            return known.lengths
        kept = 0 if known is None or known.matrix is not matrix.base else _same_beginning(known.places, places)
        # The last ones had no neighbours yet on one side.
        kept = max(0, kept - len(NEAR_VECTORS))
        new = sum_lengths(matrix, places, start=kept)
        if known is not None and kept:
            import numpy as np

            new = np.concatenate([known.lengths[:kept], new])
        with self._lock:
            self._lengths = _Lengths(matrix.base, places, new)
        return new

    def _clear(self) -> None:
        self._place: dict[str, int] = {}
        self._room: Vector | None = None
        """The matrix, and room for more below it; what has been handed out is never written again."""
        self._lengths = None
        self._asked: tuple[Sequence[str], NDArray[np.intp]] | None = None

    def _matrix_and_places(
        self, store: MemoryStore, stamp: str, hashes: Sequence[str]
    ) -> tuple[Vector, NDArray[np.intp]]:
        import numpy as np

        asked = self._asked
        places = asked[1] if asked is not None and asked[0] is hashes else self._places_of(hashes)
        waiting = np.flatnonzero(places < 0)
        if len(waiting) and self._read(store, stamp, [hashes[place] for place in waiting.tolist()]):
            places = self._places_of(hashes)
        # Only what cannot change under its own name is known by it.
        self._asked = (hashes, places) if isinstance(hashes, tuple) else None
        if self._room is None:
            return np.empty((0, 0), np.float32), places
        return self._room[: len(self._place)], places

    def _places_of(self, hashes: Sequence[str]) -> NDArray[np.intp]:
        import numpy as np

        places = np.fromiter(map(self._place.get, hashes, repeat(-1)), np.intp, len(hashes))
        places.flags.writeable = False
        return places

    def _read(self, store: MemoryStore, stamp: str, hashes: Sequence[str]) -> int:
        """Add the vectors of these chunks, of which none is here; how many there were."""
        before = len(self._place)
        with store.reading() as db:
            for start in range(0, len(hashes), BATCH):
                found = vector_rows.select(db, stamp, hashes[start : start + BATCH])
                if found:
                    self._add(found, at_most=len(hashes) - start)
        return len(self._place) - before

    def _add(self, found: Sequence[tuple[str, bytes]], at_most: int) -> None:
        """Append vectors. ``at_most`` as many are still to come, these included."""
        import numpy as np

        size = len(found[0][1])
        if size % vector_rows.FLOAT_BYTES or any(len(vector) != size for _, vector in found):
            raise _DifferentSizes
        new = np.frombuffer(b"".join(vector for _, vector in found), "<f4").reshape(len(found), -1)
        start = len(self._place)
        if self._room is not None and self._room.shape[1] != new.shape[1]:
            raise _DifferentSizes
        if self._room is None or start + len(new) > len(self._room):
            grown = np.empty((max(LEAST_ROOM, int(ROOM * (start + at_most))), new.shape[1]), np.float32)
            if self._room is not None:
                grown[:start] = self._room[:start]
            self._room = grown
        self._room[start : start + len(new)] = new
        self._place.update((hash, start + offset) for offset, (hash, _) in enumerate(found))


def _same_beginning(one: NDArray[np.intp], other: NDArray[np.intp]) -> int:
    """How many places both begin with."""
    import numpy as np

    size = min(len(one), len(other))
    different = np.flatnonzero(one[:size] != other[:size])
    return int(different[0]) if len(different) else size
