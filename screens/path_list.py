"""The paths that a half-typed ``@path`` may become, above the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from screens.painting import TONE_CLASSES, TONE_CSS, painted, plain
from screens.wrapping import shortened
from sessions.display import displayable

MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class PathOffer:
    """What is offered for what is typed, and which of it is chosen."""

    typed: str
    """What stood after the ``@`` when these paths were looked up."""
    paths: Sequence[str]
    at: int = 0

    @property
    def chosen(self) -> str:
        return self.paths[self.at]

    def moved(self, step: int) -> PathOffer:
        """The next one, or the one before; around at both ends."""
        return PathOffer(self.typed, self.paths, (self.at + step) % len(self.paths))


class PathList(Widget):
    """Draws an offer. The prompt keeps the focus, and has the keys."""

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {"path-list--chosen", *TONE_CLASSES}

    DEFAULT_CSS = (
        """
    PathList {
        display: none;
        width: 1fr;
        height: auto;
        & > .path-list--chosen {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
        }
    """
        + TONE_CSS
        + "}"
    )

    @dataclass
    class Pressed(Message):
        """A path was clicked."""

        path: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.offer: PathOffer | None = None

    def show(self, offer: PathOffer | None) -> None:
        self.offer = offer
        self.display = offer is not None
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self.offer.paths), MOST_SHOWN) if self.offer is not None else 0

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        number = self._first + y
        if self.offer is None or number >= len(self.offer.paths):
            return painted(self, (), width)
        path = shortened(displayable(self.offer.paths[number], keep_newlines=False), max(width - 2, 1))
        chosen = number == self.offer.at
        mark = "▸ " if chosen else "  "
        return painted(self, plain(mark + path), width, under="path-list--chosen" if chosen else None)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        number = self._first + event.y
        if self.offer is not None and number < len(self.offer.paths):
            self.post_message(self.Pressed(self.offer.paths[number]))

    @property
    def _first(self) -> int:
        """The path on the first line: the chosen one is always in sight."""
        return max(self.offer.at - MOST_SHOWN + 1, 0) if self.offer is not None else 0
