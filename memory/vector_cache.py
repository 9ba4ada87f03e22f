"""The vectors of one open store in memory, so that a recall reads from disk only what is new."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from memory import vector_rows
from memory.errors import EmbeddingUnavailable
from memory.store import MemoryStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.embeddings import Vector


class VectorCache:
    """One float32 matrix for the store and stamp that were asked for last. Keep one beside each open store.

    What it holds never goes stale: a chunk's hash stands for its words, and a stamp for its model. Safe to use from
    any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[object, str] | None = None
        self._place: dict[str, int] = {}
        self._rows: Vector | None = None

    def look_up(self, store: MemoryStore, stamp: str, hashes: Sequence[str]) -> tuple[Vector, NDArray[np.intp]]:
        """Return a matrix, and for each hash the row of its vector, or -1 where the chunk has none yet.

        Raises:
            EmbeddingUnavailable: vectors of this stamp differ in size, so that they cannot be one model's.
        """
        import numpy as np

        with self._lock:
            if self._of != (store.path, stamp):
                self._of, self._place, self._rows = (store.path, stamp), {}, None
            missing = [hash for hash in hashes if hash not in self._place]
            if missing:
                self._read(store, stamp, missing)
            matrix = np.empty((0, 0), np.float32) if self._rows is None else self._rows
            return matrix, np.fromiter(map(self._place.get, hashes, repeat(-1)), np.intp, len(hashes))

    def _read(self, store: MemoryStore, stamp: str, hashes: Sequence[str]) -> None:
        import numpy as np

        with store.reading() as db:
            found = vector_rows.select(db, stamp, hashes)
        if not found:
            return
        sizes = {len(vector) for _, vector in found}
        if self._rows is not None:
            sizes.add(self._rows.shape[1] * self._rows.itemsize)
        if len(sizes) > 1 or sizes.pop() % np.dtype(np.float32).itemsize:
            raise EmbeddingUnavailable(
                f"The vectors of this session under {stamp} differ in size."
                f" Run `otto sessions --reembed {store.path.stem}` to make them again."
            )
        read = np.frombuffer(b"".join(vector for _, vector in found), np.dtype("<f4")).reshape(len(found), -1)
        start = 0 if self._rows is None else len(self._rows)
        self._rows = read if self._rows is None else np.concatenate([self._rows, read])
        self._place.update((hash, start + offset) for offset, (hash, _) in enumerate(found))
