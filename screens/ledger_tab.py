"""The rows of the ledger tab: clocks and watermarks, conclusions, observations by relevance, and what was dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.observations import RELEVANCES, Observation, Reflection
from screens.gauges import bar
from screens.ledger_words import NOTHING_RECORDED, WORKERS, drift_words, worker_state
from screens.painting import Line, Part, Tone, padded
from screens.row_list import Row
from screens.tier_list import COLUMNS_FROM, HeadingRow
from screens.wording import brief, counted, grouped
from screens.wrapping import shortened, wrapped
from sessions.display import displayable, one_line

if TYPE_CHECKING:
    from memory.values import MemorySnapshot
    from sessions.observing.clocks import Gauge
    from sessions.observing.status import LedgerStatus

_NAME_WIDTH = 11

_TEXT_LIMIT = 400
"""Characters of a record that a row can use at most."""


@dataclass(frozen=True, slots=True)
class GaugeRow:
    """How far a clock or a watermark has come, on one line at any width."""

    name: str
    share: float
    tone: Tone
    amount: str
    short_amount: str
    """For where there is little room."""
    selectable: bool = False

    @property
    def key(self) -> str:
        return f"gauge {self.name}"

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        name = Part(f"{self.name:<{_NAME_WIDTH}}", "strong")
        amount = f"  {self.amount:>30}" if width >= COLUMNS_FROM else f" {self.short_amount:>18}"
        room = max(width - len(name.text) - len(amount), 0)
        return ((name, *bar(self.share, self.tone, self.share >= 1 and self.tone == "y", room), Part(amount)),)


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """Something about the ledger as a whole."""

    key: str
    text: str
    tone: Tone = "muted"
    selectable: bool = False

    def height(self, width: int) -> int:
        return len(self._wrapped(width))

    def lines(self, width: int) -> Sequence[Line]:
        return tuple((Part(line, self.tone),) for line in self._wrapped(width))

    def _wrapped(self, width: int) -> Sequence[str]:
        return wrapped(displayable(self.text), max(width, 1))


@dataclass(frozen=True, slots=True)
class RecordRow:
    """An observation or a reflection; enter opens what it rests on."""

    record: Observation | Reflection
    mark: str
    """Where it stands: ``in view``, ``to come``, ``dropped``."""
    dropped: bool = False
    selectable: bool = True

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def key(self) -> str:
        return f"{'reflection' if isinstance(self.record, Reflection) else 'observation'} {self.record.id}"

    def height(self, width: int) -> int:
        return 1 if width >= COLUMNS_FROM else 2

    def lines(self, width: int) -> Sequence[Line]:
        facts = Part(f"{_when(self.record)}{_behind(self.record)}", "muted")
        mark = Part(self.mark, "warning" if self.dropped else "muted")
        said = one_line(self.record.content[: 4 * _TEXT_LIMIT], _TEXT_LIMIT)
        tone: Tone = "struck" if self.dropped else "plain"
        if width >= COLUMNS_FROM:
            return (padded((Part(f"{facts.text:<27}  ", "muted"), Part(said, tone)), (Part(" "), mark), width),)
        short = Part(self.mark.split(",")[0], mark.tone)
        return (padded((facts,), (short,), width), (Part("   "), Part(shortened(said, max(width - 3, 1)), tone)))


def ledger_rows(ledger: LedgerStatus, newest: int) -> list[Row]:
    """Every row of the tab. ``newest`` is the ``seq`` of the last event that stands in the view."""
    rows: list[Row] = [*_gauges(ledger, newest), *_sentences(ledger)]
    rows.extend(_reflections(ledger))
    rows.extend(_observations(ledger))
    rows.extend(_dropped(ledger))
    return rows


def newest_of(memory: MemorySnapshot) -> int:
    """The ``seq`` of the last event that stands in a tier, or behind a bullet."""
    raw = (item.event.seq for item in (*memory.overflow, *memory.recent))
    return max((*raw, *(bullet.seqs[-1] for bullet in memory.bullets if bullet.seqs)), default=0)


def _gauges(ledger: LedgerStatus, newest: int) -> Iterator[Row]:
    yield _clock("observer", ledger.observe)
    yield _clock("reflector", ledger.reflect)
    yield _clock("compaction", ledger.compact)
    yield _clock("pool", ledger.pool, beyond="full")
    state = ledger.state
    for name, through in (
        ("observed", state.observed_through),
        ("reflected", state.reflected_through),
        ("dropped", state.dropped_through),
    ):
        says = f"no. {grouped(through)} of {grouped(newest)}"
        yield GaugeRow(name, through / newest if newest else 0.0, "x", f"through {says}", says)


def _clock(name: str, gauge: Gauge, *, beyond: str = "due") -> GaugeRow:
    share = gauge.tokens / gauge.threshold if gauge.threshold else 0.0
    said = f" {beyond}" if gauge.due else ""
    short = f"{brief(gauge.tokens)} of {brief(gauge.threshold)}{said}"
    return GaugeRow(name, share, "y", f"{grouped(gauge.tokens)} of {grouped(gauge.threshold)} tokens{said}", short)


def _sentences(ledger: LedgerStatus) -> Iterator[Row]:
    yield SentenceRow("workers", f"Workers: {worker_state(ledger)}.")
    for stage, error in ledger.errors.items():
        yield SentenceRow(f"error {stage}", f"! The {WORKERS[stage]} failed: {error}", "warning")
    if ledger.state.empty:
        yield SentenceRow("empty", NOTHING_RECORDED)
    else:
        yield SentenceRow("drift", f"Drift: {drift_words(ledger)}.")


def _reflections(ledger: LedgerStatus) -> Iterator[Row]:
    made = list(ledger.state.reflections.values())
    if made:
        yield _heading("Reflections", made)
        shown = {bullet.id for bullet in ledger.shown}
        yield from (RecordRow(one, "in view" if one.id in shown else "to come") for one in reversed(made))


def _observations(ledger: LedgerStatus) -> Iterator[Row]:
    shown = {bullet.id for bullet in ledger.shown}
    for relevance in reversed(RELEVANCES):
        made = [one for one in ledger.state.observations.values() if one.relevance == relevance]
        if made:
            yield _heading(relevance.capitalize(), made)
            yield from (RecordRow(one, "in view" if one.id in shown else "to come") for one in reversed(made))


def _dropped(ledger: LedgerStatus) -> Iterator[Row]:
    made = list(ledger.state.dropped.values())
    if made:
        yield _heading("Dropped", made)
        gone = set(ledger.drift.observations_gone)
        yield from (
            RecordRow(one, "dropped, in view still" if one.id in gone else "dropped", dropped=True)
            for one in reversed(made)
        )


def _heading(title: str, made: Sequence[Observation | Reflection]) -> HeadingRow:
    tokens = sum(one.tokens for one in made)
    return HeadingRow(f"heading {title}", title, len(made), "record", tokens, "y")


def _when(record: Observation | Reflection) -> str:
    return "" if isinstance(record, Reflection) else f"{displayable(record.timestamp, keep_newlines=False)} "


def _behind(record: Observation | Reflection) -> str:
    if isinstance(record, Reflection):
        return counted(len(record.supports), "support")
    return counted(len(record.sources), "source")
