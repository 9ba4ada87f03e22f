"""Which model's space a session's vectors are in, and moving them to that of the best model that can be had.

A session is moved by itself (seed 000, "What is still open", 5): an imported one, one whose model has changed, and one
that the embedder in the box kept until a better model could be loaded. Until every chunk has its vector, recall goes on
in the space that it is in. A kill at any point costs one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.store import MemoryStore
from memory.vectors import BATCH, current_stamp, embed_waiting, of_current_stamp, reembed

FLOOR_BATCH = 512
"""Texts that the embedder in the box, which is fast, is given at a time."""


@dataclass(frozen=True, slots=True)
class Spaces:
    """The store of a session and its two models. All methods belong on a thread: they read the disk and load models."""

    store: MemoryStore
    wanted: Embedder
    floor: Embedder | None
    """What ranks while ``wanted`` cannot be had."""

    def ranks_now(self) -> Embedder:
        """The model whose vectors the session has; ``wanted`` where neither's."""
        return of_current_stamp(self.store, [self.wanted, *([self.floor] if self.floor else [])]) or self.wanted

    def bring_up(
        self, *, stop: Callable[[], bool], progress: Callable[[int, int], None]
    ) -> EmbeddingUnavailable | None:
        """Give every chunk a vector of the best model that can be had; return why that is not ``wanted``, if so.

        Raises:
            EmbeddingUnavailable: neither can be had.
            StoreUnavailable: vectors could not be written.
        """
        self.keep_floor(stop, progress)
        if stop():
            # Whoever waits for the end of this should not wait for a model that is loaded.
            return None
        try:
            self._move(self.wanted, stop, progress)
        except EmbeddingUnavailable as error:
            if self.floor is None:
                raise
            self._move(self.floor, stop, progress)
            return error
        return None

    def _move(self, to: Embedder, stop: Callable[[], bool], progress: Callable[[int, int], None]) -> None:
        current, stamp, batch = current_stamp(self.store), to.stamp, self._batch(to)
        if current in (None, stamp):
            embed_waiting(self.store, to, batch, stop, progress)
            return

        def stop_or_keep_up() -> bool:
            # What is said meanwhile is found by the vectors that still rank.
            self.keep_floor(stop, None)
            return stop()

        # Those that are left stay, so that two models which take turns are not paid for every time.
        keep = () if self._is_floor(current) else (current,)
        reembed(self.store, to, progress, batch=batch, stop=stop_or_keep_up, keep=keep)

    def keep_floor(self, stop: Callable[[], bool], progress: Callable[[int, int], None] | None) -> None:
        """Complete the floor's vectors where they are what ranks, or nothing does yet: that takes no time."""
        if self.floor is not None and current_stamp(self.store) in (None, self.floor.stamp):
            embed_waiting(self.store, self.floor, self._batch(self.floor), stop, progress)

    def _is_floor(self, stamp: str | None) -> bool:
        return self.floor is not None and self.floor.stamp == stamp

    def _batch(self, embedder: Embedder) -> int:
        return FLOOR_BATCH if embedder is self.floor else BATCH
