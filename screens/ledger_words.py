"""What the ledger holds and how far its workers are, in sentences: for ``/status``, ``otto status`` and the panels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from screens.wording import counted, grouped

if TYPE_CHECKING:
    from sessions.observing.clocks import Gauge
    from sessions.observing.seats import Stage
    from sessions.observing.status import LedgerStatus, RecordLine

WORKERS: Mapping[Stage, str] = {"observe": "observer", "reflect": "reflector", "drop": "dropper"}
"""What a worker is called, by its seat."""

NOTHING_RECORDED = "The ledger holds nothing yet."

NOTHING_DIFFERS = "The view shows exactly what the ledger holds."

_NAME_WIDTH = 12


def status_lines(ledger: LedgerStatus) -> list[str]:
    """Counts, drift, clocks, workers and failures, one line each, with what the line is about before it."""
    return [f"{name:<{_NAME_WIDTH}}{says}" for name, says in _facts(ledger)]


def worker_state(ledger: LedgerStatus) -> str:
    """What the workers are doing, as a sentence without its full stop."""
    if ledger.running is not None:
        return f"the {WORKERS[ledger.running]} is at work"
    if ledger.passive:
        return "passive: nothing is recorded on its own"
    return ledger.asleep.rstrip(".") if ledger.asleep else "waiting for more text"


def until_due(gauge: Gauge) -> str:
    """How far a clock has come, and how far it has to go."""
    left = f"{grouped(gauge.left)} to go" if gauge.left else "due"
    return f"{grouped(gauge.tokens)} of {grouped(gauge.threshold)} tokens, {left}"


def drift_words(ledger: LedgerStatus) -> str:
    """What a full fold would change in the view."""
    drift = ledger.drift
    to_come = [
        counted(len(ids), noun)
        for ids, noun in ((drift.observations_to_come, "observation"), (drift.reflections_to_come, "reflection"))
        if ids
    ]
    parts = [f"{' and '.join(to_come)} to come"] if to_come else []
    if drift.observations_gone:
        parts.append(f"{counted(len(drift.observations_gone), 'dropped observation')} still in view")
    return ", ".join(parts) or "none"


def shown_counts(ledger: LedgerStatus) -> tuple[int, int]:
    """How many observations and how many reflections stand in the view."""
    observations = sum(bullet.form == "observation" for bullet in ledger.shown)
    return observations, len(ledger.shown) - observations


def signed(line: RecordLine) -> str:
    """A line of a comparison, with its sign or two spaces before it."""
    return f"{line.sign or ' '} {line.text}"


def diff_summary(ledger: LedgerStatus) -> str:
    """What the signs of a comparison come to."""
    drift = drift_words(ledger)
    return NOTHING_DIFFERS if drift == "none" else f"Drift: {drift}. + is in the ledger only, - in the view only."


def _facts(ledger: LedgerStatus) -> Iterator[tuple[str, str]]:
    state = ledger.state
    observations, reflections = shown_counts(ledger)
    recorded = len(state.observations) + len(state.dropped)
    yield (
        "ledger",
        f"{counted(recorded, 'observation')} recorded, {grouped(len(state.dropped))} dropped,"
        f" {grouped(len(state.observations))} active, {grouped(observations)} visible;"
        f" {counted(len(state.reflections), 'reflection')}, {grouped(reflections)} visible",
    )
    yield "drift", drift_words(ledger)
    yield "observer", until_due(ledger.observe)
    yield "reflector", until_due(ledger.reflect)
    yield "compaction", f"{until_due(ledger.compact)}, mode {ledger.mode}"
    yield "pool", f"{grouped(ledger.pool.tokens)} of {grouped(ledger.pool.threshold)} tokens in view"
    yield "workers", worker_state(ledger)
    spent = ledger.spent
    if spent.requests:
        read, written = counted(spent.prompt_tokens, "token"), grouped(spent.completion_tokens)
        yield "spent", f"{counted(spent.requests, 'request')}, {read} read and {written} written since it was opened"
    yield "passive", "yes" if ledger.passive else "no"
    for stage, error in ledger.errors.items():
        yield f"{WORKERS[stage]}!", error
    if state.ignored:
        yield "ignored", f"{counted(len(state.ignored), 'record')} of the ledger not sound; otto verify names them"
