"""The whole app over scripted sessions, and how a test waits for it and reads its screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from otto_tui.app import OttoApp
from screens.chat import ChatScreen
from sessions.options import Options
from tests.screens.fakes import NOW, FakeLibrary, FakeSession

NARROW, MIDDLE, WIDE = (80, 24), (120, 40), (200, 50)

PATIENCE = 2_000
"""Looks at a condition before a test gives up; each yields to the app."""


def otto(
    library: FakeLibrary,
    home: Path,
    *,
    startup: str = "last",
    theme: str | None = None,
    notices: Sequence[str] = (),
    **more: Any,
) -> OttoApp:
    """The app, its clock stopped, over these sessions."""
    app = OttoApp(
        Options(home=home, now=lambda: NOW),
        open_library=lambda: library,
        startup=startup,
        workspace=home,
        theme=theme,
        notices=notices,
        clock=lambda: 100.0,
        environ=more.pop("environ", {}),
        **more,
    )
    app.animation_level = "none"
    return app


@asynccontextmanager
async def chatting(
    *sessions: FakeSession, home: Path, size: tuple[int, int] = NARROW, **more: Any
) -> AsyncIterator[Pilot[str | None]]:
    """The app with the last of these sessions on its screen."""
    app = otto(FakeLibrary.of(*sessions), home, **more)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.chat.conversation is not None)
        await settled(pilot)
        yield pilot


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Let the app run until this holds."""
    for _ in range(PATIENCE):
        if condition():
            return
        await pilot.pause()
        await asyncio.sleep(0.001)
    raise AssertionError("what the test waits for has not come about")


async def settled(pilot: Pilot[Any]) -> None:
    """Until what was started is done and drawn; replies that come in are not waited for."""
    waited_for = {"open", "command", "window", "memory"}

    def idle() -> bool:
        return all(worker.is_finished for worker in pilot.app.workers if worker.group in waited_for)

    await until(pilot, idle)
    await pilot.pause()
    await pilot.pause()


def chat_of(pilot: Pilot[Any]) -> ChatScreen:
    app = pilot.app
    assert isinstance(app, OttoApp)
    return app.chat


def told(pilot: Pilot[Any]) -> list[str]:
    """The sentences that are shown for a moment, oldest first."""
    return [notification.message for notification in pilot.app._notifications]


def screen_text(pilot: Pilot[Any]) -> str:
    """All that is on the screen."""
    strips = pilot.app.screen._compositor.render_strips(pilot.app.size)
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)
