"""A yes-or-no question before something that cannot be taken back."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from sessions.display import displayable


class ConfirmModal(ModalScreen[bool]):
    """Closes with True for yes. Escape means no, and no has the focus."""

    CSS_PATH = "modals.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
        Binding("left,up", "app.focus_previous", "Other button", show=False),
        Binding("right,down", "app.focus_next", "Other button", show=False),
    ]

    def __init__(self, question: str, *, detail: str = "", yes: str = "Yes", no: str = "No") -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._yes = yes
        self._no = no

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(displayable(self._question), classes="dialog-title", markup=False)
            if self._detail:
                yield Static(displayable(self._detail), classes="dialog-hint", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button(Content(f"{self._yes} (y)"), variant="primary", id="yes", compact=True)
                yield Button(Content(f"{self._no} (n)"), id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no", Button).focus()

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")
