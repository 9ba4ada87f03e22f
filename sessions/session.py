"""``Session``: one conversation. Open it, talk, watch its memory, take things back from it.

All methods are called on one event loop; what touches the disk runs on the memory's own thread. What happens is told
to subscribers as typed events (``sessions/events.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memory.errors import OttoError, StoreReadOnly, StoreUnavailable, UnknownId
from memory.store import CONVERSATION
from memory.tier_ledger import COMPACTED, compaction_of
from memory.values import (
    Compaction,
    Demotion,
    EmbeddingState,
    Event,
    MemorySnapshot,
    NewEvent,
    RecalledSource,
    RecallResult,
    View,
)
from sessions import tapes
from sessions.background import Background, ledger_status
from sessions.chat_model import Message
from sessions.errors import SessionBusy
from sessions.events import (
    Compacted,
    Demoted,
    MemoryChanged,
    Notice,
    Said,
    SessionEvent,
    TurnDone,
)
from sessions.ids import checked_title, new_session_id, title_of
from sessions.index import SessionIndex
from sessions.live import LiveMemory, scaled_budgets
from sessions.lock import SessionLock, taken_sentence
from sessions.models import OpenModel, open_model
from sessions.observing.status import LedgerStatus, SessionStatus
from sessions.options import Options
from sessions.remembered_model import remember_model, remembered_model
from sessions.rows import SessionRow
from sessions.seats import Seats
from sessions.totals import Totals, totals_of
from sessions.turn import Turn
from sessions.view import SYSTEM_PROMPT, messages_of

NEW_TITLE = "New session"
Unsubscribe = Callable[[], None]


class Session:
    """One conversation. Make one with ``create`` or ``open``; close it with ``close``."""

    def __init__(
        self, options: Options, index: SessionIndex, row: SessionRow, open_model: OpenModel = open_model
    ) -> None:
        self.options = options
        self.id = row.id
        self.title = row.title
        self.workspace = row.workspace
        self.parent = row.parent
        self.read_only = False
        self.busy = False
        self.totals = Totals()
        self._created = row.created
        self._index = index
        self._memory: LiveMemory | None = None
        self._seats = Seats(options, open_model, self.recall)
        self._background: Background | None = None
        self._turn: Turn | None = None
        self._last: Event | None = None
        self._callbacks: list[Callable[[SessionEvent], None]] = []
        self._unheard: list[Notice] = []

    # -- opening and closing -----------------------------------------------------------------------------------

    @classmethod
    async def create(
        cls, options: Options, workspace: str, index: SessionIndex, *, open_model: OpenModel = open_model
    ) -> Session:
        """A session in which nothing has been said. It has no file until something is."""
        now = options.now()
        id = new_session_id(now, lambda id: tapes.tape_path(options.home, id).exists())
        row = SessionRow(id=id, title=NEW_TITLE, workspace=workspace, created=now.isoformat())
        return cls(options, index, row, open_model)

    @classmethod
    async def open(
        cls,
        options: Options,
        row: SessionRow,
        index: SessionIndex,
        *,
        read_only: bool = False,
        open_model: OpenModel = open_model,
    ) -> Session:
        """A session as it was left; read-only, with a notice, where another process has it open.

        With ``read_only`` it is only looked at: nothing is locked, written, compacted or embedded.

        Raises:
            StoreDamaged, StoreTooNew, StoreUnavailable.
        """
        session = cls(options, index, row, open_model)
        await session._open_memory(read_only=read_only)
        return session

    async def close(self) -> None:
        """Stop what is running and close the file. A reply that was streaming is kept and marked."""
        if self._turn is not None:
            self.stop()
            await self._turn.ended()
        if self._background is not None:
            await self._background.close()
        if self._memory is not None:
            await self._memory.close()
            self._memory = None

    async def drain(self, timeout: float | None = None) -> None:
        """Wait until nothing behind the conversation is left to do, or ``timeout`` seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                if self._background is not None:
                    await self._background.drain()

    async def drain_compaction(self, timeout: float | None = None) -> None:
        """As ``drain``, for a running compaction only."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                if self._background is not None:
                    await self._background.compactor.drain()

    # -- watching ----------------------------------------------------------------------------------------------

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Unsubscribe:
        """Have ``callback`` told everything that happens, on the event loop. Returns how to end it.

        The first one is also told the notices that nobody could hear yet, such as why the session is read-only.
        """
        self._callbacks.append(callback)
        unheard, self._unheard = self._unheard, []
        for notice in unheard:
            asyncio.get_running_loop().call_soon(callback, notice)
        return lambda: self._callbacks.remove(callback)

    @property
    def model_name(self) -> str:
        return self._seats.chat.name

    @property
    def can_retry(self) -> bool:
        """Whether the last thing the person said has no whole reply."""
        last = self._last
        return not self.busy and last is not None and (last.protected or bool(last.meta.get("partial")))

    @property
    def budgets(self) -> tuple[int, int]:
        """X and Y in tokens, as they are in use."""
        if self._memory is None:
            return self.options.x_budget, self.options.y_budget
        return self._memory.queue.x_budget, self._memory.queue.y_budget

    async def snapshot(self) -> MemorySnapshot:
        """The live memory right now."""
        if self._memory is None:
            x, y = self.budgets
            return MemorySnapshot(0, 0, x, 0, y, (), (), (), 0, 0, 0, EmbeddingState(None, 0, 0), False)
        memory, background = self._memory, self._background
        state = await background.embedding.state() if background is not None else None
        return await memory.run(
            memory.queue.snapshot,
            embedding=state,
            compacting=background is not None and background.compactor.running,
            notice=background.notice if background is not None else None,
        )

    async def ledger(self) -> LedgerStatus:
        """What the ledger holds, what of it stands in the view, and how far its workers are.

        Raises:
            StoreDamaged, StoreUnavailable: the file cannot be read.
        """
        if self._background is None:
            return ledger_status(self.options)
        return await self._background.ledger()

    async def status(self) -> SessionStatus:
        """The live memory and the ledger, one after the other."""
        return SessionStatus(await self.snapshot(), await self.ledger())

    async def view(self) -> list[Message]:
        """Exactly what the next request carries, before what the person says next."""
        return messages_of(await self._current_view(), self._system_prompt)

    async def transcript(self, before: int | None = None, limit: int = 30, after: int | None = None) -> list[Event]:
        """A page of the tape, oldest first: the newest events before ``before``, or the first ones after ``after``."""
        if self._memory is None:
            return []
        memory = self._memory
        if after is not None:
            return await memory.read(memory.store.events, after=after, before=before, limit=limit)
        page = await memory.read(memory.store.events, before=before, limit=limit, newest_first=True)
        return page[::-1]

    async def compactions(self) -> list[Compaction]:
        """Every compaction so far, from the ledger."""
        if self._memory is None:
            return []
        entries = await self._memory.read(self._memory.store.ledger, CONVERSATION, COMPACTED)
        return [compaction_of(entry.data) for entry in entries]

    # -- talking -----------------------------------------------------------------------------------------------

    async def send(self, text: str) -> TurnDone:
        """Say ``text`` and have the model answer. The words are on disk before the model sees them.

        A model's failure is told in the result, not raised.

        Raises:
            SessionBusy: a reply is still coming.
            StoreReadOnly, StoreUnavailable: the words could not be written.
        """
        self._begin_turn()
        try:
            memory = await self._open_memory()
            new = NewEvent(text=text, role="user", source="person")
            said = await memory.run(memory.queue.append, new)
            if self.title == NEW_TITLE:
                self.title = title_of(said.text)
                await memory.run(tapes.write_facts, memory.store, self._row(turns=1, updated=said.t_event))
            self._last = said
            self._emit(Said(said))
            self._emit(MemoryChanged())
            done = await self._answer(memory, retry=False)
        except BaseException:
            self.busy = False
            raise
        return self._end_turn(done)

    async def retry(self) -> TurnDone:
        """Ask again for a reply to the last thing the person said. An earlier reply stays on the tape.

        Raises:
            SessionBusy: a reply is still coming.
            UnknownId: nothing has been said yet.
            StoreReadOnly: another process has the session open.
        """
        self._begin_turn()
        try:
            memory = await self._open_memory()
            if not any(item.event.protected for item in memory.queue.recent_items):
                raise UnknownId("There is nothing to retry yet: say something first.")
            done = await self._answer(memory, retry=True)
        except BaseException:
            self.busy = False
            raise
        return self._end_turn(done)

    def stop(self) -> None:
        """Stop the reply that is coming. What has come is kept and marked."""
        if self._turn is not None:
            self._turn.stop()

    # -- remembering -------------------------------------------------------------------------------------------

    async def recall(self, question: str) -> RecallResult:
        """What was said about ``question`` and is no longer in view, in exact words."""
        if self._memory is None or self._background is None:
            return RecallResult("recency", 0, ())
        view = await self._current_view()
        return await self._background.embedding.recall(question, tuple(item.event.seq for item in view.left_out))

    async def recall_id(self, id: str) -> RecalledSource:
        """The exact words behind an id of an event, a chunk or a bullet.

        Raises:
            UnknownId: there is no such id.
        """
        from memory.retrieval import recall_id

        if self._memory is None:
            raise UnknownId("Nothing has been said in this session yet, so there is nothing to recall.")
        return await self._memory.read(recall_id, self._memory.store, id)

    # -- changing ----------------------------------------------------------------------------------------------

    async def set_model(self, name: str) -> None:
        """Have another model answer from now on; the budgets follow its window.

        Raises:
            SessionBusy: a reply is still coming.
            ModelError: the name makes no sense.
        """
        if self.busy:
            raise SessionBusy("A reply is still coming. Stop it with Esc, then change the model.")
        self._seats.seat_chat(name)
        if self._memory is not None and not self.read_only:
            memory = self._memory
            await memory.run(memory.queue.set_budgets, *await self._scaled_budgets())
            await memory.run(remember_model, memory.store, self.options.chat, name)
        if self._background is not None:
            self._background.renew()
        self._emit(MemoryChanged())

    async def compact_now(self) -> Compaction | None:
        """Compact Y's raw part now, full or not; None when there is none.

        Raises:
            StoreReadOnly: another process has the session open.
        """
        if self.read_only:
            raise StoreReadOnly("This session is open in another Otto, so it cannot be compacted here.")
        return None if self._background is None else await self._background.compactor.compact_now()

    async def rename(self, title: str) -> None:
        """Give the session another title.

        Raises:
            TitleRefused: it has nothing to see.
        """
        self.title = checked_title(title)
        if self._memory is not None and not self.read_only:
            memory = self._memory
            await memory.run(memory.store.set_meta, tapes.TITLE, self.title)
            await asyncio.to_thread(self._index.rename, self.id, self.title)
        self._emit(MemoryChanged())

    async def reembed(self, progress: Callable[[int, int], None]) -> None:
        """Make all vectors anew with the current embedding model; ``progress(done, total)`` on the event loop.

        Raises:
            EmbeddingUnavailable: there is no model to do it with.
        """
        if self._background is not None:
            await self._background.embedding.reembed(progress)

    # -- inside ------------------------------------------------------------------------------------------------

    def _begin_turn(self) -> None:
        if self.read_only:
            raise StoreReadOnly("This session is open in another Otto, so nothing can be said here. Fork it to go on.")
        if self.busy:
            raise SessionBusy("A reply is still coming. Stop it with Esc, or wait for it.")
        self.busy = True

    async def _answer(self, memory: LiveMemory, *, retry: bool) -> TurnDone:
        embedder, cache = None, None
        if self._background is not None:
            embedder, cache = self._background.embedding.embedder, self._background.embedding.cache
        self._turn = Turn(memory, self._seats.chat, self.options, self._system_prompt, self._emit, embedder, cache)
        try:
            done = await self._turn.run(retry=retry)
        finally:
            self._turn = None
        if done.event is not None:
            self._last = done.event
            await self._record(memory, done)
        self._poke()
        return done

    async def _record(self, memory: LiveMemory, done: TurnDone) -> None:
        """Put the finished turn into the index. The tape has it already, so a failing index costs a notice only."""
        self.totals = self.totals.plus(done)
        counts = await memory.run(memory.store.counts)
        updated = done.event.t_event if done.event is not None else ""
        try:
            await asyncio.to_thread(self._index.record, self._row(turns=counts.turns, updated=updated))
            await memory.run(remember_model, memory.store, self.options.chat, self.model_name)
        except OttoError as error:
            self._emit(Notice(f"The list of sessions was not updated. {error}"))

    def _end_turn(self, done: TurnDone) -> TurnDone:
        self.busy = False
        self._emit(done)
        self._emit(MemoryChanged())
        return done

    async def _open_memory(self, *, read_only: bool = False) -> LiveMemory:
        if self._memory is not None:
            return self._memory
        path = tapes.tape_path(self.options.home, self.id)
        lock = SessionLock(path)
        mine, hindrance = False, None
        if not read_only:
            mine, hindrance = await asyncio.to_thread(_take, lock, path)
        budgets = await self._scaled_budgets()
        try:
            memory = await asyncio.to_thread(LiveMemory.open, path, self.options, budgets, lock if mine else None)
        except BaseException:
            lock.release()
            raise
        self._memory = memory
        self.read_only = not mine
        await self._take_up(memory)
        if hindrance is not None:
            self._emit(Notice(hindrance))
        return memory

    async def _take_up(self, memory: LiveMemory) -> None:
        """Go on where the tape ends: the model that was last chosen, the totals, and what waits to be done."""
        await self._take_up_model(memory)
        self.totals = await memory.run(totals_of, memory.store)
        self._last = await memory.run(_last_said, memory)
        loop = asyncio.get_running_loop()

        def tell_demotion(demotion: Demotion) -> None:
            loop.call_soon_threadsafe(self._emit, Demoted(demotion))

        def tell_compaction(done: Compaction) -> None:
            loop.call_soon_threadsafe(self._emit, Compacted(done))

        memory.queue.on_demotion = tell_demotion
        memory.queue.on_compaction = tell_compaction
        self._background = Background(self.id, memory, self.options, self._seats, self._emit)
        self._poke()

    async def _take_up_model(self, memory: LiveMemory) -> None:
        used = await memory.run(remembered_model, memory.store, self.options.chat)
        if used is not None and used != self.model_name:
            try:
                self._seats.seat_chat(used)
            except OttoError as error:
                self._emit(Notice(f"{error} {self.model_name} answers instead."))
                return
            if not self.read_only:
                await memory.run(memory.queue.set_budgets, *await self._scaled_budgets())

    def _poke(self) -> None:
        if self._background is not None:
            self._background.poke()

    async def _scaled_budgets(self) -> tuple[int, int]:
        return scaled_budgets(self.options, await self._seats.chat.window())

    async def _current_view(self) -> View:
        if self._memory is None:
            return View((), (), ())
        return await self._memory.run(self._memory.queue.current_view)

    @property
    def _system_prompt(self) -> str:
        return self.options.system_prompt if self.options.system_prompt is not None else SYSTEM_PROMPT

    def _row(self, *, turns: int, updated: str) -> SessionRow:
        return SessionRow(
            id=self.id,
            title=self.title,
            workspace=self.workspace,
            created=self._created or updated,
            updated=updated,
            turns=turns,
            parent=self.parent,
        )

    def _emit(self, event: SessionEvent) -> None:
        if not self._callbacks and isinstance(event, Notice):
            self._unheard.append(event)
        for callback in tuple(self._callbacks):
            callback(event)


def _take(lock: SessionLock, tape: Path) -> tuple[bool, str | None]:
    """Whether the session is this process's to write; if not, why, as a sentence.

    Raises:
        StoreUnavailable: the folder cannot be written, and there is no tape yet that could be read.
    """
    try:
        return (True, None) if lock.take() else (False, taken_sentence(lock.owner()))
    except StoreUnavailable as error:
        if not tape.exists():
            raise
        return False, str(error)


def _last_said(memory: LiveMemory) -> Event | None:
    items = memory.queue.recent_items
    return items[-1].event if items else None
