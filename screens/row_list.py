"""A list that draws only the rows in sight, so that thousands of them cost what a screenful costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Protocol

from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.painting import TONE_CLASSES, TONE_CSS, Line, painted, plain
from screens.wrapping import wrapped


class Row(Protocol):
    """What a list needs to know of one row."""

    @property
    def key(self) -> str:
        """Names the row among its list's rows; the cursor stays on it when the rows change."""

    @property
    def selectable(self) -> bool:
        """False for a heading, which the cursor skips."""

    def height(self, width: int) -> int:
        """Lines that the row takes at this width."""

    def lines(self, width: int) -> Sequence[Line]:
        """As many lines as ``height`` says."""


class RowList(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows with a cursor. Enter or a click opens one; with ``open_on_click=False`` it takes a second click."""

    ALLOW_SELECT = False
    BINDING_GROUP_TITLE = "Lists"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open"),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "first", "First", show=False),
        Binding("end", "last", "Last", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor", "row-list--hover", *TONE_CLASSES}

    DEFAULT_CSS = (
        """
    RowList {
        height: 1fr;
        padding-right: 1;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .row-list--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
        }
        & > .row-list--hover { background: $block-hover-background; }
        &:focus > .row-list--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
        }
    """
        + TONE_CSS
        + "}"
    )

    cursor: reactive[int | None] = reactive(None)
    """Index of the row under the cursor; None while no row can be selected."""

    hover: reactive[int | None] = reactive(None)

    @dataclass
    class Moved(Message):
        """The cursor stands on another row, or on none."""

        list: RowList
        row: Row | None

        @property
        def control(self) -> RowList:
            return self.list

    @dataclass
    class Opened(Message):
        """A row was opened."""

        list: RowList
        row: Row

        @property
        def control(self) -> RowList:
            return self.list

    def __init__(
        self,
        *,
        empty: str = "Nothing here yet.",
        open_on_click: bool = True,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.empty = empty
        self.open_on_click = open_on_click
        self._rows: Sequence[Row] = ()
        self._ends: list[int] = []
        self._drawn: LRUCache[int, Sequence[Line]] = LRUCache(512)
        self._measured_width = 0

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return None if self.cursor is None else self._rows[self.cursor]

    @property
    def drawn_rows(self) -> int:
        """How many rows have been laid out since they were set: those in sight, and those that were."""
        return len(self._drawn)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows. The cursor stays on its row, and that row where it is on the screen."""
        old, old_top = self.current, self._top_of(self.cursor)
        offset = old_top - self.scroll_offset.y
        resting = self.cursor is None or self.cursor == self._next_selectable(-1, 1)
        with self.prevent(RowList.Moved):
            self.cursor = None
            self._rows = rows
            self._measure()
            if not resting or self.scroll_offset.y > 0:
                self.cursor = self._index_of(old.key if old else None)
            if self.cursor is None:
                self.cursor = self._next_selectable(-1, 1)
        if resting and self.scroll_offset.y == 0:
            self.scroll_to(y=0, animate=False)
        else:
            self.scroll_to(y=max(self._top_of(self.cursor) - offset, 0), animate=False)
        if self.current is None or old is None or self.current.key != old.key:
            self.post_message(self.Moved(self, self.current))
        self.refresh()

    def select_key(self, key: str) -> bool:
        """Put the cursor on the row of this key and show it; False if there is none."""
        index = self._index_of(key)
        if index is None:
            return False
        self.cursor = index
        return True

    def redraw(self) -> None:
        """Draw anew what depends on more than the rows, such as an age."""
        self._drawn.clear()
        self.refresh()

    # keys and mouse

    def action_move(self, step: int) -> None:
        if self.cursor is None:
            self.scroll_relative(y=step, animate=False)
            return
        index = self._next_selectable(self.cursor, step)
        if index is None:
            self.scroll_to(y=0 if step < 0 else self.virtual_size.height, animate=False)
        else:
            self.cursor = index

    def action_page(self, direction: int) -> None:
        if self.cursor is None:
            self.scroll_relative(y=direction * self.size.height, animate=False)
            return
        line = self._top_of(self.cursor) + direction * max(self.size.height - 1, 1)
        target = self._row_at(min(max(line, 0), max(self.virtual_size.height - 1, 0)))
        if target is not None:
            nearest = target if self._rows[target].selectable else self._next_selectable(target, direction)
            self.cursor = nearest if nearest is not None else self._next_selectable(target, -direction)

    def action_first(self) -> None:
        self.cursor = self._next_selectable(-1, 1)
        self.scroll_to(y=0, animate=False)

    def action_last(self) -> None:
        self.cursor = self._next_selectable(len(self._rows), -1)
        self.scroll_to(y=self.virtual_size.height, animate=False)

    def action_open(self) -> None:
        if self.current is not None:
            self.post_message(self.Opened(self, self.current))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        index = self._row_at(event.y + self.scroll_offset.y)
        if index is None or not self._rows[index].selectable:
            return
        self.cursor = index
        if self.open_on_click or event.chain == 2:
            self.action_open()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        index = self._row_at(event.y + self.scroll_offset.y)
        self.hover = index if index is not None and self._rows[index].selectable else None

    def on_leave(self) -> None:
        self.hover = None

    # state

    def watch_cursor(self, old: int | None, new: int | None) -> None:
        self._refresh_row(old)
        self._refresh_row(new)
        if new is not None and self.is_mounted:
            self._show_row(new)
            self.post_message(self.Moved(self, self._rows[new]))

    def watch_hover(self, old: int | None, new: int | None) -> None:
        self._refresh_row(old)
        self._refresh_row(new)

    def on_resize(self) -> None:
        self._measure()
        if self.cursor is not None:
            self._show_row(self.cursor)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    # drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if width != self._measured_width:
            self._measure()
        line_number = y + self.scroll_offset.y
        index = self._row_at(line_number)
        if index is None:
            return self._line_below(y, width)
        lines = self._lines_of(index)
        line = lines[line_number - self._top_of(index)]
        # An empty line is a gap between rows, not a part of one.
        return painted(self, line, width, under=self._laid_over(index) if line else None)

    def _line_below(self, y: int, width: int) -> Strip:
        lines = wrapped(self.empty, width) if not self._rows else []
        line = plain(lines[y], "muted") if y < len(lines) else ()
        return painted(self, line, width)

    def _laid_over(self, index: int) -> str | None:
        if index == self.cursor:
            return "row-list--cursor"
        return "row-list--hover" if index == self.hover else None

    def _lines_of(self, index: int) -> Sequence[Line]:
        lines = self._drawn.get(index)
        if lines is None:
            lines = self._rows[index].lines(self._measured_width)
            self._drawn[index] = lines
        return lines

    # where rows are

    def _measure(self) -> None:
        width = self._measured_width = self.scrollable_content_region.width
        self._drawn.clear()
        self._ends = list(accumulate(row.height(width) for row in self._rows)) if width else []
        self.virtual_size = Size(width, self._ends[-1] if self._ends else 0)

    def _top_of(self, index: int | None) -> int:
        return self._ends[index - 1] if index and index <= len(self._ends) else 0

    def _row_at(self, line: int) -> int | None:
        index = bisect_right(self._ends, line)
        return index if line >= 0 and index < len(self._ends) else None

    def _index_of(self, key: str | None) -> int | None:
        if key is None:
            return None
        return next((n for n, row in enumerate(self._rows) if row.selectable and row.key == key), None)

    def _next_selectable(self, index: int, step: int) -> int | None:
        index += step
        while 0 <= index < len(self._rows):
            if self._rows[index].selectable:
                return index
            index += step
        return None

    def _refresh_row(self, index: int | None) -> None:
        if index is not None and index < len(self._ends):
            top = self._top_of(index)
            self.refresh_lines(top, self._ends[index] - top)

    def _show_row(self, index: int) -> None:
        if index >= len(self._ends):
            return
        top = self._top_of(index)
        # The heading above the first rows comes into sight with them.
        if index == self._next_selectable(-1, 1):
            top = 0
        self.scroll_to_region(Region(0, top, 1, self._ends[index] - top), animate=False, force=True, immediate=True)
