"""A check box and a radio button that are empty when off. Textual's differ in colour only."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Checkbox, RadioButton


class Tick(Checkbox):
    """A check box with an ``X`` in it when on, and nothing when off."""

    def render(self) -> Content:
        self.BUTTON_INNER = "X" if self.value else " "
        return super().render()


class Choice(RadioButton):
    """A radio button with a dot in it when on, and nothing when off."""

    def render(self) -> Content:
        self.BUTTON_INNER = "●" if self.value else " "
        return super().render()
