"""Shows where a link leads before anything is opened."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.press_line import PressLine
from sessions.display import displayable

Wish = Literal["open", "copy"]

SAFE = ("http://", "https://")


def ask_about_link(app: App[object], address: str) -> None:
    """Show the address, and open or copy it if the person says so."""

    def follow(wish: Wish | None) -> None:
        if wish == "open":
            app.open_url(address)
        elif wish == "copy":
            app.copy_to_clipboard(address)

    app.push_screen(LinkScreen(address), follow)


class LinkScreen(ModalScreen[Wish | None]):
    """Asks what to do with an address that a model wrote. Only web addresses can be opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("o", "wish('open')", "Open"),
        Binding("c", "wish('copy')", "Copy"),
    ]

    DEFAULT_CSS = """
    LinkScreen {
        align: center middle;
        & > Vertical {
            width: 72; max-width: 92%; height: auto; padding: 1 2;
            background: $surface; border: round $primary;
        }
        & PressLine { margin-top: 1; }
    }
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content(displayable(self.address, keep_newlines=False)))
            if self._opens:
                yield PressLine("o: open in the browser", id="open")
            yield PressLine("c: copy the address", id="copy")
            yield PressLine("esc: back", id="back")

    def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        event.stop()
        if event.line.id == "back":
            self.dismiss(None)
        else:
            self.action_wish("open" if event.line.id == "open" else "copy")

    def action_wish(self, wish: Wish) -> None:
        if wish == "copy" or self._opens:
            self.dismiss(wish)

    @property
    def _opens(self) -> bool:
        return self.address.lower().startswith(SAFE)
