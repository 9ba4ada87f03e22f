"""At which turn a new session branches off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from memory.errors import OttoError
from memory.values import Event
from screens.painting import Line, Part, padded
from screens.row_list import RowList
from screens.wording import age, moment_of
from screens.wrapping import shortened
from sessions.display import displayable, one_line

_PAGE = 200
"""Events that are read at a time; more when the cursor comes to the end."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn of the session, by what the person said in it."""

    said: Event
    now: datetime
    selectable: bool = True

    @property
    def key(self) -> str:
        return str(self.said.seq)

    def height(self, width: int) -> int:
        return 2

    def lines(self, width: int) -> Sequence[Line]:
        text = shortened(one_line(self.said.text[: 8 * width], 2 * width), width - 2)
        when = Part(f"no. {self.said.seq} · {moment_of(self.said.t_event, self.now)}", "muted")
        head = padded((when,), (Part(age(self.said.t_event, self.now), "muted"),), width)
        return (head, (Part("  "), Part(text)))


class ForkModal(ModalScreen[int | None]):
    """Closes with the ``seq`` of the turn after which the new session goes its own way, or None.

    ``read`` gives a page of the session's events below a ``seq`` (None: the newest), oldest first.
    """

    CSS_PATH = "modals.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(
        self, title: str, *, read: Callable[[int | None, int], Awaitable[Sequence[Event]]], now: datetime
    ) -> None:
        super().__init__()
        self._title = title
        self._read = read
        self._now = now
        self._turns: list[TurnRow] = []
        self._oldest: int | None = None
        self._all_read = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            title = one_line(self._title[:1_000], 60)
            yield Static(f"Fork “{title}” after which turn?", classes="dialog-title", markup=False)
            yield Static(
                "The new session keeps that turn, its answer and everything before it.",
                classes="dialog-hint",
                markup=False,
            )
            yield RowList(empty="Reading the turns …", open_on_click=False)
            yield Static("", classes="dialog-error", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button("Fork here", variant="primary", id="accept", compact=True)
                yield Button("Cancel (esc)", id="cancel", compact=True)

    def on_mount(self) -> None:
        self._list.focus()
        self._read_on()

    @property
    def _list(self) -> RowList:
        return self.query_one(RowList)

    def action_cancel(self) -> None:
        self.dismiss(None)

    @on(Button.Pressed, "#cancel")
    def _cancelled(self) -> None:
        self.dismiss(None)

    @on(Button.Pressed, "#accept")
    @on(RowList.Opened)
    def _accepted(self) -> None:
        if isinstance(self._list.current, TurnRow):
            self.dismiss(self._list.current.said.seq)

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        if self._turns and event.row is self._turns[-1] and not self._all_read:
            self._read_on()

    def _read_on(self) -> None:
        self.run_worker(self._read_page(), group="turns", exclusive=True)

    async def _read_page(self) -> None:
        try:
            page = await self._read(self._oldest, _PAGE)
        except OttoError as error:
            shown = self.query_one(".dialog-error", Static)
            shown.update(f"! {displayable(str(error))}")
            shown.add_class("-shown")
            return
        self._all_read = len(page) < _PAGE
        if page:
            self._oldest = page[0].seq
        self._turns += [TurnRow(event, self._now) for event in reversed(page) if event.protected]
        self._list.empty = "Nothing was said in this session."
        self._list.set_rows(list(self._turns))
