"""The tools that the model may call: what there is, what is switched on, and how the MCP servers stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Static
from textual.worker import Worker, WorkerState

from memory.errors import OttoError
from screens.row_list import Row, RowList
from screens.tool_rows import GroupRow, ToolRow, tool_rows
from sessions.display import displayable

if TYPE_CHECKING:
    from screens.ports import ChatSession

LOOKED_AT_EVERY = 1.0
"""Seconds between two looks at the servers, which come and go by themselves."""


class ToolsScreen(ModalScreen[None]):
    """Lists and switches the tools of one session."""

    BINDING_GROUP_TITLE = "Tools"
    CSS_PATH = "tools_screen.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", "Switch", tooltip="Switch a tool, a group or a server on or off"),
        Binding("escape,q", "close", "Close"),
    ]

    def __init__(self, session: ChatSession) -> None:
        super().__init__()
        self._session = session

    def compose(self) -> ComposeResult:
        with Vertical(id="tools"):
            yield Static("Tools", id="tools-title", markup=False)
            yield Static("What is switched counts from the next turn on.", id="tools-hint", markup=False)
            yield RowList(id="tools-list", empty="There are no tools here.")
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._read()
        self._list.focus()
        self.set_interval(LOOKED_AT_EVERY, self._read)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_switch(self) -> None:
        row = self._list.current
        if isinstance(row, GroupRow | ToolRow):
            self.run_worker(self._switch(row), group="switch", exit_on_error=False)

    @on(RowList.Opened)
    def _inspect(self, event: RowList.Opened) -> None:
        from screens.tool_screen import ToolScreen

        event.stop()
        if isinstance(event.row, GroupRow | ToolRow):
            self.app.push_screen(ToolScreen(event.row))

    async def _switch(self, row: GroupRow | ToolRow) -> None:
        try:
            await self._session.switch_tool(row.switched, not row.on)
        except OttoError as error:
            self._complain(str(error))
        self._read()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state == WorkerState.ERROR:
            self._complain(f"That could not be switched: {event.worker.error!r}.")

    def _complain(self, sentence: str) -> None:
        self.notify(displayable(sentence), severity="error", markup=False)

    def _read(self) -> None:
        rows: list[Row] = tool_rows(self._session.tools(), self._session.servers())
        if rows != list(self._list.rows):
            self._list.set_rows(rows)

    @property
    def _list(self) -> RowList:
        return self.query_one(RowList)
