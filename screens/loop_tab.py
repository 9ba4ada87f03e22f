"""The rows of the loop tab: how long the transcript of a turn is, what was cut from it, and every call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screens.ledger_tab import GaugeRow, SentenceRow
from screens.painting import Line, Part, Tone, padded
from screens.row_list import Row
from screens.tier_list import COLUMNS_FROM
from screens.wording import brief, counted, grouped
from screens.wrapping import shortened
from sessions.display import one_line

if TYPE_CHECKING:
    from sessions.loop_status import LoopCall, LoopStatus

NO_LOOP = "No tool has been called yet. What the model calls in a turn stands here, and what was cut of it."

_NAME_WIDTH = 16


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call; enter opens what it printed, whole."""

    call: LoopCall
    number: int
    selectable: bool = True

    @property
    def key(self) -> str:
        return f"call {self.call.call}"

    def height(self, width: int) -> int:
        return 1 if width >= COLUMNS_FROM else 2

    def lines(self, width: int) -> Sequence[Line]:
        call = self.call
        state, tone = _state(call)
        size = f"{brief(call.size)} chars  " if call.ended else ""
        name = one_line(call.name, 60)
        said = one_line(call.summary[:1_600], 400)
        head = Part(f"{self.number:>3}  ", "muted")
        marks = (Part(size, "muted"), Part(state, tone))
        if width >= COLUMNS_FROM:
            column = f"{shortened(name, _NAME_WIDTH):<{_NAME_WIDTH}}  "
            return (padded((head, Part(column, "strong"), Part(said)), marks, width),)
        return (
            padded((head, Part(name, "strong")), marks, width),
            (Part("     "), Part(shortened(said, max(width - 5, 1)))),
        )


def loop_rows(loop: LoopStatus) -> list[Row]:
    """Every row of the tab, the newest call first."""
    if not loop.calls and not loop.made:
        return []
    rows: list[Row] = [*_amounts(loop)]
    most = f", at most {loop.max_calls:,}" if loop.max_calls else ""
    rows.append(SentenceRow("calls", f"Calls, newest first{most}", "x"))
    made = list(enumerate(loop.made, start=1))
    rows.extend(CallRow(call, number) for number, call in reversed(made))
    return rows


def _amounts(loop: LoopStatus) -> Iterator[Row]:
    share = loop.standing / loop.compact_at if loop.compact_at else 0.0
    amount = f"{grouped(loop.standing)} of {grouped(loop.compact_at)} chars"
    yield GaugeRow("output", min(share, 1.0), "x", amount, f"{brief(loop.standing)} of {brief(loop.compact_at)}")
    turn = "The turn under way" if loop.running else "The last turn"
    yield SentenceRow("requests", f"{turn}: {counted(loop.requests, 'request')}, {counted(len(loop.made), 'call')}.")
    if not loop.cuts:
        yield SentenceRow("cuts", f"Nothing was cut: the transcript is {grouped(loop.chars_after)} characters.")
    else:
        yield SentenceRow(
            "cuts",
            f"{counted(loop.cuts, 'cut')} took {counted(loop.evicted, 'result')} down to one line each:"
            f" {grouped(loop.chars_before)} characters have become {grouped(loop.chars_after)}."
            " The tape has all of it.",
        )
    if loop.prefix_breaks:
        yield SentenceRow(
            "prefix",
            f"{counted(loop.prefix_breaks, 'request')} could not begin like the one before, which a vendor's cache pays"
            " for.",
        )
    else:
        yield SentenceRow(
            "prefix", "Every request began with the whole of the one before, as a vendor's cache likes it."
        )


def _state(call: LoopCall) -> tuple[str, Tone]:
    if not call.ended:
        return "running …", "x"
    if call.evicted:
        return "one line", "muted"
    return ("whole", "y") if call.ok else ("failed", "warning")
