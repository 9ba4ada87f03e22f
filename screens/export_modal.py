"""Where to, and in which form, a session is taken away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, RadioSet, Static

from memory.errors import OttoError
from screens.ticks import Choice, Tick
from sessions.display import displayable, one_line


@dataclass(frozen=True, slots=True)
class ExportWish:
    """What the person chose."""

    path: Path
    format: Literal["json", "markdown"]
    tape: bool
    """Also every event that was ever said, not only what stands in the tiers and behind bullets."""
    overwrite: bool


class ExportModal(ModalScreen[Path | None]):
    """Closes with the file that was written, or None. Stays open under the sentence when it cannot be written."""

    CSS_PATH = "modals.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, title: str, *, folder: Path, write: Callable[[ExportWish], Awaitable[Path]]) -> None:
        super().__init__()
        self._title = title
        self._folder = folder
        self._write = write

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(f"Export “{one_line(self._title[:1_000], 60)}”", classes="dialog-title", markup=False)
            yield Input(displayable(str(self._folder), keep_newlines=False), placeholder="File or folder")
            yield Static("In a folder, the file is named after the session.", classes="dialog-hint", markup=False)
            with RadioSet(id="format"):
                yield Choice("JSON, which Otto can import", value=True, id="json")
                yield Choice("Markdown, to read", id="markdown")
            yield Tick("The whole tape (JSON)", id="tape", compact=True)
            yield Tick("Replace a file of this name", id="overwrite", compact=True)
            yield Static("", classes="dialog-error", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button("Export", variant="primary", id="accept", compact=True)
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
        typed = self.query_one(Input).value.strip()
        if typed in ("", "-"):
            self._complain("Name a file or a folder first.")
            return
        wish = ExportWish(
            Path(typed).expanduser(),
            "markdown" if self.query_one("#markdown", Choice).value else "json",
            self.query_one("#tape", Tick).value,
            self.query_one("#overwrite", Tick).value,
        )
        self.run_worker(self._try(wish), group="attempt", exclusive=True)

    @on(RadioSet.Changed)
    def _format_chosen(self, event: RadioSet.Changed) -> None:
        self.query_one("#tape", Tick).disabled = event.pressed.id == "markdown"

    async def _try(self, wish: ExportWish) -> None:
        try:
            written = await self._write(wish)
        except OttoError as error:
            self._complain(str(error))
            return
        self.dismiss(written)

    def _complain(self, sentence: str) -> None:
        shown = self.query_one(".dialog-error", Static)
        shown.update(f"! {displayable(sentence)}")
        shown.add_class("-shown")
