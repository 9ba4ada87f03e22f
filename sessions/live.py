"""A session's open tape and tiers, and the one thread that works on them.

Everything that reads or changes the tiers runs on that thread, one call after the other, so the event loop never waits
for the disk and the tiers never need a lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from memory.budgets import MIN_X_BUDGET, MIN_Y_BUDGET
from memory.queue import TieredQueue
from memory.store import MemoryStore
from memory.tool_events import is_call, is_of_model
from memory.values import Event, NewEvent
from sessions.lock import SessionLock
from sessions.options import Options

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")

TARGET_FRACTION = 0.40
"""Of a model's window, what both budgets together may fill (seed 000, "Budget")."""

INTERRUPTED = "interrupted"
"""Why a reply is partial that was still streaming when its process ended, and how such a tool call ended."""

INTERRUPTED_CALL = "Otto ended before this call did, so nothing came of it that was kept."


class LiveMemory:
    """An open store with its queue. Make one with ``open`` on any thread; close it with ``close``."""

    def __init__(self, store: MemoryStore, queue: TieredQueue, lock: SessionLock | None) -> None:
        self.store = store
        self.queue = queue
        self._lock = lock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="otto-memory")
        self._reading: set[asyncio.Task[Any]] = set()

    @classmethod
    def open(cls, path: Path, options: Options, budgets: tuple[int, int], lock: SessionLock | None) -> LiveMemory:
        """Open a tape, for writing where the ``lock`` is held, and bring back what a killed process left.

        Raises:
            StoreDamaged, StoreTooNew, StoreUnavailable.
        """
        store = MemoryStore(path, read_only=lock is None, now=options.now)
        try:
            queue = TieredQueue(
                store,
                x_budget=budgets[0],
                y_budget=budgets[1],
                restore=True,
                reabstract=options.reabstract,
                mode=options.compaction,
                pool_max_tokens=options.ledger.observations_pool_max_tokens,
                auto_compact=False,
            )
            if lock is not None:
                _answer_interrupted_calls(queue)
                _keep_interrupted_replies(store, queue)
        except BaseException:
            store.close()
            raise
        return cls(store, queue, lock)

    async def run(self, work: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        """Run ``work`` on the memory's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))

    async def read(self, work: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        """Run ``work``, which only reads the tape, on a thread of its own, beside what the memory's thread does.

        A thread cannot be cancelled; whoever is cancelled goes on at once, and ``close`` waits for the thread.
        """
        reading = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
        self._reading.add(reading)
        reading.add_done_callback(self._read)
        return await asyncio.shield(reading)

    def run_soon(self, work: Callable[[], None]) -> None:
        """Run ``work`` on the memory's thread without waiting for it."""
        self._thread.submit(work)

    def newest_message(self) -> Event | None:
        """What was last said by the person or the model. Call it with ``run``."""
        return next((item.event for item in reversed(self.queue.recent_items) if item.event.kind == "message"), None)

    def was_spoken_to(self) -> bool:
        """Whether the newest turns hold something that the person said. Call it with ``run``."""
        return any(item.event.protected for item in self.queue.recent_items)

    async def close(self) -> None:
        """Close the file when all that was asked for is done, and let the next one have it."""
        try:
            if self._reading:
                await asyncio.wait(self._reading)
            await self.run(self.store.close)
        finally:
            self._thread.shutdown(wait=False)
            if self._lock is not None:
                self._lock.release()

    def _read(self, reading: asyncio.Task[Any]) -> None:
        self._reading.discard(reading)
        if not reading.cancelled():
            # Nobody may be waiting for it any more.
            reading.exception()


def scaled_budgets(options: Options, window: int | None) -> tuple[int, int]:
    """X and Y in tokens: the settings', or both scaled down to 40% of a smaller window."""
    x, y = options.x_budget, options.y_budget
    if window is None or not options.scale_to_window:
        return x, y
    share = min(1.0, TARGET_FRACTION * window / (x + y))
    return max(MIN_X_BUDGET, int(x * share)), max(MIN_Y_BUDGET, int(y * share))


def _answer_interrupted_calls(queue: TieredQueue) -> None:
    """Give calls that a killed process left without one their result. They are of the newest turn."""
    events = [item.event for item in queue.recent_items if is_of_model(item.event)]
    answered = {ref for event in events if not is_call(event) for ref in event.refs[:1]}
    for event in events:
        if is_call(event) and event.id not in answered:
            kept = {key: value for key, value in event.meta.items() if key in ("call", "group")}
            queue.append(
                NewEvent(
                    text=INTERRUPTED_CALL,
                    role="tool",
                    kind="tool",
                    source=event.source,
                    refs=(event.id,),
                    meta=kept | {"summary": INTERRUPTED, "ok": False},
                )
            )


def _keep_interrupted_replies(store: MemoryStore, queue: TieredQueue) -> None:
    for draft in store.drafts():
        if draft.text and store.event_by_id(draft.id, draft.thread) is None:
            queue.append(
                NewEvent(
                    id=draft.id,
                    thread=draft.thread,
                    role="assistant",
                    source=draft.source,
                    text=draft.text,
                    t_event=draft.t_event,
                    meta={"model": draft.source, "partial": INTERRUPTED},
                )
            )
        store.drop_draft(draft.id)
