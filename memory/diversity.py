"""An arm that prefers what is not like what was chosen before (maximal marginal relevance)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.dense_arms import Dense
from memory.ranking import Ranking, best_first, standard

if TYPE_CHECKING:
    from memory.ranking import Scores

CHOSEN_AMONG = 200
"""So many of the best are put into another order; the rest follows as it was."""

LIKENESS_COST = 1.0
"""What a likeness of 1 to something chosen before costs, in standard deviations of the scores."""


@dataclass(frozen=True)
class Diverse:
    """Another arm's best, one after another, each less what it repeats of those before it."""

    arm: Ranking
    dense: Dense
    cost: float = LIKENESS_COST

    @property
    def name(self) -> str:
        return f"{self.arm.name}, diverse"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        scores = standard(self.arm.scores(question, candidates))
        best = best_first(scores)[:CHOSEN_AMONG]
        vectors = self.dense.vectors_of(best)
        worth = scores[best].astype(np.float64)
        repeated = np.zeros(len(best))
        order = []
        left = np.ones(len(best), np.bool_)
        for _ in range(len(best)):
            place = int(np.argmax(np.where(left, worth - self.cost * repeated, -np.inf)))
            left[place] = False
            order.append(best[place])
            repeated = np.maximum(repeated, vectors @ vectors[place])
        ranks = scores - np.float32(len(best)) - np.float32(2 * np.abs(scores).max(initial=0.0))
        ranks[order] = -np.arange(len(order), dtype=np.float32)
        return ranks
