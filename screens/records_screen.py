"""The ledger's records in full, or how they differ from those that the model reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from screens.ledger_words import NOTHING_RECORDED, diff_summary
from screens.painting import Tone
from screens.passage import Block, Passage
from screens.wording import counted
from sessions.display import displayable
from sessions.observing.status import full_view, view_diff

if TYPE_CHECKING:
    from sessions.observing.status import LedgerStatus, RecordLine

_SIGN_TONES: dict[str, Tone] = {"": "plain", "+": "x", "-": "warning"}


class RecordsScreen(ModalScreen[None]):
    """Shows the ledger as it was when it was asked for."""

    BINDING_GROUP_TITLE = "Ledger"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close"),
        Binding("c", "copy", "Copy"),
    ]

    DEFAULT_CSS = """
    RecordsScreen {
        align: center middle;
        & > Vertical {
            width: 92%; max-width: 110; height: 86%; padding: 0 1;
            background: $surface; border: round $primary;
        }
        & #records-title { text-style: bold; height: auto; margin-bottom: 1; }
        & Footer { margin-top: 1; background: $surface; }
    }
    """

    def __init__(self, ledger: LedgerStatus, *, diff: bool) -> None:
        super().__init__()
        self._ledger = ledger
        self._diff = diff

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(records_title(self._ledger, diff=self._diff), id="records-title", markup=False)
            yield Passage(id="records-text", empty=NOTHING_RECORDED)
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        text = self.query_one(Passage)
        text.set_blocks(diff_blocks(self._ledger) if self._diff else full_blocks(self._ledger))
        text.focus()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.query_one(Passage).text)


def records_title(ledger: LedgerStatus, *, diff: bool) -> str:
    return f"The view against the ledger. {diff_summary(ledger)}" if diff else "The ledger, as it is now"


def full_blocks(ledger: LedgerStatus) -> list[Block]:
    """Reflections, then live observations, each under a heading."""
    lines = full_view(ledger.state)
    return [block for kind in ("reflection", "observation") for block in _of_kind(kind, lines)][:-1]


def diff_blocks(ledger: LedgerStatus) -> list[Block]:
    """The same lines, each with its sign."""
    return [
        Block(displayable(line.text), _SIGN_TONES[line.sign], label=f"{line.sign or ' '} ", label_tone="strong")
        for line in view_diff(ledger)
    ]


def _of_kind(kind: str, lines: list[RecordLine]) -> Iterator[Block]:
    some = [line for line in lines if line.kind == kind]
    if some:
        yield Block(counted(len(some), kind).capitalize(), "y", heading=True)
        yield from (Block(displayable(line.text)) for line in some)
        yield Block("")
