"""How candidates are ranked for a question: small arms that score, and arms that combine arms.

Which one ships was measured (``benchmarks/recall_arms.py``), not chosen: on conversations of LoCoMo, blending
what dense and keyword arms say, each spread to the neighbouring turns, finds more than either alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Protocol

from memory.candidates import Candidates
from memory.embeddings import Embedder
from memory.store import MemoryStore
from memory.words import match_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.embeddings import Vector

    Scores = NDArray[np.float32]
    """One number per candidate, higher is better; NaN where the arm has nothing to go by."""

BLEND_SPREAD = (0.2,)
KEYWORD_SPREAD = (0.1,)
"""What a chunk gets of the score of the chunk next to it, the one after that, and so on."""

MOST_MATCHES = 2_000
"""Chunks that the keyword index returns, best first. A word that most chunks hold tells nothing apart anyway."""

RRF_K = 20
"""How slowly reciprocal rank fusion lets the lower ranks fade."""


class Ranking(Protocol):
    """Scores every candidate for a question."""

    @property
    def name(self) -> str:
        """How hits were ranked, as a person reads it."""

    def scores(self, question: str, candidates: Candidates) -> Scores:
        """Return one score per candidate, in their order.

        Raises:
            EmbeddingUnavailable: the arm needs an embedder that fails.
        """


@dataclass(frozen=True)
class Dense:
    """Likeness of meaning: the dot product of the question's vector with each chunk's."""

    embedder: Embedder
    matrix: Vector
    places: NDArray[np.intp]
    """For each candidate the row of its vector in ``matrix``; -1 where it has none yet."""
    name: str = "dense"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        scores = np.full(len(candidates), np.nan, np.float32)
        known = self.places >= 0
        if known.any():
            likeness = self.matrix @ self.embedder.embed_query(question)
            scores[known] = likeness[self.places[known]]
        return scores


@dataclass(frozen=True)
class Keyword:
    """FTS5's BM25; 0 where no word is shared, or where ``MOST_MATCHES`` chunks share more."""

    store: MemoryStore
    name: str = "bm25"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        query = match_query(question)
        if not query:
            return np.zeros(len(candidates), np.float32)
        with self.store.reading() as db:
            cursor = db.cursor()
            cursor.row_factory = None
            found = dict(
                cursor.execute(
                    "SELECT rowid, -rank FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT ?",
                    (query, MOST_MATCHES),
                )
            )
        return np.fromiter(map(found.get, candidates.rows, repeat(0.0)), np.float32, len(candidates))


@dataclass(frozen=True)
class Recency:
    """The newest first, whatever was asked."""

    name: str = "recency"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        return np.arange(1, len(candidates) + 1, dtype=np.float32)


@dataclass(frozen=True)
class Spread:
    """An arm whose scores reach over to the neighbouring chunks: an answer often stands beside the words
    asked for."""

    arm: Ranking
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        return self.arm.name

    def scores(self, question: str, candidates: Candidates) -> Scores:
        return spread(self.arm.scores(question, candidates), self.weights)


@dataclass(frozen=True)
class Blend:
    """The sum of a dense and a keyword arm, each measured by its own mean and deviation over the candidates.

    A chunk that shares no word with the question and is less alike than the embedder's threshold is no hit.
    """

    dense: Dense
    keyword: Keyword
    weights: tuple[float, ...] = BLEND_SPREAD

    @property
    def name(self) -> str:
        return f"{self.dense.name}+{self.keyword.name}"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        alike = self.dense.scores(question, candidates)
        worded = self.keyword.scores(question, candidates)
        blended = spread(_standard(alike) + _standard(worded), self.weights)
        threshold = self.dense.embedder.threshold
        if threshold is not None:
            blended[~((alike >= threshold) | (worded > 0))] = np.nan
        return blended


@dataclass(frozen=True)
class RankFusion:
    """Reciprocal rank fusion: what several arms rank high, whatever their scores."""

    arms: tuple[Ranking, ...]
    k: int = RRF_K

    @property
    def name(self) -> str:
        return "rrf(" + "+".join(arm.name for arm in self.arms) + ")"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        fused = np.zeros(len(candidates), np.float32)
        for arm in self.arms:
            scores = arm.scores(question, candidates)
            ranked = best_first(scores)
            ranked = ranked[scores[ranked] > 0]
            fused[ranked] += 1.0 / (self.k + 1 + np.arange(len(ranked), dtype=np.float32))
        return fused


def spread(scores: Scores, weights: tuple[float, ...]) -> Scores:
    """Add to each score its neighbours', weighed by how far they are. NaN stays NaN and gives nothing."""
    import numpy as np

    given = np.nan_to_num(scores)
    total = scores.copy()
    for distance, weight in enumerate(weights, 1):
        if distance < len(scores):
            total[distance:] += weight * given[:-distance]
            total[:-distance] += weight * given[distance:]
    return total


def best_first(scores: Scores) -> NDArray[np.intp]:
    """Return the places of all scores that are numbers, best first; of equals the newer first."""
    import numpy as np

    places = np.flatnonzero(~np.isnan(scores))
    order = np.lexsort((-places, -scores[places]))
    ranked: NDArray[np.intp] = places[order]
    return ranked


def _standard(scores: Scores) -> Scores:
    """Scores as distances from their mean in standard deviations; what is unknown counts as average."""
    import numpy as np

    known = scores[~np.isnan(scores)]
    deviation = float(known.std()) if len(known) else 0.0
    if deviation == 0.0:
        return np.zeros_like(scores)
    standard: Scores = np.nan_to_num((scores - known.mean()) / deviation)
    return standard
