"""What the ledger holds, what of it stands in the view, and how far its workers are: for people and for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memory.ledger_fold import LedgerState
from memory.observations import observation_line, reflection_line
from memory.values import RECORD_FORMS, Bullet, CompactionMode, MemorySnapshot
from sessions.observing.agent import Exchange
from sessions.observing.clocks import Gauge
from sessions.observing.seats import Stage


@dataclass(frozen=True, slots=True)
class Drift:
    """How the view and the ledger differ: ids, in the order of the ledger."""

    observations_to_come: tuple[str, ...] = ()
    """Live, and not in the view yet."""
    observations_gone: tuple[str, ...] = ()
    """In the view still, and no longer live."""
    reflections_to_come: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """What the workers' models took since the session was opened, as the vendors counted it."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None when the price of any request is not known."""

    def plus(self, exchange: Exchange) -> Spent:
        known = self.cost is not None and exchange.cost is not None
        return Spent(
            self.requests + exchange.requests,
            self.prompt_tokens + exchange.prompt_tokens,
            self.completion_tokens + exchange.completion_tokens,
            (self.cost or 0.0) + (exchange.cost or 0.0) if known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStatus:
    """The ledger at one moment. Sizes are in tokens."""

    state: LedgerState = field(default_factory=LedgerState)
    shown: tuple[Bullet, ...] = ()
    """The bullets in the view that stand for records, in the order in which a prompt reads them."""
    mode: CompactionMode
    observe: Gauge
    """Text that has not been observed, against what wakes the observer."""
    reflect: Gauge
    compact: Gauge
    """Text that stands word for word, against what has it compacted ahead of need."""
    pool: Gauge
    """Observations in the view, against the size at which the ledger is folded anew."""
    live_pool: Gauge
    """Live observations, against the size above which some are retired."""
    running: Stage | None = None
    """Whose model is being asked right now."""
    errors: Mapping[Stage, str] = field(default_factory=dict)
    """The last failure of each worker that has not worked since."""
    spent: Spent = Spent()
    passive: bool = False
    asleep: str | None = None
    """Why nothing is recorded although Otto is not passive, as a sentence."""

    @property
    def reflection_tokens(self) -> int:
        return sum(made.tokens for made in self.state.reflections.values())

    @property
    def drift(self) -> Drift:
        """What the next full fold will change in the view."""
        shown = {bullet.id for bullet in self.shown}
        return Drift(
            tuple(id for id in self.state.observations if id not in shown),
            tuple(
                bullet.id
                for bullet in self.shown
                if bullet.form == "observation" and bullet.id not in self.state.observations
            ),
            tuple(id for id in self.state.reflections if id not in shown),
        )


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """A session's live memory and its ledger at one moment."""

    memory: MemorySnapshot
    ledger: LedgerStatus


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A record as a person reads it."""

    id: str
    kind: Literal["reflection", "observation"]
    text: str
    """``[id] ...``, on one line."""
    sign: Literal["", "+", "-"] = ""
    """In a comparison: ``+`` is in the ledger only, ``-`` in the view only, nothing in both."""


def record_bullets(bullets: Iterable[Bullet]) -> tuple[Bullet, ...]:
    """Those of ``bullets`` that stand for records of the ledger."""
    return tuple(bullet for bullet in bullets if bullet.form in RECORD_FORMS)


def full_view(state: LedgerState) -> list[RecordLine]:
    """The ledger's truth: all reflections, then all live observations, each oldest first."""
    return [
        *(RecordLine(made.id, "reflection", reflection_line(made)) for made in state.reflections.values()),
        *(RecordLine(made.id, "observation", observation_line(made)) for made in state.observations.values()),
    ]


def view_diff(status: LedgerStatus) -> list[RecordLine]:
    """The ledger's truth with what the view lacks marked ``+``, and after it what only the view has, marked ``-``."""
    shown = {bullet.id for bullet in status.shown}
    gone = set(status.drift.observations_gone)
    truth = [
        line if line.id in shown else RecordLine(line.id, line.kind, line.text, "+") for line in full_view(status.state)
    ]
    return [*truth, *_only_shown(status.shown, gone)]


def _only_shown(shown: Sequence[Bullet], gone: set[str]) -> list[RecordLine]:
    return [
        RecordLine(bullet.id, "observation", f"[{bullet.id}] {' '.join(bullet.text.split())}", "-")
        for bullet in shown
        if bullet.id in gone
    ]
