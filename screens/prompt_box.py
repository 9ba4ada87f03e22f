"""The foot of the chat: what waits to be sent, the prompt, and the line that says which keys do what."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from memory.errors import OttoError
from screens.commands import named, suggested
from screens.draft import SHELL_SIGN, Draft
from screens.history import read_history, write_history
from screens.path_list import PathList
from screens.press_line import PressLine
from screens.prompt import Prompt
from screens.surroundings import Surroundings
from sessions.display import one_line

HINT = "enter sends  ·  ctrl+j: new line  ·  / commands  @ files  ! shell"
HINT_CHIP = "tab expands the paste  ·  it is sent whole either way"
HINT_BUSY = "enter queues this for after the reply"
HINT_PATHS = "tab or enter takes the path  ·  up and down choose  ·  esc closes"
HINT_SHELL = "enter runs this  ·  the model reads what it prints  ·  esc stops it"


class PromptBox(VerticalGroup):
    """The prompt with a line above it for a queued prompt and a line below it for help. Keeps the history on disk."""

    class TakeBackQueued(Message):
        """The person wants the queued prompt in the prompt again."""

    def __init__(self, surroundings: Surroundings, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.busy = False
        self.prompt = Prompt(id="prompt")
        self._home = surroundings.home
        self._now = surroundings.now
        self.complete_path: Callable[[str], list[str]] | None = None
        """Looks up what a path may become. It may take a while, and is called in a thread."""
        self._looking = False
        self._looked_up: str | None = None

    def compose(self) -> ComposeResult:
        queued = PressLine("", id="queued")
        queued.display = False
        yield queued
        yield PathList(id="paths")
        yield self.prompt
        yield Static(HINT, id="hint", markup=False)

    def show_queued(self, draft: Draft | None) -> None:
        queued = self.query_one("#queued", PressLine)
        queued.display = draft is not None
        if draft is not None:
            queued.say(f"queued, press to take back: {one_line(draft.text[:1_000], 200)}")

    def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        event.stop()
        self.post_message(self.TakeBackQueued())

    async def load_history(self) -> None:
        """Put the prompts of earlier runs behind the up key. Raises OttoError when the file cannot be read."""
        try:
            earlier = await asyncio.to_thread(read_history, self._home)
        except OSError as error:
            raise OttoError(f"The history of prompts cannot be read: {error.strerror}.") from error
        self.prompt.history_of_prompts.load(earlier)

    async def remember(self, draft: Draft) -> None:
        """Write a prompt to the history. Raises OttoError when that fails."""
        try:
            await asyncio.to_thread(write_history, self._home, draft.whole, self._now().isoformat())
        except OSError as error:
            raise OttoError(f"The history of prompts cannot be written: {error.strerror}.") from error

    def show_hint(self) -> None:
        # One line whatever it says: a layout for it would cost every key the whole screen.
        self.query_one("#hint", Static).update(Content(self._hint()), layout=False)

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def _typed(self) -> None:
        self.prompt.set_class(self.prompt.text.startswith(SHELL_SIGN), "-shell")
        self._look_up()
        self.show_hint()

    # paths

    def _look_up(self) -> None:
        """Have paths looked up for what is typed, one look at a time; keys never wait for it."""
        if not self.prompt.wants_paths:
            self._looked_up = None
            if self.prompt.half_typed is None:
                self.prompt.withdraw_paths()
        elif not self._looking and self.complete_path is not None:
            self._looking = True
            self.run_worker(self._offer_paths(self.complete_path), group="paths", exit_on_error=False)

    async def _offer_paths(self, complete: Callable[[str], list[str]]) -> None:
        try:
            while self.prompt.wants_paths and (typed := self.prompt.half_typed) != self._looked_up:
                self._looked_up = typed
                path = (typed or "").removeprefix('"')
                self.prompt.offer_paths(typed or "", await asyncio.to_thread(complete, path))
        finally:
            self._looking = False

    @on(Prompt.OfferChanged)
    def _show_offer(self, event: Prompt.OfferChanged) -> None:
        event.stop()
        self.query_one(PathList).show(self.prompt.offer)
        self.show_hint()

    @on(PathList.Pressed)
    def _path_pressed(self, event: PathList.Pressed) -> None:
        event.stop()
        self.prompt.take(event.path)
        self.prompt.focus()

    def _hint(self) -> str:
        text = self.prompt.text
        if self.prompt.offer is not None:
            return HINT_PATHS
        if text.startswith(SHELL_SIGN):
            return HINT_SHELL
        commands = suggested(text)
        if commands:
            return "  ".join(f"/{command.name}" for command in commands)
        if text.startswith("/") and " " in text:
            return self._usage(text[1:].partition(" ")[0])
        if self.prompt.chip is not None:
            return HINT_CHIP
        return HINT_BUSY if self.busy and text else HINT

    def _usage(self, name: str) -> str:
        command = named(name)
        if command is None:
            return HINT
        return f"/{command.name} {command.argument}".strip() + f"  ·  {command.help}"
