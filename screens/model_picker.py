"""Choosing who answers from now on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sessions.display import one_line


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can answer on this machine."""

    name: str
    """As litellm names it."""
    why: str
    """What makes it available: a key's name, a server's address."""


FindModels = Callable[[], Awaitable[Sequence[ModelChoice]]]


class ModelPicker(ModalScreen[str | None]):
    """Lists the models at hand and takes any other name as text. Gives the chosen name, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    CSS_PATH = "model_picker.tcss"

    def __init__(self, current: str, find: FindModels) -> None:
        super().__init__()
        self._current = current
        self._find = find
        self._choices: Sequence[ModelChoice] = ()
        self._names: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="picker"):
            yield Static(Content(f"Who answers now: {one_line(self._current, 60)}"), id="picker-title")
            yield Input(placeholder="type to filter, or any name such as openai/gpt-5", id="picker-name")
            yield OptionList(id="picker-list")
            yield Static("looking for keys and servers", id="picker-hint")

    def on_mount(self) -> None:
        self.run_worker(self._look(), group="models", exit_on_error=False)

    async def _look(self) -> None:
        try:
            self._choices = await self._find()
            said = "enter chooses  ·  esc goes back"
        except OSError as error:
            said = f"The list of models could not be made ({error}). Type a name instead."
        self.query_one("#picker-hint", Static).update(Content(said))
        self._fill()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._fill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        at = self._list.highlighted
        if at is not None and at < len(self._names):
            self.dismiss(self._names[at])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._names[event.option_index])

    def action_move(self, step: int) -> None:
        if step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    @property
    def _list(self) -> OptionList:
        return self.query_one("#picker-list", OptionList)

    def _fill(self) -> None:
        typed = self.query_one("#picker-name", Input).value.strip()
        fitting = [choice for choice in self._choices if typed.lower() in choice.name.lower()]
        self._names = [choice.name for choice in fitting]
        options = [Option(Content.assemble(*_shown(choice))) for choice in fitting]
        if typed and typed not in self._names:
            self._names.append(typed)
            options.append(Option(Content(f"use the name {one_line(typed, 60)}")))
        self._list.clear_options().add_options(options)
        self._list.highlighted = 0 if options else None


def _shown(choice: ModelChoice) -> tuple[str, tuple[str, str]]:
    return one_line(choice.name, 60), (f"  {one_line(choice.why, 60)}", "$foreground 55%")
