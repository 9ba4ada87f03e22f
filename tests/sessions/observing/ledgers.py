"""States of the ledger for tests."""

from __future__ import annotations

from collections.abc import Iterable

from memory.ledger_fold import LedgerState
from memory.observations import Observation, Reflection, observation, reflection

MINUTE = "2026-03-02 09:00"


def observed(content: str, *sources: str, relevance: str = "medium", timestamp: str = MINUTE) -> Observation:
    return observation(content, timestamp=timestamp, relevance=relevance, sources=sources or ("e1",))


def concluded(content: str, *supports: Observation) -> Reflection:
    return reflection(content, supports=[made.id for made in supports])


def state_of(
    observations: Iterable[Observation] = (),
    reflections: Iterable[Reflection] = (),
    dropped: Iterable[Observation] = (),
    through: int = 0,
) -> LedgerState:
    return LedgerState(
        observations={made.id: made for made in observations},
        reflections={made.id: made for made in reflections},
        dropped={made.id: made for made in dropped},
        observed_through=through,
    )
