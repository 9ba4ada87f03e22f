"""Work that would block the event loop, in a thread that stops when its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TypeVar, cast

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
    """What ``work`` returns or raises, from a thread of its own. Cancellation sets the ``Stop`` that it was given.

    It takes no place from the loop's own threads, which write the tape, and a disk that never answers holds up
    neither them nor the program's end.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()
    stop = Event()

    def settle(result: T | None, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(cast(T, result))

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = work(stop)
        except BaseException as raised:
            error = raised
        # The loop may have been closed while a thread that nobody waits for went on.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    Thread(target=run, name="otto workspace", daemon=True).start()
    try:
        return await outcome
    finally:
        stop.set()
