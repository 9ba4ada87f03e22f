"""All that goes on behind a session's conversation: compaction, notes for the ledger, and vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from memory.errors import OttoError
from memory.values import Compaction, Demotion
from sessions.compactor import Compactor
from sessions.embedding import EmbeddingWorker
from sessions.embedding_choice import is_local
from sessions.events import Compacted, Demoted, SessionEvent
from sessions.live import LiveMemory
from sessions.observing.clocks import Gauge
from sessions.observing.debug_log import DebugLog
from sessions.observing.status import LedgerStatus, record_bullets
from sessions.observing.worker import ObservingWorker
from sessions.options import OFFLINE, Options
from sessions.seats import Seats


def ledger_status(options: Options) -> LedgerStatus:
    """The status of a session in which nothing has been said yet."""
    settings = options.ledger
    return LedgerStatus(
        mode=options.compaction,
        observe=Gauge(0, settings.observe_after_tokens),
        reflect=Gauge(0, settings.reflect_after_tokens),
        compact=Gauge(0, settings.compact_after_tokens),
        pool=Gauge(0, settings.observations_pool_max_tokens),
        live_pool=Gauge(0, settings.pool_target),
        passive=settings.passive,
    )


class Background:
    """The workers of one open session. All methods are called on the event loop."""

    def __init__(
        self, session: str, memory: LiveMemory, options: Options, seats: Seats, emit: Callable[[SessionEvent], None]
    ) -> None:
        self._memory = memory
        self._options = options
        self._read_only = memory.store.read_only
        self._seats = seats
        log = DebugLog(options, session) if options.ledger.debug_log else None
        self.observing = ObservingWorker(memory, options, seats.of, emit, self._notes_taken, log)
        self.compactor = Compactor(memory, seats.of("summarize"), emit, self.observing, options.ledger)
        self.embedding = EmbeddingWorker(memory.store, options, lambda: seats.chat.name, emit)
        _tell_of_tiers(memory, emit)

    @property
    def notice(self) -> str | None:
        """Why the memory is not at its best right now, if so."""
        notices = [worker.notice for worker in (self.compactor, self.embedding) if worker.notice]
        return " ".join(notices) or None

    def poke(self) -> None:
        """Let each see whether there is something to do."""
        if self._read_only:
            return
        # First, so that a compaction knows of notes that are about to be taken.
        self.observing.poke()
        self.compactor.poke()
        self.embedding.poke()

    def make_way(self) -> None:
        """The person waits for a reply: let nothing of this machine's be taken by work that can wait."""
        if is_local(self._options, self._seats.chat.name):
            self.observing.make_way()

    def renew(self) -> None:
        """Another model chats: ask it where it has a seat, and try again what had been given up."""
        self.observing.renew()
        self.compactor.use(self._seats.of("summarize"))
        self.embedding.choose()
        self.poke()

    async def drain(self) -> None:
        """Wait until nobody has anything left to do."""
        while self.observing.running or self.compactor.running:
            await self.observing.drain()
            await self.compactor.drain()
        await self.embedding.drain()

    async def close(self) -> None:
        """End what is going on; nothing half-done is left behind."""
        await self.observing.close()
        await self.compactor.close()
        await self.embedding.close()

    async def ledger(self) -> LedgerStatus:
        """The ledger and its workers as they are now.

        Raises:
            StoreDamaged, StoreUnavailable: the file cannot be read.
        """
        now = await self.observing.now()
        queue = self._memory.queue
        bullets, raw = await self._memory.run(lambda: (queue.bullets, queue.overflow + queue.recent_items))
        shown = record_bullets(bullets)
        return replace(
            ledger_status(self._options),
            state=now.state,
            shown=shown,
            observe=now.observe,
            reflect=now.reflect,
            compact=Gauge(sum(item.tokens for item in raw), self._options.ledger.compact_after_tokens),
            pool=Gauge(sum(bullet.tokens for bullet in shown if bullet.form == "observation"), queue.pool_max_tokens),
            live_pool=Gauge(now.state.pool_tokens, self._options.ledger.pool_target),
            running=self.observing.stage,
            spent=self.observing.spent,
            errors=self.observing.errors,
            asleep=self._asleep(),
        )

    def _asleep(self) -> str | None:
        if self._read_only:
            return "The session is open for reading only, so nothing is recorded here."
        try:
            observer = self._seats.of("observe").name
        except OttoError as error:
            return str(error)
        if observer == OFFLINE:
            return "The offline model takes no notes; choose a language model, or one for the seat observe."
        return None

    def _notes_taken(self, recorded: bool) -> None:
        self.compactor.poke()
        if recorded:
            self.compactor.poke_ahead()


def _tell_of_tiers(memory: LiveMemory, emit: Callable[[SessionEvent], None]) -> None:
    """Have ``emit`` told on this event loop what moves in the tiers, on whatever thread it does."""
    loop = asyncio.get_running_loop()

    def tell_demotion(demotion: Demotion) -> None:
        loop.call_soon_threadsafe(emit, Demoted(demotion))

    def tell_compaction(done: Compaction) -> None:
        loop.call_soon_threadsafe(emit, Compacted(done))

    memory.queue.on_demotion = tell_demotion
    memory.queue.on_compaction = tell_compaction
