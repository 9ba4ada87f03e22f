"""The list of sessions with the names of its columns above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.strip import Strip
from textual.widget import Widget

from screens.painting import TONE_CLASSES, TONE_CSS, Part, painted
from screens.row_list import RowList
from screens.session_rows import COLUMNS_FROM, SessionLine, columns


class SessionTable(Widget):
    """Any number of sessions; only those in sight are drawn."""

    DEFAULT_CSS = """
    SessionTable { layout: vertical; height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        yield ColumnNames()
        yield RowList(id="session-rows", empty="Reading the sessions …", open_on_click=False)

    def on_resize(self) -> None:
        self.query_one(ColumnNames).display = self.list.size.width > COLUMNS_FROM

    @property
    def list(self) -> RowList:
        return self.query_one(RowList)

    @property
    def current(self) -> SessionLine | None:
        row = self.list.current
        return row if isinstance(row, SessionLine) else None

    def neighbour_of(self, id: str) -> str | None:
        """The session below this one, or above it if it is the last."""
        ids = [row.key for row in self.list.rows]
        if id not in ids or len(ids) < 2:
            return None
        at = ids.index(id)
        return ids[at + 1] if at + 1 < len(ids) else ids[at - 1]

    def show(self, lines: Sequence[SessionLine], *, empty: str) -> None:
        self.list.empty = empty
        self.list.set_rows(lines)


class ColumnNames(Widget):
    """One line; none where rows are too narrow for columns."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    DEFAULT_CSS = "ColumnNames { height: 1; margin-right: 2; }\nColumnNames {" + TONE_CSS + "}"

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = columns(Part("Title", "muted"), (), "Workspace", "Turns", "Used", width)
        return painted(self, line, width)
