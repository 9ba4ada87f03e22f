"""What recall found, as rows that wrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.values import RecallItem, RecallResult
from screens.painting import Line, Part, Tone, padded
from screens.wording import counted, grouped, moment_of
from screens.wrapping import wrapped
from sessions.display import displayable, one_line

SHOWN = 4_000
"""Characters of one result that the list shows; opening it shows all."""

_INDENT = 2


@dataclass(frozen=True)
class ResultRow:
    """One exact piece of text: when, who, how well it matched, and the words."""

    item: RecallItem
    now: datetime
    selectable: bool = True
    _wraps: dict[int, list[str]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def key(self) -> str:
        return self.item.chunk

    def height(self, width: int) -> int:
        return len(self._wrapped(width)) + 2

    def lines(self, width: int) -> Sequence[Line]:
        item = self.item
        when = f"{moment_of(item.t_event, self.now)}  "
        who = one_line(item.speaker.rsplit("/", 1)[-1][:400], 40)
        kind = "" if item.kind == "message" else f"{one_line(item.kind[:100], 20)} "
        tone: Tone = "muted" if item.neighbour else "plain"
        rank = "beside a hit" if item.neighbour else f"score {item.score:.3f}"
        head = padded(
            (Part(when, "muted"), Part(kind + who, "muted" if item.neighbour else "strong")),
            (Part(rank, "muted" if item.neighbour else "x"),),
            width,
        )
        margin = Part(" " * _INDENT)
        return (head, *((margin, Part(line, tone)) for line in self._wrapped(width)), ())

    def _wrapped(self, width: int) -> list[str]:
        if width not in self._wraps:
            self._wraps.clear()
            self._wraps[width] = wrapped(_shown_text(self.item.text), width - _INDENT)
        return self._wraps[width]


def result_rows(result: RecallResult, now: datetime) -> list[ResultRow]:
    return [ResultRow(item, now) for item in result.items]


def result_summary(result: RecallResult) -> str:
    """How many were found and how they were ranked."""
    ranked = displayable(result.ranked_by, keep_newlines=False)
    beside = sum(1 for item in result.items if item.neighbour)
    hits = counted(len(result.items) - beside, "hit")
    return f"{hits}, {grouped(beside)} beside them · ranked by {ranked} · {grouped(result.tokens)} tokens"


def _shown_text(text: str) -> str:
    text = text.strip("\n")
    if len(text) <= SHOWN:
        return displayable(text)
    more = grouped(len(text) - SHOWN)
    return f"{displayable(text[:SHOWN])}\n[{more} more characters: open it to read them all]"
