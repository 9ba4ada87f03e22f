"""Many requests to redraw become few redraws."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

REDRAWS_A_SECOND = 5


class Paced:
    """Runs ``work`` for whoever asked: one run at a time, and a pause after each.

    However often ``ask`` is called, the work that begins after the last call sees all that had happened before it.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[None]],
        *,
        pause: float = 1 / REDRAWS_A_SECOND,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._work = work
        self._pause = pause
        self._sleep = sleep
        self._wanted = False
        self._claimed = False

    def ask(self) -> bool:
        """Ask for one more run. True when the caller must start ``run``, since nobody has yet."""
        self._wanted = True
        if self._claimed:
            return False
        self._claimed = True
        return True

    async def run(self) -> None:
        """Work until nothing more is wanted."""
        try:
            while self._wanted:
                self._wanted = False
                await self._work()
                await self._sleep(self._pause)
        finally:
            self._claimed = False
