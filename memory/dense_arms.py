"""Arms that go by likeness of meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.embeddings import Embedder
from memory.ranking import spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.embeddings import Vector
    from memory.ranking import Scores

NEAR_VECTORS = (0.4, 0.2)
"""What the vector of a place holds of the vector of the chunk next to it, and the one after that."""

_ROWS_AT_A_TIME = 4_096


class Dense:
    """Likeness of meaning: the dot product of the question's vector with each chunk's.

    Keeps what it found for the last question, which several arms ask for.

    Args:
        places: for each candidate the row of its vector in ``matrix``; -1 where it has none yet.
    """

    name = "dense"

    def __init__(self, embedder: Embedder, matrix: Vector, places: NDArray[np.intp]) -> None:
        self.embedder = embedder
        self._matrix = matrix
        self._places = places
        self._last: tuple[str, Scores] | None = None

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        last = self._last
        if last is not None and last[0] == question:
            return last[1].copy()
        scores = np.full(len(candidates), np.nan, np.float32)
        known = self._places >= 0
        if known.any():
            likeness = self._matrix @ self.embedder.embed_query(question)
            scores[known] = likeness[self._places[known]]
        self._last = question, scores
        return scores.copy()

    def vectors_of(self, candidates: NDArray[np.intp]) -> Vector:
        """A row for each of these candidates; zeros where it has no vector yet."""
        import numpy as np

        places = self._places[candidates]
        vectors = np.zeros((len(places), self._matrix.shape[1]), np.float32)
        vectors[places >= 0] = self._matrix[places[places >= 0]]
        return vectors


@dataclass(frozen=True)
class NearDense:
    """Likeness of the place rather than of the chunk: of the sum of its vector and, less, those around it.

    What was said just before and after is what words such as "it" and "yes" are about.
    """

    dense: Dense
    lengths: Vector
    """Of each candidate's sum of vectors, as ``sum_lengths`` gives them."""
    weights: Sequence[float] = NEAR_VECTORS

    @property
    def name(self) -> str:
        return self.dense.name

    def scores(self, question: str, candidates: Candidates) -> Scores:
        # The dot product with a sum of vectors is the sum of the dot products.
        near: Scores = spread(self.dense.scores(question, candidates), self.weights) / self.lengths
        return near


def sum_lengths(
    matrix: Vector, places: NDArray[np.intp], weights: Sequence[float] = NEAR_VECTORS, start: int = 0
) -> Vector:
    """For each candidate from ``start`` on the length of the sum that ``NearDense`` compares with; 1 where there is
    nothing. What is at ``places`` as in ``Dense``."""
    import numpy as np

    count, reach = len(places), len(weights)
    lengths = np.ones(count - start, np.float32)
    for first in range(start, count, _ROWS_AT_A_TIME):
        last = min(first + _ROWS_AT_A_TIME, count)
        low, high = max(0, first - reach), min(count, last + reach)
        part = places[low:high]
        vectors = matrix[part] if matrix.size else np.zeros((high - low, 1), np.float32)
        vectors[part < 0] = 0.0
        total = vectors.copy()
        for distance, weight in enumerate(weights, 1):
            if distance < len(vectors):
                total[distance:] += np.float32(weight) * vectors[:-distance]
                total[:-distance] += np.float32(weight) * vectors[distance:]
        total = total[first - low : last - low]
        squares = np.einsum("ij,ij->i", total, total)
        lengths[first - start : last - start] = np.where(squares > 0, np.sqrt(squares), 1.0)
    return lengths
