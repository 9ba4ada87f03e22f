"""All sessions: find one, go on with it, or do something to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Key
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Button, Footer, Input, ProgressBar, Static
from textual.worker import Worker, WorkerState

from memory.errors import OttoError
from memory.values import Event
from screens.ask_modal import AskModal
from screens.export_modal import ExportModal, ExportWish
from screens.fork_modal import ForkModal
from screens.ports import ChatSession, Row, SessionLibrary
from screens.row_list import RowList
from screens.session_rows import SessionLine
from screens.session_table import SessionTable
from screens.wording import counted, grouped
from sessions.display import displayable, one_line

_TYPING_PAUSE = 0.2
"""Seconds without a key before a search begins."""

LetGo = Callable[[str], Awaitable[None]]


class SessionsScreen(Screen[str | None]):
    """Closes with the id of the session to go on with, or None.

    ``current`` is the session that the person comes from; what can be done to an open session is done through it.
    ``let_go`` closes a session that is still open behind the screen, before its file is moved or rewritten.
    """

    BINDING_GROUP_TITLE = "Sessions"
    CSS_PATH = "sessions_screen.tcss"
    AUTO_FOCUS = "#session-rows"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "rename", "Rename"),
        Binding("d,delete", "delete", "Delete", key_display="d"),
        Binding("u", "undo", "Undo delete", show=False),
        Binding("f", "fork", "Fork"),
        Binding("e", "export", "Export"),
        Binding("i", "import", "Import"),
        Binding("v", "reembed", "Re-embed", tooltip="Make the vectors anew with the embedding model of now"),
        # What is typed after it may wait in line already, and belongs into the field.
        Binding("slash", "search", "Search", key_display="/", show=False, priority=True),
        Binding("escape", "back", "Back"),
    ]

    def __init__(
        self,
        library: SessionLibrary,
        *,
        current: ChatSession | None = None,
        let_go: LetGo | None = None,
        now: Callable[[], datetime] | None = None,
        folder: Path | None = None,
    ) -> None:
        super().__init__()
        self._library = library
        self._current = current
        self._let_go = let_go
        self._now = now or (current.options.now if current else lambda: datetime.now(UTC))
        self._folder = folder
        self._pause: Timer | None = None
        self.searched_for = ""
        """The words that the list is for; empty for all sessions."""
        self._progress = (0, 0)
        self._has_row = False

    def compose(self) -> ComposeResult:
        yield Static("Sessions", id="sessions-title", markup=False)
        yield Input(placeholder="Search titles and what was said ( / )", id="sessions-search")
        yield SessionTable()
        with Horizontal(id="sessions-status"):
            yield Static("", id="sessions-message", markup=False)
            yield Button("Undo (u)", id="sessions-undo", compact=True)
        with Horizontal(id="sessions-progress"):
            yield Static("", markup=False)
            yield ProgressBar(show_eta=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._read_list()

    # the list

    def _read_list(self, select: str | None = None) -> None:
        self.run_worker(self._fill(select), group="session-list", exclusive=True, exit_on_error=False)

    async def _fill(self, select: str | None = None) -> None:
        query = self.searched_for = self.query_one(Input).value.strip()
        try:
            if query:
                await self._fill_with_hits(query)
            else:
                rows = await self._library.list()
                self._show(rows, grouped(len(rows)), "No sessions yet. One is kept from its first turn on.")
        except OttoError as error:
            self._say(str(error), failed=True)
            return
        if select is not None:
            self._table.list.select_key(select)
        for notice in self._library.take_notices():
            self.notify(displayable(notice), severity="warning", markup=False)

    async def _fill_with_hits(self, query: str) -> None:
        rows: list[Row] = []
        self._show(rows, "searching …", "Searching …")
        async for row in self._library.search(query):
            rows.append(row)
            self._show(rows, f"{grouped(len(rows))} found, searching on …", "")
        nothing = f"Nothing found for “{one_line(query, 60)}”, neither in a title nor in what was said."
        self._show(rows, f"{grouped(len(rows))} found", nothing)

    def _show(self, rows: Sequence[Row], summary: str, empty: str) -> None:
        now, home = self._now(), str(Path.home())
        open_id = self._current.id if self._current else None
        lines = [SessionLine(row, now, home, open_now=row.id == open_id) for row in rows]
        self._table.show(lines, empty=empty)
        self.query_one("#sessions-title", Static).update(f"Sessions: {summary}")

    @on(Input.Changed, "#sessions-search")
    def _typed(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(_TYPING_PAUSE, self._read_list)

    @on(Input.Submitted, "#sessions-search")
    def _submitted(self) -> None:
        self._table.list.focus()

    def key_down(self) -> None:
        if self.query_one(Input).has_focus:
            self._table.list.focus()

    def action_search(self) -> None:
        search = self.query_one(Input)
        if self.focused is search:
            # In the field a slash is a slash, after what was typed before it.
            search.post_message(Key("slash", "/"))
        else:
            # Unlike focus(), at once.
            self.set_focus(search)

    def action_back(self) -> None:
        search = self.query_one(Input)
        if search.has_focus or search.value:
            search.value = ""
            self._table.list.focus()
        else:
            self.dismiss(None)

    # one session

    @on(RowList.Opened, "#session-rows")
    def _resume(self, event: RowList.Opened) -> None:
        self.dismiss(event.row.key)

    @on(RowList.Moved, "#session-rows")
    def _moved(self, event: RowList.Moved) -> None:
        # The footer is built anew each time, so only when its keys begin or cease to have something to work on.
        if (event.row is not None) != self._has_row:
            self._has_row = event.row is not None
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("rename", "delete", "fork", "export", "reembed") and self.is_mounted:
            return self._table.current is not None
        return True

    def action_rename(self) -> None:
        if (line := self._table.current) is None:
            return
        row = line.row

        async def rename(title: str) -> None:
            if self._current is not None and row.id == self._current.id:
                await self._current.rename(title)
            else:
                await self._library.rename(row.id, title)

        question = AskModal("Rename this session", answer=row.title, action="Rename", attempt=rename)
        self.app.push_screen(question, lambda title: self._read_list(row.id) if title else None)

    def action_delete(self) -> None:
        if (line := self._table.current) is None:
            return
        if line.open_now:
            self._say("This session is open. Go on with another one first, then delete it.", failed=True)
            return
        self._do(self._delete(line.row))

    async def _delete(self, row: Row) -> None:
        if self._let_go is not None:
            await self._let_go(row.id)
        await self._library.delete(row.id)
        self._say(f"Deleted “{_title(row)}”.", undo=True)
        await self._fill(self._table.neighbour_of(row.id))

    def action_undo(self) -> None:
        self._do(self._undo())

    @on(Button.Pressed, "#sessions-undo")
    def _undo_pressed(self) -> None:
        self.action_undo()

    async def _undo(self) -> None:
        row = await self._library.undo_delete()
        if row is None:
            self._say("There is nothing to bring back.")
            return
        self._say(f"Brought back “{_title(row)}”.")
        await self._fill(row.id)

    def action_fork(self) -> None:
        if (line := self._table.current) is None:
            return
        row = line.row

        async def read(before: int | None, limit: int) -> Sequence[Event]:
            return await self._library.transcript(row.id, before, limit)

        def chosen(seq: int | None) -> None:
            if seq is not None:
                self._do(self._fork(row, seq))

        self.app.push_screen(ForkModal(row.title, read=read, now=self._now()), chosen)

    async def _fork(self, row: Row, seq: int) -> None:
        fork = await self._library.fork(row.id, seq)
        self._say(f"Made “{_title(fork)}”. Press Enter to go on with it.")
        await self._fill(fork.id)

    def action_export(self) -> None:
        if (line := self._table.current) is None:
            return
        row = line.row

        async def write(wish: ExportWish) -> Path:
            return await self._library.export(
                row.id, wish.path, format=wish.format, tape=wish.tape, overwrite=wish.overwrite
            )

        def written(path: Path | None) -> None:
            if path is not None:
                self._say(f"Exported to {path}.")

        self.app.push_screen(ExportModal(row.title, folder=self._folder or Path.cwd(), write=write), written)

    def action_import(self) -> None:
        imported: list[Row] = []

        async def bring_in(path: str) -> None:
            imported.append(await self._library.import_file(Path(path).expanduser()))

        def done(path: str | None) -> None:
            if path is not None and imported:
                row = imported[0]
                self._say(f"Imported “{_title(row)}”. {row.notice or ''}".rstrip())
                self._read_list(row.id)

        question = AskModal(
            "Import a session",
            placeholder="File",
            hint="An export that Otto wrote as JSON. It is checked whole before anything is written.",
            action="Import",
            attempt=bring_in,
        )
        self.app.push_screen(question, done)

    def action_reembed(self) -> None:
        if (line := self._table.current) is None:
            return
        if any(worker.group == "reembed" and worker.is_running for worker in self.workers):
            self._say("A session is being re-embedded already. Wait until it is done.", failed=True)
            return
        self.run_worker(self._guarded(self._reembed(line.row)), group="reembed", exit_on_error=False)

    async def _reembed(self, row: Row) -> None:
        self._progress = (0, 0)
        self._say(f"Re-embedding “{_title(row)}” …")
        self._draw_progress()
        shown = self.query_one("#sessions-progress")
        shown.add_class("-shown")
        ticking = self.set_interval(0.2, self._draw_progress)
        try:
            if self._current is not None and row.id == self._current.id:
                await self._current.reembed(self._note_progress)
            else:
                await self._library.reembed(row.id, self._note_progress)
            done = self._progress[1]
            self._say(f"Re-embedded “{_title(row)}”, {counted(done, 'chunk')}.")
        finally:
            ticking.stop()
            shown.remove_class("-shown")

    def _note_progress(self, done: int, total: int) -> None:
        # Called from whatever thread makes the vectors: it only leaves a note, and the timer draws.
        self._progress = (done, total)

    def _draw_progress(self) -> None:
        done, total = self._progress
        self.query_one(ProgressBar).update(total=total or None, progress=done)
        amount = f"{grouped(done)} of {grouped(total)}" if total else "beginning"
        self.query_one("#sessions-progress > Static", Static).update(amount)

    # outcomes

    def _do(self, work: Awaitable[None]) -> None:
        self.run_worker(self._guarded(work), group="session-change", exit_on_error=False)

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except OttoError as error:
            self._say(str(error), failed=True)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state == WorkerState.ERROR:
            self._say(f"That failed: {event.worker.error}. Nothing else was changed.", failed=True)

    def _say(self, sentence: str, *, failed: bool = False, undo: bool = False) -> None:
        message = self.query_one("#sessions-message", Static)
        message.update(f"{'! ' if failed else ''}{displayable(sentence)}")
        message.set_class(failed, "-failed")
        self.query_one("#sessions-status").add_class("-shown")
        self.query_one("#sessions-undo").set_class(undo, "-shown")

    @property
    def _table(self) -> SessionTable:
        return self.query_one(SessionTable)


def _title(row: Row) -> str:
    return one_line(row.title[:1_000], 60)
