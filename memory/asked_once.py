"""An embedder that is asked one question once, for a recall that ranks several sets of candidates by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from memory.embeddings import Vector


class AskedOnce:
    """Another embedder in all respects. The last question's vector, or why there is none, is remembered: a hosted model
    takes half a second for it. Made for one recall, used by one thread."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._question: str | None = None
        self._vector: Vector | EmbeddingUnavailable | None = None

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
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        if text != self._question or self._vector is None:
            self._question, self._vector = text, self._ask(text)
        if isinstance(self._vector, EmbeddingUnavailable):
            raise self._vector
        return self._vector

    def _ask(self, text: str) -> Vector | EmbeddingUnavailable:
        try:
            return self._embedder.embed_query(text)
        except EmbeddingUnavailable as error:
            return error
