"""An app that holds just what a test looks at, and ways to read what is on its screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from screens.messages import OpenInTranscript, Quote

HOSTILE = (
    "[bold]x[/] [/nope] [link=http://e.vil]go[/] \x1b[31mred\x1b]52;c;aGk=\x07 "
    "\u202egnirts\u202c שלום \u200fمرحبا\x00\x9b2J"
)
"""Rich markup, terminal commands, bidirectional tricks and a NUL byte."""

NARROW, WIDE = (40, 40), (100, 30)
LOOKS = [
    pytest.param(size, theme, id=f"{name}-{theme.removeprefix('textual-')}")
    for name, size in (("narrow", (40, 40)), ("80x24", (80, 24)), ("wide", (100, 30)))
    for theme in ("textual-dark", "textual-light")
]
"""Sizes and themes in which the pictures of a screen are taken."""

TWO_LOOKS = [pytest.param((40, 40), "textual-dark", id="narrow"), pytest.param((100, 30), "textual-light", id="wide")]

SnapCompare = Callable[..., bool]
"""The fixture ``snap_compare``."""

PATIENCE = 2_000
"""Looks at a condition before a test gives up."""

DARK, LIGHT = "textual-dark", "textual-light"


class Stage(App[None]):
    """Shows one widget, or pushes one screen; keeps what was asked of the chat screen and what screens closed with."""

    TITLE = "Otto"

    def __init__(
        self,
        make: Callable[[], Widget] | None = None,
        *,
        screen: Callable[[], Screen[Any]] | None = None,
        theme: str = DARK,
    ) -> None:
        super().__init__()
        self._make = make
        self._make_screen = screen
        self.theme = theme
        self.animation_level = "none"
        self.asked: list[OpenInTranscript | Quote] = []
        self.closed_with: list[object] = []

    def compose(self) -> ComposeResult:
        if self._make is not None:
            yield self._make()

    def on_mount(self) -> None:
        if self._make_screen is not None:
            self.push_screen(self._make_screen(), self.closed_with.append)

    def on_open_in_transcript(self, message: OpenInTranscript) -> None:
        self.asked.append(message)

    def on_quote(self, message: Quote) -> None:
        self.asked.append(message)


async def settle(pilot: Pilot[None]) -> None:
    """Until every worker is done and what it changed is drawn."""
    for _ in range(3):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Let the app run until this holds."""
    for _ in range(PATIENCE):
        if condition():
            return
        await pilot.pause(0.005)
    raise AssertionError(f"what the test waits for has not come about:\n{shown(pilot.app)}")


def shown(app: App[None]) -> str:
    """The text on the screen, line by line, without the spaces at the ends of lines."""
    strips = app.screen._compositor.render_strips(app.size)
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def is_safe(text: str) -> bool:
    """Whether a terminal would obey nothing in it."""
    controls = any((ord(char) < 0x20 and char != "\n") or 0x7F <= ord(char) <= 0x9F for char in text)
    return not controls and not set(text) & set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2069")
