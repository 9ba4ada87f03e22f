"""The likeness below which a match is not relevant, where the person had it measured for their own model.

Each embedder carries the thresholds that were measured for it (seed 002, "Thresholds belong to the embedder"); those
that ``otto eval-thresholds --set`` has stored for its stamp go before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.embeddings import Embedder

if TYPE_CHECKING:
    from memory.embeddings import Vector


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What ``Embedder.threshold`` and ``Embedder.sure`` are for one model."""

    threshold: float
    sure: float


def bar_of(embedder: Embedder, *, any_word: bool) -> float | None:
    """How alike a passage that shares no word with the question has to be; None lets everything through.

    Args:
        any_word: some passage that can be recalled shares a word with the question. Where none does, it is most likely
            about something that was never said, so that likeness has to speak for itself.
    """
    return embedder.threshold if any_word or embedder.sure is None else embedder.sure


def with_thresholds(embedder: Embedder, measured: Mapping[str, Thresholds]) -> Embedder:
    """``embedder``, asking ``measured`` (by stamp) for its thresholds first. Reads and loads nothing yet."""
    return _Measured(embedder, measured) if measured else embedder


@dataclass(frozen=True, slots=True)
class _Measured:
    embedder: Embedder
    measured: Mapping[str, Thresholds]

    @property
    def stamp(self) -> str:
        return self.embedder.stamp

    @property
    def dimensions(self) -> int | None:
        return self.embedder.dimensions

    @property
    def threshold(self) -> float | None:
        known = self.measured.get(self.embedder.stamp)
        return self.embedder.threshold if known is None else known.threshold

    @property
    def sure(self) -> float | None:
        known = self.measured.get(self.embedder.stamp)
        return self.embedder.sure if known is None else known.sure

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return self.embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        return self.embedder.embed_query(text)
