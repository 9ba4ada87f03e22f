"""How candidates are ranked for a question: what every arm is, and what arms share.

An arm is one class that scores. Those that look at one thing are in ``word_arms``, ``dense_arms``, ``voice_arm``,
``date_arm`` and ``feedback_arm``; those that combine others in ``fusion``. ``memory/arms.py`` puts them together under
names. Which one ships was measured (``otto eval-memory --arm all``, ``docs/recall.md``), not chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memory.candidates import Candidates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]
    """One number per candidate, higher is better; NaN where the arm has nothing to go by."""

    Mask = NDArray[np.bool_]
    """One truth value per candidate."""


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
class Recency:
    """The newest first, whatever was asked."""

    name: str = "recency"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        return np.arange(1, len(candidates) + 1, dtype=np.float32)


def spread(scores: Scores, weights: Sequence[float]) -> Scores:
    """Add to each score its neighbours', weighed by how far they are. NaN stays NaN and gives nothing."""
    import numpy as np

    unknown = np.isnan(scores)
    given = np.where(unknown, np.float32(0), scores) if unknown.any() else scores
    total = scores.copy()
    for distance, weight in enumerate(weights, 1):
        if distance < len(scores):
            total[distance:] += weight * given[:-distance]
            total[:-distance] += weight * given[distance:]
    return total


def best_first(scores: Scores, count: int | None = None) -> NDArray[np.intp]:
    """Return the places of all scores that are numbers, best first; of equals the newer first.

    Args:
        count: so many of them are enough, which takes far less than to order all.
    """
    import numpy as np

    places = np.flatnonzero(~np.isnan(scores))
    if count is not None and count <= 0:
        return places[:0]
    if count is not None and count < len(places):
        last = np.partition(scores[places], len(places) - count)[len(places) - count]
        places = places[scores[places] >= last]
    order = np.lexsort((-places, -scores[places]))
    ranked: NDArray[np.intp] = places[order[:count]]
    return ranked


def standard(scores: Scores, among: Mask | None = None, least: float = 0.0) -> Scores:
    """Scores as distances from their mean in standard deviations; what is unknown counts as average.

    Args:
        among: the candidates whose mean and deviation they are; None for all.
        least: what the deviation counts as if it is less: scores that hardly differ say nothing.
    """
    import numpy as np

    known = scores[~np.isnan(scores) if among is None else among & ~np.isnan(scores)]
    deviation = float(known.std()) if len(known) else 0.0
    if deviation <= float(np.finfo(np.float32).eps) * float(np.abs(known).max(initial=0.0)):
        return np.zeros_like(scores)
    standardised: Scores = np.nan_to_num((scores - known.mean()) / max(deviation, least))
    return standardised
