"""The JSON that commands print of the ledger. Keys may be added; none changes or goes away."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from screens.ledger_words import shown_counts

if TYPE_CHECKING:
    from memory.ledger_fold import LedgerState
    from memory.observations import Observation, Reflection
    from sessions.observing.clocks import Gauge
    from sessions.observing.status import LedgerStatus


def ledger_shape(ledger: LedgerStatus) -> dict[str, Any]:
    """The key ``ledger`` of ``otto status --json``."""
    state = ledger.state
    observations, reflections = shown_counts(ledger)
    return {
        "mode": ledger.mode,
        "observations": {
            "recorded": len(state.observations) + len(state.dropped),
            "dropped": len(state.dropped),
            "active": len(state.observations),
            "visible": observations,
        },
        "reflections": {"recorded": len(state.reflections), "visible": reflections},
        "drift": asdict(ledger.drift),
        "through": {
            "observed": state.observed_through,
            "reflected": state.reflected_through,
            "dropped": state.dropped_through,
        },
        "observe": _gauge_shape(ledger.observe),
        "reflect": _gauge_shape(ledger.reflect),
        "compact": _gauge_shape(ledger.compact),
        "pool": _gauge_shape(ledger.pool),
        "active_pool": _gauge_shape(ledger.live_pool),
        "running": ledger.running,
        "spent": asdict(ledger.spent),
        "errors": dict(ledger.errors),
        "passive": ledger.passive,
        "asleep": ledger.asleep,
    }


def full_shape(state: LedgerState) -> dict[str, Any]:
    """``otto view --full --json``: each oldest first."""
    return {
        "reflections": [reflection_shape(made) for made in state.reflections.values()],
        "observations": [observation_shape(made) for made in state.observations.values()],
    }


def diff_shape(ledger: LedgerStatus) -> list[dict[str, Any]]:
    """``otto view --diff --json``: ``sign`` is ``+`` for what the view lacks, ``-`` for what only the view has."""
    from sessions.observing.status import view_diff

    return [asdict(line) for line in view_diff(ledger)]


def observation_shape(made: Observation) -> dict[str, Any]:
    return asdict(made)


def reflection_shape(made: Reflection) -> dict[str, Any]:
    return asdict(made)


def _gauge_shape(gauge: Gauge) -> dict[str, int]:
    return {"tokens": gauge.tokens, "threshold": gauge.threshold, "left": gauge.left}
