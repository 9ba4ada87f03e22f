"""The app itself, headless: how long a key takes to be painted, and how long a session takes to be open."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import RenderableType
from textual.events import Key
from textual.screen import Screen

from otto_tui.app import NEW, OttoApp
from screens.prompt import Prompt
from sessions.library import Library
from sessions.options import Options

SIZE = (120, 40)

PATIENCE = 60.0
"""Seconds."""


class Paints:
    """Notices when the app has something new for its terminal."""

    def __init__(self) -> None:
        self._watching: Callable[[], bool] = lambda: False
        self._painted: asyncio.Future[float] | None = None

    def sent(self) -> None:
        if self._painted is not None and not self._painted.done() and self._watching():
            self._painted.set_result(perf_counter())

    async def after(self, changed: Callable[[], bool]) -> float:
        """The time of the first paint at which ``changed()`` is true."""
        self._watching, self._painted = changed, asyncio.get_running_loop().create_future()
        async with asyncio.timeout(PATIENCE):
            return await self._painted


@asynccontextmanager
async def running(home: Path, session: str = NEW) -> AsyncIterator[tuple[OttoApp, Paints]]:
    """The app with this session open and nothing left to do."""
    options = Options(home=home, embedding="none")
    paints = Paints()
    app = OttoApp(options, open_library=lambda: Library(options), startup=session, workspace=home)
    display = app._display

    def watched_display(screen: Screen[Any], renderable: RenderableType | None) -> None:
        display(screen, renderable)
        paints.sent()

    # Textual tells nobody when it has painted.
    app._display = watched_display  # type: ignore[method-assign]
    async with app.run_test(size=SIZE) as pilot:
        await until(lambda: app.chat.conversation is not None)
        await pilot.pause()
        yield app, paints


async def keystrokes(app: OttoApp, paints: Paints, count: int) -> list[float]:
    """Seconds from each key to the paint that shows it."""
    prompt = app.chat.prompt
    prompt.focus()
    taken: list[float] = []
    for place in range(count):
        grown = partial(_longer_than, prompt, len(prompt.text))
        character = "abcdefghij "[place % 11]
        painted = asyncio.ensure_future(paints.after(grown))
        await asyncio.sleep(0)
        began = perf_counter()
        app.post_message(Key("space" if character == " " else character, character))
        taken.append(await painted - began)
        # A person leaves time between two keys; what a key sets off may end in it.
        await asyncio.sleep(0.02)
    prompt.clear()
    return taken


def _longer_than(prompt: Prompt, before: int) -> bool:
    return len(prompt.text) > before


async def resume(app: OttoApp, id: str) -> float:
    """Seconds from asking for a session to its last turns being painted over an editable prompt."""
    assert app.conversations is not None
    painted = asyncio.Event()
    gc.collect()
    began = perf_counter()
    await app.chat.show(await app.conversations.open(id))
    app.chat.call_after_refresh(painted.set)
    async with asyncio.timeout(PATIENCE):
        await painted.wait()
    return perf_counter() - began


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not there():
            await asyncio.sleep(0.005)
