"""An embedder that is timed: what a question's vector takes is told apart from what ranking takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from memory.embeddings import Vector


class TimedEmbedder:
    """Another embedder in all respects. Each text is embedded once; asked for again, it comes from memory.

    Recall answers without vectors where an embedder fails. ``failure`` says that it did, so that nothing is measured
    under another name.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, tuple[Vector, float]] = {}
        self._passages: dict[str, Vector] = {}
        self.waited = 0.0
        """Seconds that calls of ``embed_query`` have taken from whoever called."""
        self.cost = 0.0
        """Seconds that they would have taken if nothing were remembered."""
        self.failure: EmbeddingUnavailable | None = None

    @property
    def stamp(self) -> str:
        return self._embedder.stamp

    @property
    def dimensions(self) -> int | None:
        return self._embedder.dimensions

    @property
    def threshold(self) -> float | None:
        return self._embedder.threshold

    @property
    def sure(self) -> float | None:
        return self._embedder.sure

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._passages]
        if new:
            self._passages.update(zip(new, self._embedder.embed_passages(new), strict=True))
        return np.stack([self._passages[text] for text in texts])

    def embed_query(self, text: str) -> Vector:
        began = time.perf_counter()
        try:
            if text not in self._known:
                vector = self._embedder.embed_query(text)
                self._known[text] = (vector, time.perf_counter() - began)
        except EmbeddingUnavailable as error:
            self.failure = error
            raise
        vector, seconds = self._known[text]
        self.waited += time.perf_counter() - began
        self.cost += seconds
        return vector
