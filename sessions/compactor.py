"""Compaction behind the conversation: takes the ledger for what it covers, asks the ``summarize`` seat for the rest.

A turn never waits for it. While it runs, the view leaves out what does not fit; should the seat fail for good, the
deterministic excerpts take over and a notice says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

from memory.compaction import PROMPT_TOKENS, CompactionPlan
from memory.errors import OttoError
from memory.ledger_compaction import LEDGER
from memory.values import Compaction
from sessions.chat_model import ChatModel
from sessions.events import Compacting, MemoryChanged, Notice, SessionEvent
from sessions.live import LiveMemory
from sessions.observing.worker import ObservingWorker
from sessions.options import LedgerSettings

MOST_FAILURES = 3
"""In a row; then the seat is not asked again until the person compacts by hand or changes the model."""

WINDOW_SHARE = 0.5
"""Of the summariser's window, what the items of one request may fill."""

PATIENCE = 60.0
"""Seconds that a compaction waits at most for notes that are being taken of what it is to compact."""


class Compactor:
    """Compacts one session's Y when it overflows. All methods are called on the event loop.

    Args:
        observing: who takes the notes that a compaction may use.
    """

    def __init__(
        self,
        memory: LiveMemory,
        model: ChatModel,
        emit: Callable[[SessionEvent], None],
        observing: ObservingWorker,
        settings: LedgerSettings,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._memory = memory
        self._model = model
        self._emit = emit
        self._observing = observing
        self._settings = settings
        self._patience = patience
        self._failures = 0
        self._task: asyncio.Task[Compaction | None] | None = None
        self._again = False
        self._ahead = False
        self._compacting = False
        self._given_up: str | None = None

    @property
    def running(self) -> bool:
        """Whether it is still to be seen if there is something to compact, or a compaction is under way."""
        return self._task is not None and not self._task.done()

    @property
    def compacting(self) -> bool:
        """Whether a compaction has begun and is not swapped in yet."""
        return self._compacting

    @property
    def notice(self) -> str | None:
        """Why summaries are not being made, if so."""
        return self._given_up

    def use(self, model: ChatModel) -> None:
        """Ask another model from now on; what was given up is tried again."""
        self._model = model
        self._failures = 0
        self._given_up = None

    def poke(self) -> None:
        """Compact if Y has overflowed; where that is going on already, look again when it has ended."""
        self._again = True
        if not self.running:
            self._task = asyncio.create_task(self._until_it_fits())

    def poke_ahead(self) -> None:
        """Compact ahead of need what the ledger covers, if enough stands raw."""
        self._ahead = True
        self.poke()

    async def compact_now(self) -> Compaction | None:
        """Compact whatever is raw in Y, full or not; None when there is nothing, or when it was closed meanwhile."""
        await self.drain()
        self._failures = 0
        self._given_up = None
        task = self._task = asyncio.create_task(self._compact(patience=0.0))
        await asyncio.wait([task])
        return None if task.cancelled() else task.result()

    async def drain(self) -> None:
        """Wait until no compaction is running."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Drop a running compaction; what it would have replaced stays as it is."""
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _until_it_fits(self) -> Compaction | None:
        done = None
        try:
            while self._again:
                self._again = False
                ahead, self._ahead = self._ahead, False
                while await self._memory.run(self._has_overflowed):
                    done = await self._compact(patience=self._patience)
                    if done is None:
                        break
                if ahead and await self._memory.run(self._has_enough_ahead):
                    done = await self._by_ledger_alone()
        except OttoError as error:
            self._emit(Notice(f"The memory could not be compacted, so it waits for the next turn. {error}"))
        return done

    def _has_overflowed(self) -> bool:
        return self._memory.queue.needs_compaction

    def _has_enough_ahead(self) -> bool:
        queue = self._memory.queue
        if self._settings.passive or queue.mode == "summarize" or not queue.overflow:
            return False
        raw = sum(item.tokens for item in (*queue.overflow, *queue.recent_items))
        return raw >= self._settings.compact_after_tokens

    async def _compact(self, *, patience: float) -> Compaction | None:
        plan = await self._plan()
        if plan is not None and not _is_covered(plan) and await self._notes_came(patience):
            plan = await self._plan()
        if plan is None:
            return None
        if self._given_up is not None and plan.prompts:
            return await self._swap_in(plan, failure=self._given_up)
        return await self._carry_out(plan)

    async def _by_ledger_alone(self) -> Compaction | None:
        plan = await self._plan()
        return await self._carry_out(plan) if plan is not None and _is_covered(plan) else None

    async def _carry_out(self, plan: CompactionPlan) -> Compaction | None:
        made_by = LEDGER if _is_covered(plan) else self._model.name
        self._emit(Compacting(plan.items_in, made_by))
        self._compacting = True
        try:
            started = monotonic()
            replies, failure = await self._ask(plan)
            if plan.prompts and not any(replies):
                return await self._failed(plan, failure or "the summariser gave no answer")
            done = await self._swap_in(plan, replies, seconds=monotonic() - started, failure=failure)
        finally:
            self._compacting = False
        if done is not None and plan.prompts:
            self._count(done)
        return done

    async def _swap_in(
        self,
        plan: CompactionPlan,
        replies: Sequence[str | None] = (),
        *,
        seconds: float = 0.0,
        failure: str | None = None,
    ) -> Compaction | None:
        """Work out what the replies come to beside the conversation, and swap it in; None where that is stale by then.

        Without replies, what the ledger does not cover keeps excerpts of its own words.
        """
        queue = self._memory.queue
        next = await self._memory.read(
            queue.work_out, plan, replies, made_by=self._model.name, seconds=seconds, failure=failure
        )
        done = await self._memory.run(queue.swap_in, next)
        if done is not None:
            self._emit(MemoryChanged())
        return done

    async def _plan(self) -> CompactionPlan | None:
        queue = self._memory.queue
        plan = await self._memory.run(queue.plan_compaction)
        if plan is None or not plan.prompts:
            return plan
        # Only a model that is to be asked is asked how much it can read.
        prompt_tokens = await self._prompt_tokens()
        if prompt_tokens == PROMPT_TOKENS:
            return plan
        return await self._memory.run(queue.plan_compaction, prompt_tokens=prompt_tokens)

    async def _notes_came(self, patience: float) -> bool:
        """Wait for notes that are being taken; whether some are worth another plan."""
        if self._memory.queue.mode == "summarize" or not patience or not self._observing.running:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._observing.drain()
        return True

    async def _ask(self, plan: CompactionPlan) -> tuple[list[str | None], str | None]:
        replies: list[str | None] = []
        failure = None
        for prompt in plan.prompts:
            try:
                replies.append(await self._model.complete(prompt))
            except Exception as error:  # whatever a summariser raises, it is told, and the items stay reachable
                replies.append(None)
                failure = str(error) if isinstance(error, OttoError) else f"{self._model.name} failed: {error!r}."
        return replies, failure

    async def _failed(self, plan: CompactionPlan, reason: str) -> Compaction | None:
        """Nothing came back: leave everything as it is, and after some failures in a row stop asking."""
        self._failures += 1
        if self._failures < MOST_FAILURES:
            self._emit(Notice(f"The memory could not be summarised, so it waits for the next turn. {reason}"))
            return None
        self._give_up(reason)
        return await self._swap_in(plan, failure=reason)

    def _count(self, done: Compaction) -> None:
        shrank = done.tokens_after < done.tokens_before
        if done.failure is None and shrank:
            self._failures = 0
            return
        self._failures += 1
        if self._failures >= MOST_FAILURES and self._given_up is None:
            self._give_up(done.failure or "the summaries were not shorter than what they stood for")

    def _give_up(self, reason: str) -> None:
        self._given_up = (
            f"{self._model.name} failed to summarise {MOST_FAILURES} times in a row, so older items are now kept as"
            f" excerpts of their own words. Compact by hand or choose another model to try again. Last: {reason}"
        )
        self._emit(Notice(self._given_up))

    async def _prompt_tokens(self) -> int:
        window = await self._model.window()
        return PROMPT_TOKENS if window is None else max(500, min(PROMPT_TOKENS, int(window * WINDOW_SHARE)))


def _is_covered(plan: CompactionPlan) -> bool:
    """Whether the ledger alone has something for everything."""
    return plan.projection is not None and not plan.prompts and not plan.excerpts
