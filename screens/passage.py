"""Text to be read: blocks of toned text, wrapped, drawn only where in sight, selectable with the mouse."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from screens.painting import TONE_CLASSES, TONE_CSS, Line, Part, Tone, painted, plain, text_of
from screens.wrapping import wrapped


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text with one tone. A heading starts a part that the keys n and p jump to."""

    text: str
    """Has passed ``displayable``."""
    tone: Tone = "plain"
    indent: int = 0
    heading: bool = False
    label: str = ""
    """Stands before the first line; the other lines are indented as far."""

    label_tone: Tone = "muted"


class Passage(ScrollView, can_focus=True, inherit_bindings=False):
    """Blocks of text under each other. Keeps its place when they change, and its end if it was at the end."""

    BINDING_GROUP_TITLE = "Reading"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "jump(1)", "Next part", show=False),
        Binding("p", "jump(-1)", "Previous part", show=False),
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown,space", "page_down", "Page down", show=False),
        Binding("home", "scroll_home", "Start", show=False),
        Binding("end", "scroll_end", "End", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    DEFAULT_CSS = (
        """
    Passage {
        height: 1fr;
        padding-right: 1;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    """
        + TONE_CSS
        + "}"
    )

    def __init__(self, *, empty: str = "Nothing here yet.", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.empty = empty
        self._blocks: Sequence[Block] = ()
        self._lines: list[Line] = []
        self._headings: list[int] = []
        self._wrapped_width = 0

    @property
    def blocks(self) -> Sequence[Block]:
        return self._blocks

    @property
    def text(self) -> str:
        """All of it, as it is wrapped now."""
        return "\n".join(text_of(line) for line in self._lines)

    @property
    def part(self) -> int:
        """Index of the heading whose part stands at the top; 0 when there is none."""
        return max(bisect_right(self._headings, self.scroll_offset.y) - 1, 0)

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        at_end = self.max_scroll_y > 0 and self.scroll_offset.y >= self.max_scroll_y
        self._blocks = blocks
        self._wrap()
        self.refresh_bindings()
        if at_end:
            self.scroll_end(animate=False)
        self.refresh()

    def action_jump(self, step: int) -> None:
        """To the next or previous heading."""
        top = self.scroll_offset.y
        if step > 0:
            ahead = [line for line in self._headings if line > top]
            target = ahead[0] if ahead else self.virtual_size.height
        else:
            behind = [line for line in self._headings if line < top]
            target = behind[-1] if behind else 0
        self.scroll_to(y=target, animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return len(self._headings) > 1 if action == "jump" else True

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._wrapped_width:
            self._rewrap_in_place()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract(self.text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if not self._blocks:
            lines = wrapped(self.empty, width)
            return painted(self, plain(lines[y], "muted") if y < len(lines) else (), width)
        number = y + self.scroll_offset.y
        if number >= len(self._lines):
            return painted(self, (), width)
        selection = self.text_selection
        selected = None if selection is None else selection.get_span(number)
        strip = painted(self, self._lines[number], width, selected=selected)
        return strip.apply_offsets(0, number)

    def _rewrap_in_place(self) -> None:
        """The part at the top stays at the top when the width changes."""
        part, height = self.part, self.virtual_size.height
        share = self.scroll_offset.y / height if height else 0.0
        self._wrap()
        if self._headings and self.scroll_offset.y:
            self.scroll_to(y=self._headings[part], animate=False)
        elif share:
            self.scroll_to(y=share * self.virtual_size.height, animate=False)

    def _wrap(self) -> None:
        width = self._wrapped_width = self.scrollable_content_region.width
        self._lines, self._headings = [], []
        if not width:
            return
        for block in self._blocks:
            if block.heading:
                self._headings.append(len(self._lines))
            self._lines.extend(_lines_of(block, width))
        self.virtual_size = Size(width, len(self._lines))


def _lines_of(block: Block, width: int) -> list[Line]:
    room = width - block.indent - len(block.label)
    margin = " " * block.indent
    lines: list[Line] = []
    for number, text in enumerate(wrapped(block.text, room)):
        before = block.label if number == 0 else " " * len(block.label)
        shown = Part(text, block.tone)
        if not margin and not block.label:
            lines.append((shown,))
        else:
            lines.append((Part(margin + before, block.label_tone), shown))
    return lines
