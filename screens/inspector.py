"""The memory, live: how full it is, what stands in it, what is noted, what happened and what the model reads next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static, TabbedContent, TabPane, Tabs
from textual.worker import Worker, WorkerState

from memory.errors import OttoError
from screens.event_log import EventLog
from screens.gauges import Gauges
from screens.ledger_tab import RecordRow, ledger_rows, newest_of
from screens.loop_tab import NO_LOOP, CallRow, loop_rows
from screens.messages import OpenInTranscript, Quote
from screens.pacing import Paced
from screens.passage import Passage
from screens.row_list import RowList
from screens.source_screen import SourceScreen
from screens.tier_list import BulletRow, ItemRow, tier_rows
from screens.view_tab import read_next
from sessions.display import displayable
from sessions.events import (
    Compacted,
    Compacting,
    Delta,
    Demoted,
    Evicted,
    LoopChanged,
    SessionEvent,
    Thinking,
    ToolCalled,
    ToolUsed,
    Waiting,
)

if TYPE_CHECKING:
    from memory.values import MemorySnapshot
    from screens.ports import ChatSession

_AGES_GROW_EVERY = 30.0
"""Seconds between two redraws of the ages while nothing else happens."""

_TABS = ("memory-items", "memory-ledger", "memory-events", "memory-view", "memory-loop")

_INSIDE = ("memory-rows", "memory-records", "memory-log", "memory-view-text", "memory-calls")
"""What takes the focus in each tab."""


class InspectorPanel(Widget):
    """Follows one session. Posts ``OpenInTranscript`` and ``Quote`` for what the person picks."""

    BINDING_GROUP_TITLE = "Memory"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_in_transcript", "Transcript", tooltip="Show it in the transcript"),
        Binding("left", "turn_tab(-1)", "Tab left", show=False),
        Binding("right", "turn_tab(1)", "Tab right", show=False),
    ]

    DEFAULT_CSS = """
    InspectorPanel {
        layout: vertical;
        height: 1fr;
        padding: 0 1;
        & > TabbedContent { height: 1fr; margin-top: 1; }
        & TabPane { padding: 0; height: 1fr; }
        & ContentSwitcher { height: 1fr; }
        & #memory-view-summary { color: $text-muted; height: auto; &:ansi { text-style: dim; } }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._session: ChatSession | None = None
        self._unsubscribe: Callable[[], None] = _nothing
        self._log = EventLog()
        self._paced = Paced(self._reread)
        self._loop_paced = Paced(self._reread_loop)
        self._history_wanted = False
        self._counts: Mapping[str, int] = {}

    def compose(self) -> ComposeResult:
        yield Gauges(id="memory-gauges")
        with TabbedContent(initial=_TABS[0]):
            with TabPane("Memory", id=_TABS[0]):
                yield RowList(id="memory-rows", empty="Nothing has been said yet.")
            with TabPane("Ledger", id=_TABS[1]):
                yield RowList(id="memory-records", empty="Reading …")
            with TabPane("Events", id=_TABS[2]):
                yield Passage(
                    id="memory-log",
                    empty="Nothing has moved yet. When X is full, its oldest turns move to Y; when Y is full, "
                    "its raw part is compacted into bullets.",
                )
            with TabPane("Model reads", id=_TABS[3]):
                yield Static("", id="memory-view-summary", markup=False)
                yield Passage(id="memory-view-text", empty="Reading …")
            with TabPane("Loop", id=_TABS[4]):
                yield RowList(id="memory-calls", empty=NO_LOOP)

    def on_mount(self) -> None:
        # The arrow keys turn the tabs from within them, so the row of names need not be a stop of its own.
        self.query_one(Tabs).can_focus = False
        self.set_interval(_AGES_GROW_EVERY, self._rows.redraw)
        self._ask()

    def on_unmount(self) -> None:
        self._unsubscribe()

    def on_show(self) -> None:
        self._ask()

    def bind_session(self, session: ChatSession) -> None:
        """Follow this session from now on, and no other."""
        self._unsubscribe()
        self._session = session
        self._log = EventLog()
        self._history_wanted = True
        self._counts = {}
        self._unsubscribe = session.subscribe(self._happened)
        if self.is_mounted:
            self._gauges.snapshot = None
            self._gauges.failure = None
            self._rows.set_rows(())
            self._records.set_rows(())
            self._calls.set_rows(())
            self._ask()

    def show_view(self) -> None:
        """Turn to what the model reads next, and go there."""
        self._tabs.active = _TABS[3]
        self.call_after_refresh(self._focus_tab)

    # what happens in the session

    def _happened(self, event: SessionEvent) -> None:
        if isinstance(event, Delta | Thinking):
            return
        if isinstance(event, ToolCalled | ToolUsed | Waiting | Evicted | LoopChanged):
            self._ask_loop()
            return
        now = self._now()
        if isinstance(event, Demoted):
            self._log.demoted(event.demotion, now)
        elif isinstance(event, Compacting):
            self._log.compacting(event)
        elif isinstance(event, Compacted):
            self._log.compacted(event.compaction, now)
        self._ask()

    def _ask(self) -> None:
        """Have the memory read again soon. What is out of sight is read when it comes into sight."""
        if self._session is None or not self.is_mounted or not self.is_on_screen:
            return
        if self._paced.ask():
            self.run_worker(self._paced.run(), group="memory", exit_on_error=False)

    def _ask_loop(self) -> None:
        """Have the loop read again soon, while it is looked at."""
        if self.is_mounted and self.is_on_screen and self._tabs.active == _TABS[4] and self._loop_paced.ask():
            self.run_worker(self._loop_paced.run(), group="memory", exit_on_error=False)

    async def _reread_loop(self) -> None:
        if self._session is not None:
            self._calls.set_rows(loop_rows(self._session.loop()))

    async def _reread(self) -> None:
        session = self._session
        if session is None:
            return
        try:
            snapshot = await session.snapshot()
            if self._history_wanted:
                history = await session.compactions()
                if session is self._session:
                    self._log.load(history)
                    self._history_wanted = False
            if session is self._session:
                self._draw(snapshot)
            if self._tabs.active == _TABS[1]:
                await self._reread_ledger(session, snapshot)
            elif self._tabs.active == _TABS[3]:
                await self._reread_view(session)
            elif self._tabs.active == _TABS[4]:
                await self._reread_loop()
        except OttoError as error:
            self._gauges.failure = str(error)

    def _draw(self, snapshot: MemorySnapshot) -> None:
        self._gauges.snapshot = snapshot
        self._gauges.failure = None
        self._rows.set_rows(tier_rows(snapshot, self._now))
        self._events.set_blocks(self._log.blocks(compacting=snapshot.compacting))

    async def _reread_ledger(self, session: ChatSession, snapshot: MemorySnapshot) -> None:
        ledger = await session.ledger()
        if session is self._session:
            self._records.set_rows(ledger_rows(ledger, newest_of(snapshot)))

    async def _reread_view(self, session: ChatSession) -> None:
        from memory.tokens import count_tokens

        messages = await session.view()
        shown = await asyncio.to_thread(read_next, messages, count_tokens, self._counts)
        if session is self._session:
            self._counts = shown.counts
            self.query_one("#memory-view-summary", Static).update(shown.summary)
            self.query_one("#memory-view-text", Passage).set_blocks(shown.blocks)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state == WorkerState.ERROR and event.worker.group == "memory":
            self._gauges.failure = f"The memory could not be shown: {event.worker.error}. Otto goes on trying."

    # what the person does

    @on(RowList.Opened, "#memory-rows")
    def _open_row(self, event: RowList.Opened) -> None:
        event.stop()
        self.run_worker(self._show_words(event.row.key), group="memory-words", exclusive=True)

    @on(RowList.Opened, "#memory-records")
    def _open_record(self, event: RowList.Opened) -> None:
        event.stop()
        if isinstance(event.row, RecordRow):
            self.run_worker(self._show_words(event.row.id), group="memory-words", exclusive=True)

    @on(RowList.Opened, "#memory-calls")
    def _open_call(self, event: RowList.Opened) -> None:
        event.stop()
        if isinstance(event.row, CallRow) and event.row.call.event:
            self.run_worker(self._show_words(event.row.call.event), group="memory-words", exclusive=True)

    async def _show_words(self, id: str) -> None:
        if self._session is None:
            return
        try:
            source = await self._session.recall_id(id)
        except OttoError as error:
            self.notify(displayable(str(error)), severity="error", markup=False)
            return
        self.app.push_screen(SourceScreen(source, now=self._now()), self._carry_out)

    def _carry_out(self, wish: OpenInTranscript | Quote | None) -> None:
        if wish is not None:
            self.post_message(wish)

    def action_open_in_transcript(self) -> None:
        row = self._rows.current
        if isinstance(row, ItemRow):
            self.post_message(OpenInTranscript(row.item.event.seq))
        elif isinstance(row, BulletRow) and row.bullet.seqs:
            self.post_message(OpenInTranscript(row.bullet.seqs[0]))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "open_in_transcript" and self.is_mounted:
            return self._tabs.active == _TABS[0] and self._rows.current is not None
        return True

    def action_turn_tab(self, step: int) -> None:
        at = _TABS.index(self._tabs.active)
        self._tabs.active = _TABS[(at + step) % len(_TABS)]

    def _focus_tab(self) -> None:
        self.query_one(f"#{_INSIDE[_TABS.index(self._tabs.active)]}").focus()

    @on(TabbedContent.TabActivated)
    def _tab_turned(self, event: TabbedContent.TabActivated) -> None:
        event.stop()
        if self.has_focus_within:
            self.call_after_refresh(self._focus_tab)
        self.refresh_bindings()
        self._ask()

    # parts

    @property
    def _gauges(self) -> Gauges:
        return self.query_one(Gauges)

    @property
    def _rows(self) -> RowList:
        return self.query_one("#memory-rows", RowList)

    @property
    def _records(self) -> RowList:
        return self.query_one("#memory-records", RowList)

    @property
    def _calls(self) -> RowList:
        return self.query_one("#memory-calls", RowList)

    @property
    def _events(self) -> Passage:
        return self.query_one("#memory-log", Passage)

    @property
    def _tabs(self) -> TabbedContent:
        return self.query_one(TabbedContent)

    def _now(self) -> datetime:
        return self._session.options.now() if self._session else datetime.now(UTC)


def _nothing() -> None:
    """What there is to undo before a session is followed."""
