"""Arms that combine other arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.ranking import Ranking, best_first, spread, standard

if TYPE_CHECKING:
    from memory.ranking import Mask, Scores

POOL = 300
"""How many of each arm's best the others' scores are measured against. Weights were chosen on conversations of a few
hundred turns; this keeps their meaning where there are many times as many candidates."""

RRF_K = 20
"""How slowly reciprocal rank fusion lets the lower ranks fade."""

LIKENESS_SHARE, RECENCY_SHARE, RECENCY_DAYS = 0.7, 0.3, 30.0
"""Seed 002: the weighted blend of likeness and recency, which falls in a straight line to 0 within so many days."""


@dataclass(frozen=True)
class Weighted:
    """An arm and what it counts beside others."""

    arm: Ranking
    weight: float = 1.0
    least_deviation: float = 0.0
    """Scores that deviate less are told apart less (``standard``)."""


@dataclass(frozen=True)
class Spread:
    """An arm whose scores reach over to the neighbouring chunks."""

    arm: Ranking
    weights: Sequence[float]

    @property
    def name(self) -> str:
        return self.arm.name

    def scores(self, question: str, candidates: Candidates) -> Scores:
        return spread(self.arm.scores(question, candidates), self.weights)


@dataclass(frozen=True)
class Blend:
    """The sum of arms, each measured by its own mean and deviation over what any of them ranks high, and of boosts,
    whose scores stand as they are on that scale."""

    arms: tuple[Weighted, ...]
    boosts: tuple[Weighted, ...] = ()
    pool: int = POOL

    @property
    def name(self) -> str:
        return "+".join(dict.fromkeys(part.arm.name for part in self.arms))

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        each = [part.arm.scores(question, candidates) for part in self.arms]
        pool = best_of_each(each, self.pool)
        total = np.zeros(len(candidates), np.float32)
        for part, scores in zip(self.arms, each, strict=True):
            total += np.float32(part.weight) * standard(scores, pool, part.least_deviation)
        for boost in self.boosts:
            total += np.float32(boost.weight) * np.nan_to_num(boost.arm.scores(question, candidates))
        return total


@dataclass(frozen=True)
class RankFusion:
    """Reciprocal rank fusion: what several arms rank high, whatever their scores."""

    arms: tuple[Weighted, ...]
    k: int = RRF_K

    @property
    def name(self) -> str:
        return "rrf(" + "+".join(part.arm.name for part in self.arms) + ")"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        fused = np.zeros(len(candidates), np.float32)
        for part in self.arms:
            scores = part.arm.scores(question, candidates)
            ranked = best_first(scores)
            ranked = ranked[scores[ranked] > 0]
            fused[ranked] += part.weight / (self.k + 1 + np.arange(len(ranked), dtype=np.float32))
        return fused


@dataclass(frozen=True)
class LikenessAndAge:
    """Seed 002's blend without keywords: 0.7 times likeness and 0.3 times recency, counted from the newest."""

    dense: Ranking

    @property
    def name(self) -> str:
        return f"{self.dense.name}+age"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        alike = self.dense.scores(question, candidates)
        said_at = candidates.said_at
        if not np.isfinite(said_at).any():
            return alike
        days = (np.nanmax(said_at) - said_at) / 86_400
        recency = np.nan_to_num(np.clip(1 - days / RECENCY_DAYS, 0, 1)).astype(np.float32)
        blended: Scores = np.float32(LIKENESS_SHARE) * alike + np.float32(RECENCY_SHARE) * recency
        return blended


def best_of_each(each: Sequence[Scores], count: int) -> Mask:
    """Which candidates are among the ``count`` best of any of these scores."""
    import numpy as np

    size = len(each[0]) if each else 0
    pool = np.zeros(size, np.bool_)
    if size <= count:
        pool[:] = True
        return pool
    for scores in each:
        pool[np.argpartition(-np.nan_to_num(scores, nan=-np.inf), count)[:count]] = True
    return pool
