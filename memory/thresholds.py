"""The likeness below which a match is not relevant, where the person had it measured for their own model.

Each embedder carries the threshold that was measured for it (seed 002, "Thresholds belong to the embedder"); a value
that ``otto eval-thresholds --set`` has stored for its stamp goes before that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.embeddings import Embedder

if TYPE_CHECKING:
    from memory.embeddings import Vector


def with_thresholds(embedder: Embedder, measured: Mapping[str, float]) -> Embedder:
    """``embedder``, asking ``measured`` (by stamp) for its threshold first. Reads and loads nothing yet."""
    return _Measured(embedder, measured) if measured else embedder


@dataclass(frozen=True, slots=True)
class _Measured:
    embedder: Embedder
    measured: Mapping[str, float]

    @property
    def stamp(self) -> str:
        return self.embedder.stamp

    @property
    def dimensions(self) -> int | None:
        return self.embedder.dimensions

    @property
    def threshold(self) -> float | None:
        known = self.measured.get(self.embedder.stamp)
        return self.embedder.threshold if known is None else known

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return self.embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        return self.embedder.embed_query(text)
