"""``Session``: one conversation. Open it, talk, watch its memory, take things back from it.

All methods are called on one event loop; what touches the disk runs on the memory's own thread. What happens is told
to subscribers as typed events (``sessions/events.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import OttoError, StoreReadOnly, UnknownId
from memory.store import CONVERSATION
from memory.tier_ledger import COMPACTED, compaction_of
from memory.values import (
    Compaction,
    EmbeddingState,
    Event,
    MemorySnapshot,
    NewEvent,
    RecalledSource,
    RecallResult,
    View,
)
from sessions import tapes
from sessions.approvals import Decision
from sessions.background import Background, ledger_status
from sessions.chat_model import Message
from sessions.errors import SessionBusy
from sessions.events import LoopChanged, MemoryChanged, Notice, Said, SessionEvent, ShellRan, TurnDone
from sessions.ids import checked_title, new_session_id
from sessions.index import SessionIndex
from sessions.listeners import Listeners, Unsubscribe
from sessions.listing import Listing
from sessions.live import LiveMemory
from sessions.loop_status import LoopStatus
from sessions.models import OpenModel, open_model
from sessions.observing.status import LedgerStatus, SessionStatus
from sessions.opening import open_memory
from sessions.options import Options
from sessions.remembered_model import remember_model
from sessions.rows import SessionRow
from sessions.seats import Seats
from sessions.tool_use import ToolUse
from sessions.toolbox import ToolInfo
from sessions.totals import Totals, totals_of
from sessions.turn import Turn
from sessions.turn_taking import TurnTaking
from sessions.view import SYSTEM_PROMPT, messages_of

if TYPE_CHECKING:
    from sessions.mcp_servers.connection import McpStatus


class Session:
    """One conversation. Make one with ``create`` or ``open``; close it with ``close``."""

    def __init__(
        self, options: Options, index: SessionIndex, row: SessionRow, open_model: OpenModel = open_model
    ) -> None:
        self.options = options
        self.read_only = False
        self.totals = Totals()
        self._listing = Listing(index, row)
        self._memory: LiveMemory | None = None
        self._seats = Seats(options, open_model, self.recall)
        self._background: Background | None = None
        self._turns = TurnTaking()
        self._use = ToolUse(options, row.workspace, self._emit)
        self._last: Event | None = None
        self._listeners = Listeners()
        self._hindrance: str | None = None
        self._closing = asyncio.Lock()

    # -- opening and closing -----------------------------------------------------------------------------------

    @classmethod
    async def create(
        cls, options: Options, workspace: str, index: SessionIndex, *, open_model: OpenModel = open_model
    ) -> Session:
        """A session in which nothing has been said. It has no file until something is."""
        now = options.now()
        id = new_session_id(now, lambda id: tapes.tape_path(options.home, id).exists())
        row = SessionRow(id=id, title="", workspace=workspace, created=now.isoformat())
        session = cls(options, index, row, open_model)
        session._use.tools.start()
        return session

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
        if not session.read_only:
            session._use.tools.start()
        return session

    async def close(self) -> None:
        """Stop what is running and close the file. A reply that was streaming is kept and marked.

        Nothing can be said in a closed session. Safe to call twice.
        """
        await self._turns.close()
        async with self._closing:
            try:
                await self._use.tools.close()
            finally:
                await self._let_memory_go()

    async def drain(self, timeout: float | None = None) -> None:
        """Wait until nothing behind the conversation is left to do, or ``timeout`` seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                if self._background is not None:
                    await self._background.drain()

    # -- watching ----------------------------------------------------------------------------------------------

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Unsubscribe:
        """Have ``callback`` told everything that happens, on the event loop. Returns how to end it.

        The first one is also told the notices that nobody could hear yet, such as why the session is read-only.
        """
        return self._listeners.add(callback)

    @property
    def id(self) -> str:
        return self._listing.row.id

    @property
    def title(self) -> str:
        return self._listing.title

    @property
    def workspace(self) -> str:
        """The folder in which it began."""
        return self._listing.row.workspace

    @property
    def parent(self) -> str | None:
        """The id of the session that it was forked from."""
        return self._listing.row.parent

    @property
    def busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turns.busy

    @property
    def model_name(self) -> str:
        return self._seats.chat.name

    @property
    def can_retry(self) -> bool:
        """Whether the last thing the person said has no whole reply."""
        last = self._last
        return not self.busy and last is not None and (last.protected or bool(last.meta.get("partial")))

    async def snapshot(self) -> MemorySnapshot:
        """The live memory right now."""
        memory, background = self._memory, self._background
        if memory is None or background is None:
            x, y = self.options.x_budget, self.options.y_budget
            return MemorySnapshot(0, 0, x, 0, y, (), (), (), 0, 0, 0, EmbeddingState(None, 0, 0), False)
        return await memory.run(
            memory.queue.snapshot,
            embedding=await background.embedding.state(),
            compacting=background.compactor.compacting,
            notice=background.notice,
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

    async def send(self, text: str, attachments: Sequence[Path] = ()) -> TurnDone:
        """Say ``text`` and have the model answer. The words are on disk before the model sees them.

        Args:
            attachments: files that are put before the model with the words, as they are now; relative to the workspace.

        A model's failure is told in the result, not raised.

        Raises:
            SessionBusy: a reply is still coming.
            AttachmentRefused: a file cannot be attached; nothing was sent.
            StoreReadOnly, StoreUnavailable: the words could not be written.
        """
        self._refuse_reading_only("gone on with")
        with self._turns.under_way():
            documents = await asyncio.to_thread(self._use.read_attachments, attachments) if attachments else []
            memory = await self._open_memory()
            await memory.run(self._listing.begin, memory.store, text)
            said = await memory.run(memory.queue.append, NewEvent(text=text, role="user", source="person"))
            for document in documents:
                await memory.run(memory.queue.append, document)
            self._last = said
            self._emit(Said(said))
            self._emit(MemoryChanged())
            done = await self._answer(memory, retry=False)
        return self._tell_end(done)

    async def retry(self) -> TurnDone:
        """Ask again for a reply to the last thing the person said. An earlier reply stays on the tape.

        Raises:
            SessionBusy: a reply is still coming.
            UnknownId: nothing has been said yet.
            StoreReadOnly: another process has the session open.
        """
        self._refuse_reading_only("gone on with")
        with self._turns.under_way():
            memory = self._memory
            if memory is None or not await memory.run(memory.was_spoken_to):
                raise UnknownId("There is nothing to retry yet: say something first.")
            done = await self._answer(memory, retry=True)
        return self._tell_end(done)

    def stop(self) -> None:
        """Stop the turn or the command that is under way. What has come of it is kept and marked."""
        self._turns.stop()

    async def run_shell(self, command: str) -> Event:
        """Run a command that the person typed, in the session's folder; ``stop`` ends it. The event has the output.

        Raises:
            SessionBusy: a reply is still coming.
            CommandFailed: it cannot be started.
            StoreReadOnly, StoreUnavailable: the output could not be written.
        """
        self._refuse_reading_only("gone on with")
        with self._turns.under_way():
            stop = asyncio.Event()
            with self._turns.stopped_by(stop.set):
                printed = await self._use.run_shell(command, stop)
            memory = await self._open_memory()
            await memory.run(self._listing.begin, memory.store, f"!{command}")
            event = await memory.run(memory.queue.append, printed)
            await self._record(memory, event)
            self._poke()
        self._emit(ShellRan(event))
        self._emit(MemoryChanged())
        return event

    # -- tools -------------------------------------------------------------------------------------------------

    @property
    def can_ask(self) -> bool:
        """Whether somebody answers ``ApprovalWanted`` with ``decide``; set by whoever shows it."""
        return self._use.can_ask

    @can_ask.setter
    def can_ask(self, value: bool) -> None:
        self._use.can_ask = value

    def decide(self, approval_id: str, decision: Decision) -> None:
        """Answer an approval. One that does not wait any more is left alone."""
        self._use.approvals.decide(approval_id, decision)

    def tools(self) -> tuple[ToolInfo, ...]:
        """Every tool there is, whether it is switched on or not."""
        return self._use.tools.infos()

    def servers(self) -> tuple[McpStatus, ...]:
        """Every MCP server that is configured."""
        return self._use.tools.servers()

    async def switch_tool(self, name_or_group: str, on: bool) -> None:
        """Switch a tool, or all of a group, from the next turn on. The session remembers it.

        Raises:
            UnknownId: there is neither.
        """
        await self._use.tools.switch(name_or_group, on)
        if self._memory is not None and not self.read_only:
            await self._memory.run(self._use.tools.remember, self._memory.store)
        self._emit(LoopChanged())

    def loop(self) -> LoopStatus:
        """The agent loop of the running turn, else of the last one."""
        return self._use.status()

    def complete_path(self, prefix: str) -> list[str]:
        """Files and folders that a path after ``@`` may become. Call it in a thread: it reads the disk."""
        return self._use.complete_path(prefix)

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
            await memory.run(memory.queue.set_budgets, *await self._seats.budgets())
            await memory.run(remember_model, memory.store, self.options.chat, name)
        if self._background is not None:
            self._background.renew()
        self._emit(MemoryChanged())

    async def compact_now(self) -> Compaction | None:
        """Compact Y's raw part now, full or not; None when there is none.

        Raises:
            StoreReadOnly: another process has the session open.
        """
        self._refuse_reading_only("compacted")
        return None if self._background is None else await self._background.compactor.compact_now()

    async def rename(self, title: str) -> None:
        """Give the session another title.

        Raises:
            TitleRefused: it has nothing to see.
            StoreUnavailable: it could not be written; the old title stays.
        """
        title = checked_title(title)
        if self._memory is None:
            self._listing.call(title)
        else:
            store = None if self.read_only else self._memory.store
            await self._memory.run(self._listing.rename, store, title)
        self._emit(MemoryChanged())

    async def reembed(self, progress: Callable[[int, int], None]) -> None:
        """Make all vectors anew with the current embedding model; ``progress(done, total)`` on the event loop.

        Raises:
            EmbeddingUnavailable: there is no model to do it with.
            StoreReadOnly: another process has the session open.
        """
        self._refuse_reading_only("embedded anew")
        if self._background is not None:
            await self._background.embedding.reembed(progress)

    # -- inside ------------------------------------------------------------------------------------------------

    def _refuse_reading_only(self, wish: str) -> None:
        if self.read_only:
            why = self._hindrance or "This session was opened for reading only."
            raise StoreReadOnly(f"{why} It cannot be {wish} here. A fork of it can.")

    async def _answer(self, memory: LiveMemory, *, retry: bool) -> TurnDone:
        embedding = None
        if self._background is not None:
            self._background.make_way()
            embedding = self._background.embedding
            embedding.choose()
        loop = await self._use.new_loop(memory, embedding)
        turn = Turn(memory, self._seats.chat, loop, self._system_prompt, self._emit)
        done = await self._turns.run(turn, retry=retry)
        if done.event is not None:
            self._last = done.event
            self.totals = self.totals.plus(done)
            await self._record(memory, done.event)
        self._poke()
        return done

    async def _record(self, memory: LiveMemory, reply: Event) -> None:
        """Put the finished turn into the index. The tape has it already, so a failing index costs a notice only."""
        counts = await memory.run(memory.store.counts)
        try:
            await asyncio.to_thread(self._listing.record, turns=counts.turns, updated=reply.t_event)
            await memory.run(remember_model, memory.store, self.options.chat, self.model_name)
        except OttoError as error:
            self._emit(Notice(f"The list of sessions was not updated. {error}"))

    def _tell_end(self, done: TurnDone) -> TurnDone:
        self._emit(done)
        self._emit(MemoryChanged())
        return done

    async def _open_memory(self, *, read_only: bool = False) -> LiveMemory:
        if self._memory is not None:
            return self._memory
        opened = await open_memory(self.options, self.id, await self._seats.budgets(), read_only=read_only)
        self._memory = opened.memory
        self.read_only = opened.memory.store.read_only
        self._hindrance = opened.hindrance
        try:
            await self._take_up(opened.memory)
        except BaseException:
            await self._let_memory_go()
            raise
        if opened.hindrance is not None:
            self._emit(Notice(opened.hindrance))
        return opened.memory

    async def _let_memory_go(self) -> None:
        background, self._background = self._background, None
        memory, self._memory = self._memory, None
        try:
            if background is not None:
                await background.close()
        finally:
            if memory is not None:
                await memory.close()

    async def _take_up(self, memory: LiveMemory) -> None:
        """Go on where the tape ends: the model that was last chosen, the totals, and what waits to be done."""
        hindrance = await self._seats.take_up(memory)
        if hindrance is not None:
            self._emit(Notice(hindrance))
        self.totals = await memory.run(totals_of, memory.store)
        self._last = await memory.run(memory.newest_message)
        await memory.run(self._use.tools.take_up, memory.store)
        self._background = Background(self.id, memory, self.options, self._seats, self._emit)
        self._poke()

    def _poke(self) -> None:
        if self._background is not None and not self._turns.closed:
            self._background.poke()

    async def _current_view(self) -> View:
        if self._memory is None:
            return View((), (), ())
        return await self._memory.run(self._memory.queue.current_view)

    @property
    def _system_prompt(self) -> str:
        return self.options.system_prompt if self.options.system_prompt is not None else SYSTEM_PROMPT

    def _emit(self, event: SessionEvent) -> None:
        self._listeners.tell(event)
