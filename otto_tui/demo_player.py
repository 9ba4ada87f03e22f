"""Playing the demo's conversation in an open session, until it ends or the person takes over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Protocol

from otto_tui.demo_script import DemoScript
from sessions.events import Said, SessionEvent, TurnDone

TIME_LAPSE = 20
"""How much faster than real time the script's clock runs within a turn."""


class Talk(Protocol):
    """The conversation that is played into (``screens/conversation.py`` is one)."""

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]: ...
    async def send(self, text: str) -> object:
        """Say ``text`` and return when the turn is over."""


class DemoClock:
    """Tells the time of the script: each turn is said when the script says it was."""

    def __init__(self, start: datetime, *, elapsed: Callable[[], float] = monotonic) -> None:
        self._elapsed = elapsed
        self.show(start)

    def show(self, at: datetime) -> None:
        """It is ``at`` now."""
        self._shown = at
        self._since = self._elapsed()

    def __call__(self) -> datetime:
        return self._shown + timedelta(seconds=TIME_LAPSE * (self._elapsed() - self._since))


class DemoPlayer:
    """Says the script's lines one by one, ``speed`` turns a second at most. Runs once."""

    def __init__(self, script: DemoScript, clock: DemoClock, *, speed: float) -> None:
        self._script = script
        self._clock = clock
        self._turn_seconds = 1 / speed
        self._saying: str | None = None
        self._taken_over = asyncio.Event()
        self.played = 0
        """Turns so far."""

    async def play(self, talk: Talk) -> bool:
        """True when the whole script was played; False when the person said something or stopped a reply."""
        unsubscribe = talk.subscribe(self._watch)
        try:
            for turn in self._script.turns:
                if self._taken_over.is_set():
                    return False
                began = monotonic()
                self._clock.show(turn.at)
                self._saying = turn.you
                await talk.send(turn.you)
                self._saying = None
                if not self._taken_over.is_set():
                    self.played += 1
                await self._pause(began + self._turn_seconds - monotonic())
            return not self._taken_over.is_set()
        finally:
            unsubscribe()

    def _watch(self, event: SessionEvent) -> None:
        by_the_person = isinstance(event, Said) and event.event.text != self._saying
        if by_the_person or (isinstance(event, TurnDone) and (event.stopped or event.error is not None)):
            self._taken_over.set()

    async def _pause(self, seconds: float) -> None:
        waiting: Awaitable[bool] = self._taken_over.wait()
        try:
            await asyncio.wait_for(waiting, max(0.0, seconds))
        except TimeoutError:
            return
