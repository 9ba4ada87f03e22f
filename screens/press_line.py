"""A line of text that does something when it is clicked, or entered while it has the focus."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


class PressLine(Static, can_focus=True):
    """Says what pressing it does. Posts ``Pressed``."""

    BINDING_GROUP_TITLE = "Lines to press"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "Press", show=False)]

    DEFAULT_CSS = """
    PressLine {
        width: auto;
        height: auto;
        color: $text-primary;
        &:hover { text-style: underline; }
        &:focus { text-style: reverse; }
    }
    """

    class Pressed(Message):
        """The line was clicked or entered."""

        def __init__(self, line: PressLine) -> None:
            self.line = line
            super().__init__()

        @property
        def control(self) -> PressLine:
            return self.line

    def __init__(self, text: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(Content(text), id=id, classes=classes)

    def say(self, text: str) -> None:
        """Show ``text``, which has passed ``displayable``."""
        self.update(Content(text))

    def action_press(self) -> None:
        self.post_message(self.Pressed(self))

    def on_click(self) -> None:
        self.action_press()
