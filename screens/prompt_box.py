"""The foot of the chat: what waits to be sent, the prompt, and the line that says which keys do what."""

from __future__ import annotations

import asyncio

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from memory.errors import OttoError
from screens.commands import named, suggested
from screens.draft import Draft
from screens.history import read_history, write_history
from screens.press_line import PressLine
from screens.prompt import Prompt
from screens.surroundings import Surroundings
from sessions.display import one_line

HINT = "enter sends  ·  ctrl+j or \\ enter: new line  ·  / commands"
HINT_CHIP = "tab expands the paste  ·  it is sent whole either way"
HINT_BUSY = "enter queues this for after the reply"


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

    def compose(self) -> ComposeResult:
        queued = PressLine("", id="queued")
        queued.display = False
        yield queued
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

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self.show_hint()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        self.show_hint()

    def _hint(self) -> str:
        text = self.prompt.text
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
