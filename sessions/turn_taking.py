"""One turn at a time: who may begin one, how it is stopped, and that none goes on in a closed session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
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
        self._stop_it: Callable[[], None] | None = None
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
        with self.stopped_by(turn.stop):
            return await turn.run(retry=retry)

    @contextmanager
    def stopped_by(self, stop_it: Callable[[], None]) -> Iterator[None]:
        """Have ``stop`` end what goes on inside by calling ``stop_it``; at once where it was called before."""
        self._stop_it = stop_it
        if self._stopped:
            stop_it()
        try:
            yield
        finally:
            self._stop_it = None

    def stop(self) -> None:
        """End what is under way as soon as possible."""
        self._stopped = True
        if self._stop_it is not None:
            self._stop_it()

    async def close(self) -> None:
        """Let nobody begin any more; return when what was under way is stopped and kept."""
        self._closed = True
        self.stop()
        await self._idle.wait()
