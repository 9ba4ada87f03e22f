"""Which observations may be retired: how far over its target the pool is, and what can go without a loss.

Seed 003's dropper proposes; this decides, the same way every time. What nothing else covers is never dropped, and
nothing critical is, so a drop never removes the only way to an event.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from memory.ledger_fold import LedgerState
from memory.observations import RELEVANCES, Observation

Coverage = Literal["none", "partial", "strong"]
"""By how many reflections an observation is cited: none, one, or more."""

_DROPPED_FIRST: Final[tuple[Coverage, ...]] = ("strong", "partial")


def coverage_of(state: LedgerState) -> Mapping[str, Coverage]:
    """The coverage of every live observation, by id, in the order of the ledger."""
    cited = Counter(id for reflection in state.reflections.values() for id in set(reflection.supports))
    return {id: _coverage(cited[id]) for id in state.observations}


def most_drops(state: LedgerState, target: int) -> int:
    """How many observations may go at once, so that the pool comes down to about ``target`` tokens and not below."""
    pool, count = state.pool_tokens, len(state.observations)
    if pool <= target:
        return 0
    return min(count, max(1, math.ceil((pool - target) * count / pool)))


def choose_drops(state: LedgerState, proposed: Iterable[str], target: int) -> tuple[str, ...]:
    """The ids to drop, of those proposed: the best covered, least relevant and oldest first, ``most_drops`` at most.

    Ids that are unknown, dropped already, critical or covered by no reflection are passed over.
    """
    coverage = coverage_of(state)
    candidates = [state.observations[id] for id in dict.fromkeys(proposed) if id in state.observations]
    allowed = [made for made in candidates if made.relevance != "critical" and coverage[made.id] != "none"]

    def rank(made: Observation) -> tuple[int, int, str]:
        return _DROPPED_FIRST.index(coverage[made.id]), RELEVANCES.index(made.relevance), made.timestamp

    return tuple(made.id for made in sorted(allowed, key=rank)[: most_drops(state, target)])


def _coverage(citations: int) -> Coverage:
    return "none" if citations == 0 else "partial" if citations == 1 else "strong"
