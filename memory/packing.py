"""Which chunks recall returns: hits, the chunks around them, and a budget of tokens spent on the best of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.ranking import best_first

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.ranking import Mask, Scores


BESIDE = 1
"""Chunks next to a hit, on either side, that are no hits of their own: they come along with it."""


@dataclass(frozen=True)
class Picked:
    """Places of the chunks to return."""

    hits: tuple[int, ...]
    """Best first."""
    neighbours: frozenset[int]


def pick(
    scores: Scores,
    hits: Mask,
    candidates: Candidates,
    max_chunks: int,
    window: int,
    token_budget: int,
    *,
    same_event: bool = False,
) -> Picked:
    """Take the ``max_chunks`` best hits and up to ``window`` chunks on either side of each, and spend the budget on
    all of these best first. What does not fit is passed over for what does.

    What stands right beside a better hit comes along with it and takes none of the ``max_chunks``. A neighbour goes by
    its own score, but never before the hit that brings it along.

    Args:
        scores: of every candidate; NaN counts as worst.
        hits: what may be returned for its own sake.
        same_event: neighbours come from the hit's own event only.
    """

    best = _chosen(scores, hits, candidates, max_chunks, window, same_event)
    worth, brought_by = _worth(scores, best, candidates, window, same_event)
    tokens = candidates.tokens
    paid: dict[int, None] = {}
    left = token_budget
    for place in _in_order(worth, best):
        if tokens[place] <= left and (brought_by[place] == place or int(brought_by[place]) in paid):
            paid[place] = None
            left -= tokens[place]
        if left <= 0:
            break
    if len(best) and not paid:
        # Even the best does not fit: it is returned in part.
        return Picked((int(best[0]),), frozenset())
    chosen = tuple(int(place) for place in best if int(place) in paid)
    return Picked(chosen, frozenset(paid).difference(chosen))


def _chosen(
    scores: Scores, hits: Mask, candidates: Candidates, max_chunks: int, window: int, same_event: bool
) -> NDArray[np.intp]:
    """The best hits, best first, but for those right beside a better one."""
    import numpy as np

    most, beside = max(0, max_chunks), min(BESIDE, window)
    ranked = best_first(np.where(hits, np.nan_to_num(scores, nan=-np.inf), np.nan), most * (2 * beside + 1))
    seqs = candidates.seqs
    covered: set[int] = set()
    chosen: list[int] = []
    for place in ranked.tolist():
        if len(chosen) >= most:
            break
        if place not in covered:
            chosen.append(place)
            near = range(max(0, place - beside), min(len(candidates), place + beside + 1))
            covered.update(other for other in near if not same_event or seqs[other] == seqs[place])
    return np.array(chosen, np.intp)


def _worth(
    scores: Scores, best: NDArray[np.intp], candidates: Candidates, window: int, same_event: bool
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """By place: what a chunk is worth, NaN where it is not to be returned, and the hit that brings it along."""
    import numpy as np

    own = np.nan_to_num(scores, nan=-np.inf).astype(np.float64)
    worth = np.full(len(candidates), np.nan)
    brought_by = np.full(len(candidates), -1, np.intp)
    seqs = np.asarray(candidates.seqs)
    # From the worst hit to the best, so that of several hits the best brings a neighbour along.
    for distance in range(min(window, len(candidates)), 0, -1):
        for side in (-1, 1):
            hit = best[::-1]
            near = hit + side * distance
            inside = (near >= 0) & (near < len(candidates))
            hit, near = hit[inside], near[inside]
            if same_event:
                same = seqs[hit] == seqs[near]
                hit, near = hit[same], near[same]
            better = (brought_by[near] < 0) | (own[hit] >= own[brought_by[near]])
            brought_by[near[better]] = hit[better]
    reached = np.flatnonzero(brought_by >= 0)
    worth[reached] = np.minimum(own[reached], own[brought_by[reached]])
    worth[best] = own[best]
    brought_by[best] = best
    return worth, brought_by


def _in_order(worth: NDArray[np.float64], best: NDArray[np.intp]) -> list[int]:
    """Places by worth; of equals hits come before neighbours, and the newer first."""
    import numpy as np

    places = np.flatnonzero(~np.isnan(worth))
    neighbour = np.ones(len(worth), np.bool_)
    neighbour[best] = False
    order = np.lexsort((-places, neighbour[places], -worth[places]))
    return [int(place) for place in places[order]]
