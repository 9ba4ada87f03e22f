"""Who is told what happens in a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sessions.events import Notice, SessionEvent

Listener = Callable[[SessionEvent], None]
Unsubscribe = Callable[[], None]


class Listeners:
    """Everyone who listens to one session. All methods are called on the event loop."""

    def __init__(self) -> None:
        self._callbacks: list[Listener] = []
        self._unheard: list[Notice] = []

    def add(self, callback: Listener) -> Unsubscribe:
        """Have ``callback`` told everything from now on; call what is returned, once or more, to end it.

        The first one is also told, soon, the notices that nobody could hear.
        """
        self._callbacks.append(callback)
        unheard, self._unheard = self._unheard, []
        for notice in unheard:
            asyncio.get_running_loop().call_soon(callback, notice)

        def end() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return end

    def tell(self, event: SessionEvent) -> None:
        if not self._callbacks and isinstance(event, Notice):
            self._unheard.append(event)
        for callback in tuple(self._callbacks):
            callback(event)
