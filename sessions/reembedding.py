"""Making a session's vectors anew without opening it: its tiers and budgets stay as they are, nothing is compacted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from memory.store import MemoryStore
from sessions import tapes
from sessions.embedding import EmbeddingWorker
from sessions.errors import SessionBusy
from sessions.events import SessionEvent
from sessions.lock import SessionLock, taken_sentence
from sessions.options import Options
from sessions.remembered_model import remembered_model


async def reembed_tape(options: Options, id: str, progress: Callable[[int, int], None]) -> None:
    """Make the vectors of the session ``id`` anew; ``progress(done, total)`` on the event loop.

    Raises:
        SessionBusy: it is open, here or in another process.
        EmbeddingUnavailable: there is no model to do it with.
        StoreDamaged, StoreTooNew, StoreUnavailable.
    """
    path = tapes.tape_path(options.home, id)
    lock = SessionLock(path)
    if not await asyncio.to_thread(lock.take):
        raise SessionBusy(taken_sentence(lock.owner()))
    try:
        store = await asyncio.to_thread(lambda: MemoryStore(path, now=options.now))
        try:
            # Whom the session talks with decides whether its text may leave the machine.
            model = remembered_model(store, options.chat) or options.chat
            await EmbeddingWorker(store, options, lambda: model, _nobody_listens).reembed(progress)
        finally:
            await asyncio.to_thread(store.close)
    finally:
        lock.release()


def _nobody_listens(event: SessionEvent) -> None:
    """A session that is not open has no subscribers."""
