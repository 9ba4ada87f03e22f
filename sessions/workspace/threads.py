"""Work that would block the event loop, in a thread that stops when its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event
from typing import TypeVar

T = TypeVar("T")

Stop = Event
"""Set when nobody waits for the work any more."""


class WorkStopped(Exception):
    """Raised inside the thread once nobody waits for what it does."""


def check(stop: Stop) -> None:
    """Raises ``WorkStopped`` when nobody waits any more. Call it wherever work may take long."""
    if stop.is_set():
        raise WorkStopped


async def in_thread(work: Callable[[Stop], T]) -> T:
    """What ``work`` returns or raises, from a worker thread. Cancellation sets the ``Stop`` that it was given."""
    stop = Event()
    try:
        return await asyncio.to_thread(work, stop)
    finally:
        stop.set()
