"""Lines of toned text, and how a widget that draws line by line turns them into what the terminal gets.

A tone says what a piece of text is; the theme says what colour that has. Every tone is said in words or signs as well,
so that nothing is lost without colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rich.cells import cell_len
from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from screens.wrapping import shortened

Tone = Literal["plain", "strong", "muted", "x", "y", "warning", "bad", "struck"]

TONES: tuple[Tone, ...] = ("plain", "strong", "muted", "x", "y", "warning", "bad", "struck")

TONE_CLASSES = frozenset(f"tone--{tone}" for tone in TONES)

TONE_CSS = """
    & > .tone--strong { text-style: bold; }
    & > .tone--muted { color: $text-muted; &:ansi { text-style: dim; } }
    & > .tone--x { color: $text-primary; }
    & > .tone--y { color: $text-success; }
    & > .tone--warning { color: $text-warning; }
    & > .tone--bad { color: $text-error; }
    & > .tone--struck { color: $text-muted; text-style: strike; }
"""
"""Goes into the ``DEFAULT_CSS`` of a widget that paints lines."""


class Part(NamedTuple):
    """A piece of a line. The text has passed ``displayable`` and holds no newline."""

    text: str
    tone: Tone = "plain"


Line = tuple[Part, ...]


def plain(text: str, tone: Tone = "plain") -> Line:
    return (Part(text, tone),)


def text_of(line: Line) -> str:
    return "".join(part.text for part in line)


def painted(
    widget: Widget,
    line: Line,
    width: int,
    *,
    under: str | None = None,
    selected: tuple[int, int] | None = None,
) -> Strip:
    """``line`` as exactly ``width`` cells in the colours of ``widget``.

    ``under`` is a component class laid over the whole line, whose colour wins over the tones (the row cursor).
    ``selected`` is a range of characters marked by the mouse.
    """
    base = widget.get_visual_style(under) if under else widget.get_visual_style()
    content = Content(text_of(line), _spans(widget, line, under), strip_control_codes=True)
    if selected is not None:
        start, end = selected
        marked = widget.screen.get_visual_style("screen--selection", partial=True)
        content = content.stylize(marked, start, len(content) if end == -1 else end)
    strip = Strip(content.render_segments(base))
    return strip.adjust_cell_length(width, base.rich_style)


def padded(left: Sequence[Part], right: Sequence[Part], width: int) -> Line:
    """``left`` and ``right`` at the two ends of a line; the left gives way where they do not both fit."""
    right_cells = sum(cell_len(part.text) for part in right)
    room = width - right_cells - (1 if right else 0)
    kept: list[Part] = []
    for part in left:
        if room <= 0:
            break
        text = shortened(part.text, room)
        kept.append(Part(text, part.tone))
        room -= cell_len(text)
    return (*kept, Part(" " * (max(room, 0) + (1 if right else 0))), *right)


def _spans(widget: Widget, line: Line, under: str | None) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for part in line:
        end = at + len(part.text)
        if part.tone != "plain":
            if under is None:
                spans.append(Span(at, end, widget.get_visual_style(f"tone--{part.tone}")))
            elif part.tone == "strong":
                spans.append(Span(at, end, Style(bold=True)))
            elif part.tone == "struck":
                spans.append(Span(at, end, Style(strike=True)))
        at = end
    return spans
