"""One turn at a time: who may begin one, how it is stopped, and that none goes on in a closed session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from memory.errors import StoreUnavailable
from sessions.errors import SessionBusy
from sessions.events import TurnDone
from sessions.turn import Turn


class TurnTaking:
    """The turns of one session. All methods are called on the event loop."""

    def __init__(self) -> None:
        self._idle = asyncio.Event()
        self._idle.set()
        self._turn: Turn | None = None
        self._stopped = False
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a turn is under way, from its first write to its last."""
        return not self._idle.is_set()

    @property
    def closed(self) -> bool:
        return self._closed

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Everything that belongs to one turn goes inside.

        Raises:
            SessionBusy: another one is under way.
            StoreUnavailable: the session is closed.
        """
        if self._closed:
            raise StoreUnavailable("This session has been closed, so nothing can be said in it. Open it again.")
        if self.busy:
            raise SessionBusy("A reply is still coming. Stop it with Esc, or wait for it.")
        self._stopped = False
        self._idle.clear()
        try:
            yield
        finally:
            self._idle.set()

    async def run(self, turn: Turn, *, retry: bool) -> TurnDone:
        """Run ``turn``. If ``stop`` was called since the turn got under way, no model is asked."""
        self._turn = turn
        if self._stopped:
            turn.stop()
        try:
            return await turn.run(retry=retry)
        finally:
            self._turn = None

    def stop(self) -> None:
        """End the turn that is under way as soon as possible."""
        self._stopped = True
        if self._turn is not None:
            self._turn.stop()

    async def close(self) -> None:
        """Let nobody begin any more; return when what was under way is stopped and kept."""
        self._closed = True
        self.stop()
        await self._idle.wait()
