"""One question with one line to answer it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from memory.errors import OttoError
from sessions.display import displayable


class AskModal(ModalScreen[str | None]):
    """Closes with the answer, or None when the person thought better of it.

    ``attempt`` does what the answer is for. While it raises an OttoError the question stays open under its sentence, so
    that a slip of the finger costs no retyping.
    """

    CSS_PATH = "modals.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(
        self,
        question: str,
        *,
        answer: str = "",
        placeholder: str = "",
        hint: str = "",
        action: str = "OK",
        attempt: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__()
        self._question = question
        self._answer = answer
        self._placeholder = placeholder
        self._hint = hint
        self._action = action
        self._attempt = attempt

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(displayable(self._question), classes="dialog-title", markup=False)
            yield Input(displayable(self._answer, keep_newlines=False), placeholder=self._placeholder)
            if self._hint:
                yield Static(displayable(self._hint), classes="dialog-hint", markup=False)
            yield Static("", classes="dialog-error", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button(Content(self._action), variant="primary", id="accept", compact=True)
                yield Button("Cancel (esc)", id="cancel", compact=True)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def action_cancel(self) -> None:
        self.dismiss(None)

    @on(Button.Pressed, "#cancel")
    def _cancelled(self) -> None:
        self.dismiss(None)

    @on(Input.Submitted)
    @on(Button.Pressed, "#accept")
    def _accepted(self) -> None:
        answer = self.query_one(Input).value.strip()
        if not answer:
            self._complain("Type something first, or press Escape.")
        else:
            self.run_worker(self._try(answer), group="attempt", exclusive=True)

    async def _try(self, answer: str) -> None:
        if self._attempt is not None:
            try:
                await self._attempt(answer)
            except OttoError as error:
                self._complain(str(error))
                return
        self.dismiss(answer)

    def _complain(self, sentence: str) -> None:
        shown = self.query_one(".dialog-error", Static)
        shown.update(f"! {displayable(sentence)}")
        shown.add_class("-shown")
