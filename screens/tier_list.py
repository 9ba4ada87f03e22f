"""The rows of the memory tab: X, Y's raw overflow and Y's bullets, newest first, as one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.values import Bullet, BulletForm, Item, MemorySnapshot, Voices
from screens.painting import Line, Part, Tone, padded
from screens.row_list import Row
from screens.wording import age, brief, counted, grouped
from screens.wrapping import shortened
from sessions.display import one_line

COLUMNS_FROM = 60
"""Columns from which an item is one line."""

BULLET_COLUMNS_FROM = 90
"""Columns from which a bullet is, which tells more."""

_BULLET_MARK: Mapping[BulletForm, str] = {
    "whole": "word for word",
    "excerpt": "excerpt",
    "summary": "summary",
    "group": "group",
    "observation": "observation",
    "reflection": "reflection",
}

_NAME_WIDTH = 14

_TEXT_LIMIT = 400
"""Characters of an item that a row can use at most."""


@dataclass(frozen=True, slots=True)
class HeadingRow:
    """Says which tier the rows below it stand in."""

    key: str
    title: str
    count: int
    noun: str
    tokens: int
    tone: Tone
    selectable: bool = False

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        count = counted(self.count, self.noun) if width >= COLUMNS_FROM else grouped(self.count)
        detail = Part(f"{count} · {grouped(self.tokens)} tok", "muted")
        return (padded((Part(self.title, self.tone),), (detail,), width),)


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An event that stands raw in X or Y."""

    item: Item
    now: Callable[[], datetime]

    @property
    def key(self) -> str:
        return self.item.event.id

    @property
    def selectable(self) -> bool:
        return True

    def height(self, width: int) -> int:
        return 1 if width >= COLUMNS_FROM else 2

    def lines(self, width: int) -> Sequence[Line]:
        item, event = self.item, self.item.event
        marks = [Part("protected")] if event.protected else []
        if item.excerpt:
            marks.append(Part(" excerpt" if marks else "excerpt", "warning"))
        return _drawn(
            tier=Part("X  " if item.tier == "x" else "Y  ", "x" if item.tier == "x" else "y"),
            who=_short_name(event.speaker),
            tokens=item.tokens,
            when=age(event.t_event, self.now()),
            text=one_line(_visible_text(item), _TEXT_LIMIT),
            marks=marks,
            width=width,
        )


@dataclass(frozen=True, slots=True)
class BulletRow:
    """A line in Y that stands for events that have left the raw tiers."""

    bullet: Bullet
    voices: Voices | None
    now: Callable[[], datetime]

    @property
    def key(self) -> str:
        return self.bullet.id

    @property
    def selectable(self) -> bool:
        return True

    def height(self, width: int) -> int:
        return 1 if width >= BULLET_COLUMNS_FROM else 2

    def lines(self, width: int) -> Sequence[Line]:
        bullet = self.bullet
        form = Part(_BULLET_MARK[bullet.form], "warning" if bullet.form == "excerpt" else "muted")
        marks = [form]
        if bullet.protected:
            marks = [Part("protected")] if bullet.form == "whole" else [Part("protected "), form]
        return _drawn(
            tier=Part("Y• ", "y"),
            who=_names(self.voices),
            tokens=bullet.tokens,
            when="" if self.voices is None else age(self.voices.newest, self.now()),
            origin=f"gen {bullet.generation} · {counted(len(bullet.hash_refs), 'ref')}",
            text=one_line(bullet.text[: 4 * _TEXT_LIMIT], _TEXT_LIMIT),
            marks=marks,
            width=width,
        )


def tier_rows(memory: MemorySnapshot, now: Callable[[], datetime]) -> list[Row]:
    """Every row of the memory tab. What is newest stands on top and sinks."""
    bullet_tokens = sum(bullet.tokens for bullet in memory.bullets)
    raw_tokens = sum(item.tokens for item in memory.overflow)
    rows: list[Row] = [_heading("X  word for word", len(memory.recent), "item", memory.x_tokens, "x")]
    rows.extend(ItemRow(item, now) for item in reversed(memory.recent))
    if memory.overflow:
        rows.append(_heading("Y  not yet compacted", len(memory.overflow), "item", raw_tokens, "y"))
        rows.extend(ItemRow(item, now) for item in reversed(memory.overflow))
    if memory.bullets:
        rows.append(_heading("Y• bullets", len(memory.bullets), "bullet", bullet_tokens, "y"))
        rows.extend(BulletRow(bullet, memory.voices.get(bullet.id), now) for bullet in reversed(memory.bullets))
    return rows


def _heading(title: str, count: int, noun: str, tokens: int, tone: Tone) -> HeadingRow:
    return HeadingRow(f"heading {title}", title, count, noun, tokens, tone)


def _drawn(
    *,
    tier: Part,
    who: str,
    tokens: int,
    when: str,
    text: str,
    marks: Sequence[Part],
    width: int,
    origin: str = "",
) -> Sequence[Line]:
    if width >= (BULLET_COLUMNS_FROM if origin else COLUMNS_FROM):
        columns = Part(f"{who:<{_NAME_WIDTH}} {brief(tokens):>6} tok {when:>6}  ", "muted")
        behind = (Part(f"{origin}  ", "muted"),) if origin else ()
        gap = (Part(" "),) if marks else ()
        return (padded((tier, columns, *behind, Part(text)), (*gap, *marks), width),)
    spoken = [who, when]
    facts = [origin, f"{brief(tokens)} tok"] if origin else [who, f"{brief(tokens)} tok", when]
    head = Part(" · ".join(fact for fact in facts if fact), "muted")
    speaker = ", ".join(fact for fact in spoken if fact) + ": " if origin and any(spoken) else ""
    indent = "   "
    return (
        padded((tier, head), marks, width),
        (Part(indent + speaker, "muted"), Part(shortened(text, width - len(indent) - len(speaker)))),
    )


def _visible_text(item: Item) -> str:
    """The start of what the model reads of it."""
    text = item.event.text
    if item.spans is not None:
        text = " … ".join(text[start : min(end, start + _TEXT_LIMIT)] for start, end in item.spans[:4])
    return text[: 4 * _TEXT_LIMIT]


def _short_name(speaker: str) -> str:
    """A model's own name, without the vendor's before it."""
    return shortened(one_line(speaker.rsplit("/", 1)[-1][:200], 100), _NAME_WIDTH)


def _names(voices: Voices | None) -> str:
    """One speaker's name, or how many there are; ``you`` is always said."""
    if voices is None or not voices.speakers:
        return ""
    if len(voices.speakers) == 1:
        return _short_name(voices.speakers[0])
    others = len(voices.speakers) - ("you" in voices.speakers)
    return f"you + {others}" if "you" in voices.speakers else f"{others} speakers"
