"""The chat: one conversation on the screen, the prompt under it, and memory or recall beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import MountError
from textual.widgets import Footer
from textual.worker import Worker, WorkerState

from memory.errors import OttoError
from screens.approvals import Approvals
from screens.chat_commands import ChatCommands
from screens.chat_keys import bindings
from screens.conversation import Conversation, SessionHappened
from screens.conversations import OpenConversations
from screens.header import ChatHeader
from screens.interruption import Interruption
from screens.messages import OpenInTranscript, Quote
from screens.pacing import Paced
from screens.panels import PanelTabs, SidePanel
from screens.press_line import PressLine
from screens.prompt import Prompt
from screens.prompt_box import PromptBox
from screens.sending import Sending
from screens.status_line import BEAT, StatusLine, status_of
from screens.surroundings import Surroundings
from screens.transcript import Transcript
from sessions.display import displayable, one_line
from sessions.events import (
    ApprovalSettled,
    ApprovalWanted,
    Compacted,
    Demoted,
    MemoryChanged,
    Notice,
    Said,
    SessionEvent,
    ShellRan,
    TurnDone,
    Waiting,
)
from sessions.options import OFFLINE

if TYPE_CHECKING:
    from textual.widgets import Markdown

NO_MODEL = "offline: it only quotes. Set OPENAI_API_KEY or start Ollama, then press F8"
"""On one line of 80 columns: how to get a real model."""

WIDE = 110
"""Columns from which a panel stands beside the chat."""

Severity = Literal["information", "warning", "error"]


class ChatScreen(Screen[None]):
    """Draws one conversation of ``conversations`` and does what the person asks.

    It can be typed into before it has a conversation; what was sent by then goes out as soon as there is one.
    """

    BINDING_GROUP_TITLE = "Chat"
    CSS_PATH = "chat.tcss"
    AUTO_FOCUS = "#prompt"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"),
        (WIDE, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        Binding("escape", "escape", "Stop the reply, or back to the prompt", show=False),
        Binding("ctrl+c", "interrupt", "Copy, stop, clear, quit: whichever there is", show=False, priority=True),
    ]

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__()
        self.surroundings = surroundings
        self.conversations: OpenConversations | None = None
        self.conversation: Conversation | None = None
        self.transcript = Transcript(id="transcript")
        self.box = PromptBox(surroundings, id="prompt-box")
        self.side = SidePanel(id="side")
        self.commands = ChatCommands(self)
        self._notices = list(surroundings.notices)
        self.ready = asyncio.Event()
        """The prompt has the focus and takes keys."""
        self._paced = Paced(self._reread_memory)
        self._interruption = Interruption()
        self._approvals = Approvals(self)
        self._sending = Sending(self)

    def compose(self) -> ComposeResult:
        yield ChatHeader(id="header")
        yield PanelTabs(id="tabs")
        with Horizontal(id="body"):
            with Vertical(id="chat"):
                yield self.transcript
                with Horizontal(id="status"):
                    yield StatusLine("", id="status-line", markup=False)
                    yield PressLine("", id="below")
                yield self.box
            yield self.side
        yield Footer()

    def on_screen_resume(self) -> None:
        # The focus is set at the end of this event.
        self.call_next(self.ready.set)

    def on_mount(self) -> None:
        self._beat = self.set_interval(BEAT, self.show_status, pause=True)
        self.watch(self.transcript, "new_lines", self._show_what_is_below)
        self.watch(self.transcript, "at_tail", self._show_what_is_below)
        self.show_status()
        self.attempt(self.box.load_history())

    # the conversation

    async def show(self, conversation: Conversation) -> None:
        """Put this conversation on the screen; the one that was there goes on behind it while it is at work."""
        if self.conversations is None or conversation is self.conversation:
            return
        if self.conversation is not None:
            self.conversation.unsent = self.prompt.draft
            self.prompt.show(conversation.unsent)
        self.conversation = conversation
        self.conversations.show(conversation)
        conversation.session.can_ask = True
        self.box.complete_path = conversation.session.complete_path
        self.side.bind_session(conversation.session)
        self._sending.give_back()
        self.show_status()
        await self.transcript.show(conversation)
        await self._show_notices()
        self._ask_memory()
        self._approvals.ask()
        self._sending.send_held()

    async def fail_to_open(self, sentence: str) -> None:
        """There is no conversation, and this is why."""
        await self._show_notices()
        await self.transcript.say(Notice(sentence, "error"))
        self.query_one(StatusLine).say("no session is open: F4 lists them, ctrl+n begins one", busy=False)

    @on(SessionHappened)
    async def _happened(self, message: SessionHappened) -> None:
        message.stop()
        if message.conversation is not self.conversation:
            self._happened_elsewhere(message.conversation, message.event)
            return
        try:
            await self._show_what_happened(message.event)
        except OttoError as error:
            self.say(str(error), "error")
        except MountError:
            # Otto is being left in the middle of this, and nothing can be put on the screen any more.
            if self.is_attached:
                raise

    async def _show_what_happened(self, event: SessionEvent | None) -> None:
        if event is None:
            self._sending.give_back()
            await self.transcript.turn_is_over()
        elif isinstance(event, Said):
            await self.transcript.said()
        elif isinstance(event, Waiting):
            await self.transcript.reply_begins()
        elif isinstance(event, TurnDone):
            await self.transcript.reply_ends()
        elif isinstance(event, ShellRan):
            await self.transcript.shell_ends()
        elif isinstance(event, ApprovalWanted | ApprovalSettled):
            self._approvals.ask()
        elif isinstance(event, Notice):
            await self._tell(event)
        if isinstance(event, Said | ShellRan | TurnDone | Demoted | Compacted | MemoryChanged):
            self._ask_memory()
        self.show_status()

    def _happened_elsewhere(self, conversation: Conversation, event: SessionEvent | None) -> None:
        """A session behind the screen: say in a word when it is done or waits, and leave the screen as it is."""
        if isinstance(event, ApprovalWanted):
            title = one_line(conversation.session.title, 60)
            self.say(f"{title} waits for your word: F4 leads there.", "warning")
        if isinstance(event, TurnDone):
            title = one_line(conversation.session.title, 60)
            if event.error is not None:
                self.say(f"{title}: {event.error}", "warning")
            elif not event.stopped:
                self.say(f"{title}: the reply is there")

    async def _tell(self, notice: Notice) -> None:
        """What matters later stays in the transcript; the rest passes by."""
        if notice.level == "information":
            self.say(notice.text)
        else:
            await self.transcript.say(notice)

    async def _show_notices(self) -> None:
        notices, self._notices = self._notices, []
        for sentence in notices:
            await self.transcript.say(Notice(sentence))

    # memory

    def _ask_memory(self) -> None:
        if self._paced.ask():
            self.run_worker(self._paced.run(), group="memory", exit_on_error=False)

    async def _reread_memory(self) -> None:
        conversation = self.conversation
        if conversation is None:
            return
        try:
            snapshot = await conversation.session.snapshot()
        except OttoError as error:
            self.say(str(error), "error")
            return
        if conversation is self.conversation:
            self.query_one(ChatHeader).memory = snapshot
            self.show_status()
            await self.transcript.show_fold(snapshot)

    def show_status(self) -> None:
        """Bring header, status line, queue and beat up to date with the conversation."""
        conversation = self.conversation
        said, busy = status_of(conversation, NO_MODEL if self._offline else "")
        self.query_one(StatusLine).say(said, busy=busy)
        if busy and conversation is not None:
            self._beat.resume()
        else:
            self._beat.pause()
        if conversation is None:
            return
        self.box.busy = conversation.busy
        self.box.show_queued(conversation.queued)
        header, session = self.query_one(ChatHeader), conversation.session
        header.title, header.model = session.title, session.model_name
        header.cost, header.read_only = session.totals.cost, session.read_only

    @property
    def _offline(self) -> bool:
        return self.conversation is not None and self.conversation.session.model_name == OFFLINE

    def _show_what_is_below(self) -> None:
        below, count = self.query_one("#below", PressLine), self.transcript.new_lines
        if not self.transcript.at_tail:
            below.say("newer turns below, ctrl+end")
        elif count:
            below.say(f"{count} new {'line' if count == 1 else 'lines'} below, ctrl+end")
        below.display = bool(count) or not self.transcript.at_tail

    # the prompt

    @property
    def prompt(self) -> Prompt:
        return self.box.prompt

    @on(Prompt.Submitted)
    def _submitted(self, event: Prompt.Submitted) -> None:
        event.stop()
        self._sending.take(event.draft)

    @on(PromptBox.TakeBackQueued)
    def _take_back_queued(self, event: PromptBox.TakeBackQueued) -> None:
        event.stop()
        self._sending.take_back()

    @on(Prompt.NotExpanded)
    def _not_expanded(self) -> None:
        self.say("This paste is too long, or holds control characters, and stays folded. It is sent whole.")

    # panels

    @on(PanelTabs.Chosen)
    def _tab_chosen(self, event: PanelTabs.Chosen) -> None:
        event.stop()
        self.attempt(self.side.show(event.panel, focus=True))

    @on(SidePanel.Turned)
    def _turned(self, event: SidePanel.Turned) -> None:
        event.stop()
        self.query_one(PanelTabs).shown = event.panel
        if event.panel == "chat":
            self.prompt.focus()

    async def on_resize(self, event: events.Resize) -> None:
        await self.side.fit(wide=event.size.width >= WIDE)

    @on(OpenInTranscript)
    async def _open_in_transcript(self, event: OpenInTranscript) -> None:
        event.stop()
        if self.has_class("-narrow"):
            await self.side.show("chat")
        if not await self.transcript.jump(event.seq):
            self.say(f"Event {event.seq} is not in this transcript.", "warning")

    @on(Quote)
    async def _quote(self, event: Quote) -> None:
        event.stop()
        if self.has_class("-narrow"):
            await self.side.show("chat")
        self.prompt.insert_quotation(event.text)

    # keys and the mouse

    def action_command(self, name: str) -> None:
        self.ask(name)

    def action_escape(self) -> None:
        """From a panel back to the prompt; else stop the reply."""
        conversation = self.conversation
        if self.has_class("-narrow", "-panel"):
            self.attempt(self.side.show("chat"))
        elif conversation is not None and conversation.busy and not self.side.has_focus_within:
            conversation.stop()
        else:
            self.prompt.focus()
        self.clear_selection()

    def action_interrupt(self) -> None:
        self._interruption.take(self)

    def action_page_up(self) -> None:
        self.transcript.page_up()

    def action_page_down(self) -> None:
        self.transcript.page_down()

    def action_to_start(self) -> None:
        self.transcript.to_start()

    def action_to_end(self) -> None:
        self.transcript.to_end()

    @on(Prompt.ScrolledBeyond)
    def _scrolled_beyond(self, event: Prompt.ScrolledBeyond) -> None:
        event.stop()
        self.transcript.scroll_relative(y=event.lines, animate=False)

    @on(PressLine.Pressed)
    def _pressed(self, event: PressLine.Pressed) -> None:
        event.stop()
        if event.line.has_class("retry"):
            self.ask("retry")
        elif event.line.id == "below":
            self.transcript.to_end()

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        from screens.link_screen import ask_about_link

        event.stop()
        ask_about_link(self.app, event.href)

    async def on_key(self, event: events.Key) -> None:
        """What is typed while something without letters of its own has the focus goes to the prompt."""
        if event.is_printable and event.character is not None and self._prompt_may_have_it:
            event.stop()
            self.prompt.type_in(event.character)

    async def on_paste(self, event: events.Paste) -> None:
        if self._prompt_may_have_it:
            event.stop()
            self.prompt.paste(event.text)

    @property
    def _prompt_may_have_it(self) -> bool:
        return self.focused is None or self.transcript in self.focused.ancestors_with_self

    # doing and saying

    def ask(self, name: str, argument: str = "") -> None:
        """Carry out a command; a failure is said."""
        self.attempt(self.commands.run(name, argument))

    def attempt(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this, and say it in one sentence if it fails."""
        self.run_worker(self._attempted(work), group="command", exit_on_error=False)

    async def _attempted(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except OttoError as error:
            self.say(str(error), "error")

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state == WorkerState.ERROR:
            self.say(f"That failed inside Otto: {event.worker.error!r}. Nothing was lost.", "error")

    def say(self, sentence: str, severity: Severity = "information") -> None:
        """Show a sentence for a moment."""
        # Long enough to be read by who looks up late; a warning is worth more of it.
        seconds = 8 if severity == "information" else 15
        self.notify(displayable(sentence), severity=severity, markup=False, timeout=seconds)
