"""Ask the memory: a question or an id, and the exact words that answer it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from memory.errors import OttoError
from screens.messages import OpenInTranscript, Quote
from screens.recall_rows import ResultRow, result_rows, result_summary
from screens.row_list import RowList
from screens.source_screen import SourceScreen
from sessions.display import displayable

if TYPE_CHECKING:
    from memory.values import RecallResult
    from screens.ports import ChatSession

_AN_ID = re.compile(r"(?:id[: ]\s*)?([0-9a-f]{12}|[0-9a-f]{16})", re.IGNORECASE)

_INVITATION = "Ask about anything that was said, also long ago. An id opens the words behind it."


class RecallPanel(Widget):
    """Searches one session. Posts ``OpenInTranscript`` and ``Quote`` for what the person picks."""

    BINDING_GROUP_TITLE = "Recall"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_in_transcript", "Transcript", tooltip="Show it in the transcript"),
        Binding("i", "insert", "Quote", tooltip="Quote it in the prompt"),
        Binding("slash", "ask_again", "Ask", key_display="/"),
        Binding("down", "to_results", "To the results", show=False),
    ]

    DEFAULT_CSS = """
    RecallPanel {
        layout: vertical;
        height: 1fr;
        padding: 0 1;
        & > Input { margin-bottom: 1; }
        & > #recall-summary { color: $text-muted; height: auto; &:ansi { text-style: dim; } }
        & > #recall-warning { color: $text-warning; height: auto; display: none; }
        & > #recall-warning.-shown { display: block; }
        & > RowList { margin-top: 1; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._session: ChatSession | None = None

    def compose(self) -> ComposeResult:
        yield Input(placeholder="Question or id", id="recall-question")
        yield Static(_INVITATION, id="recall-summary", markup=False)
        yield Static("", id="recall-warning", markup=False)
        yield RowList(id="recall-results", empty="")

    def bind_session(self, session: ChatSession) -> None:
        """Search this session from now on; what was found in another goes away."""
        self._session = session
        if self.is_mounted:
            self._question.value = ""
            self._say(_INVITATION)
            self._results.set_rows(())

    def ask(self, question: str) -> None:
        """Ask as if the person had typed it and pressed Enter."""
        self._question.value = question
        self._search(question)

    # asking

    @on(Input.Submitted, "#recall-question")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._search(event.value)

    def _search(self, typed: str) -> None:
        question = typed.strip()
        if not question or self._session is None:
            return
        an_id = _AN_ID.fullmatch(question)
        if an_id:
            self._show_words(an_id[1].lower())
            return
        self._say("Searching …")
        self.run_worker(self._recall(self._session, question), group="recall", exclusive=True, exit_on_error=False)

    async def _recall(self, session: ChatSession, question: str) -> None:
        try:
            result = await session.recall(question)
        except OttoError as error:
            self._say("Nothing was searched.", warning=str(error))
            return
        if session is self._session:
            self._show(result)

    def _show(self, result: RecallResult) -> None:
        if result.items:
            self._say(result_summary(result), warning=result.warning)
        else:
            self._say(
                "Nothing found among what has left the model's sight. What it still reads word for word is not "
                "searched: see the memory panel.",
                warning=result.warning,
            )
        self._results.set_rows(result_rows(result, self._now()))
        self.refresh_bindings()
        self._results.scroll_home(animate=False)
        if result.items and self._question.has_focus:
            self._results.focus()

    def _say(self, summary: str, *, warning: str | None = None) -> None:
        self.query_one("#recall-summary", Static).update(summary)
        shown = self.query_one("#recall-warning", Static)
        shown.update(f"! {displayable(warning)}" if warning else "")
        shown.set_class(warning is not None, "-shown")

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state == WorkerState.ERROR and event.worker.group == "recall":
            self._say("Nothing was searched.", warning=f"The search failed: {event.worker.error}. Ask again.")

    # what was found

    @on(RowList.Opened, "#recall-results")
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._show_words(event.row.key)

    def _show_words(self, id: str) -> None:
        self.run_worker(self._read_words(id), group="recall-words", exclusive=True)

    async def _read_words(self, id: str) -> None:
        if self._session is None:
            return
        try:
            source = await self._session.recall_id(id)
        except OttoError as error:
            self._say("", warning=str(error))
            return
        self.app.push_screen(SourceScreen(source, now=self._now()), self._carry_out)

    def _carry_out(self, wish: OpenInTranscript | Quote | None) -> None:
        if wish is not None:
            self.post_message(wish)

    def action_open_in_transcript(self) -> None:
        row = self._results.current
        if isinstance(row, ResultRow):
            self.post_message(OpenInTranscript(row.item.seq))

    def action_insert(self) -> None:
        row = self._results.current
        if isinstance(row, ResultRow):
            self.post_message(Quote(row.item.text))

    def action_to_results(self) -> None:
        self._results.focus()

    def action_ask_again(self) -> None:
        self._question.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("open_in_transcript", "insert"):
            return self.is_mounted and self._results.has_focus and self._results.current is not None
        if action == "ask_again":
            return self.is_mounted and self._results.has_focus
        if action == "to_results":
            return self.is_mounted and self._question.has_focus and self._results.current is not None
        return True

    # parts

    @property
    def _question(self) -> Input:
        return self.query_one(Input)

    @property
    def _results(self) -> RowList:
        return self.query_one(RowList)

    def _now(self) -> datetime:
        return self._session.options.now() if self._session else datetime.now(UTC)
