"""The rounds of one turn: what the model calls is written down, run, answered, and kept from growing without bound.

Each call is on the tape before it runs, and its result as soon as it is there, so a kill loses at most what a tool had
not printed yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Protocol

from memory.ids import new_event_id
from memory.text import storable
from memory.values import Event, NewEvent
from sessions.approvals import Approval, Ask, Decision
from sessions.chat_model import Message, ToolCall, ToolSpec
from sessions.context_tier import ContextTier, Result
from sessions.events import Evicted, LoopChanged, SessionEvent, ToolCalled, ToolUsed
from sessions.live import LiveMemory
from sessions.loop_status import LoopCall, LoopStatus
from sessions.options import ToolSettings
from sessions.output_cap import capped
from sessions.recalling import InView
from sessions.toolbox import CallContext, Tool, ToolAnswer, Toolbox, refusal
from sessions.tools import MEMORY_GROUP, RECALL_MEMORY

STOPPED_ANSWER = "Stopped by the person."
FAILED_ANSWER = "The turn ended before this call did."

GRACE = 30.0
"""Seconds beyond a tool's own time before its call is given up."""


class BindMemory(Protocol):
    """Lets the tools of the group ``memory`` that are called inside read the session's memory."""

    def __call__(self, *, narrow: bool, in_view: InView) -> AbstractContextManager[object]: ...


def bind_nothing(*, narrow: bool, in_view: InView) -> AbstractContextManager[object]:
    """For a loop without a memory to search."""
    return nullcontext()


@dataclass(slots=True)
class _Running:
    """A call that has no result on the tape yet."""

    call: ToolCall
    tool: Tool | None
    asked: asyncio.Future[Event]
    """The call's event, once it is on the tape."""
    started: float = field(default_factory=monotonic)
    so_far: ToolAnswer | None = None
    """What the tool had when it was cancelled."""
    answer: ToolAnswer | None = None
    answered: asyncio.Future[Event] | None = None
    """The result's event, once it is on the tape; None while nobody writes it."""

    def keep(self, answer: ToolAnswer) -> None:
        self.so_far = answer

    async def settle(self) -> None:
        """Wait for a result that is being written; where it could not be, another may be."""
        if self.answered is not None:
            await asyncio.wait([self.answered])
            if self.answered.exception() is not None:
                self.answered = None


class ToolLoop:
    """Runs once, for one turn. All methods are called on the event loop.

    Args:
        bind: makes the memory readable for the calls of one round.
        ask: puts a question before the person; None where nobody can be asked.
        patience: seconds that the slowest tool may take by its own settings; a little later any call is given up.
    """

    def __init__(
        self,
        memory: LiveMemory,
        toolbox: Toolbox,
        settings: ToolSettings,
        emit: Callable[[SessionEvent], None],
        *,
        bind: BindMemory = bind_nothing,
        ask: Ask | None = None,
        patience: float | None = None,
    ) -> None:
        self._memory = memory
        self._toolbox = toolbox
        self._specs = toolbox.specs()
        self._settings = settings
        self._emit = emit
        self._bind = bind
        self._ask = ask
        self._limit = (settings.command_timeout if patience is None else patience) + GRACE
        self._slots = asyncio.Semaphore(settings.parallel)
        self._tier = self._tier_over(())
        self._left_out: tuple[int, ...] = ()
        self._calls = 0
        self._rounds = 0
        self._at_work = False
        self._ended = False
        self._ids: set[str] = set()
        self._unanswered: dict[str, _Running] = {}
        self._made: dict[str, LoopCall] = {}

    def begin(self, seed: Sequence[Message], left_out: tuple[int, ...] = ()) -> None:
        """Start from the messages that the view came to; ``left_out`` are the events for which it had no room."""
        self._tier = self._tier_over(seed)
        self._left_out = left_out

    @property
    def may_call(self) -> bool:
        """Whether the ceiling leaves room for another call."""
        return self._calls < self._settings.max_calls

    def next_request(self) -> tuple[list[Message], list[ToolSpec]]:
        """The messages of the next request, and the tools that it offers: none once the ceiling is reached."""
        if self.may_call:
            messages, specs = self._tier.request(), self._specs
        else:
            messages, specs = self._tier.closing(self._closing_note()), []
        self._emit(LoopChanged())
        return messages, specs

    async def run(self, text: str, calls: Sequence[ToolCall]) -> None:
        """One round: run the model's calls, as many at once as the settings allow, and take in what they come to.

        Raises:
            StoreUnavailable: a call or its result could not be written.
        """
        self._rounds += 1
        named = [self._with_own_id(call) for call in calls]
        running = [await self._begin(call) for call in named]
        in_view = InView(self._left_out, self._tier.verbatim_events(), self._tier.gone_events())
        with self._bind(narrow=self._at_work, in_view=in_view):
            results = await _all([self._answer(one) for one in running])
        cut = self._tier.add(text, named, results)
        if cut is not None:
            self._emit(Evicted(cut.calls, cut.chars_before, cut.chars_after))
        self._emit(LoopChanged())

    async def end(self, *, stopped: bool) -> None:
        """Give every call that was under way its result: that it was stopped, or that the turn failed."""
        try:
            for running in list(self._unanswered.values()):
                # A call that could not be written down needs no result.
                await asyncio.wait([running.asked])
                if running.asked.exception() is None:
                    await running.settle()
                    await self._finish(running, _cut_off(running, STOPPED_ANSWER if stopped else FAILED_ANSWER))
        finally:
            self._ended = True
            self._emit(LoopChanged())

    def status(self) -> LoopStatus:
        evicted = self._tier.evicted_calls
        made = tuple(replace(call, evicted=call.call in evicted) for call in self._made.values())
        return replace(self._tier.status(running=not self._ended), made=made)

    # -- inside ------------------------------------------------------------------------------------------------

    def _tier_over(self, seed: Sequence[Message]) -> ContextTier:
        settings = self._settings
        return ContextTier(
            seed,
            loop_compact_at=settings.loop_compact_at,
            keep_verbatim=settings.keep_verbatim,
            searchable=self._toolbox.tool(RECALL_MEMORY) is not None,
            max_calls=settings.max_calls,
        )

    def _closing_note(self) -> str:
        return (
            f"You have called {self._settings.max_calls} tools, which is the most in one turn, so none can be called"
            " now. Answer with what you have found, and say what is left to do; the person can tell you to go on."
        )

    def _with_own_id(self, call: ToolCall) -> ToolCall:
        """Some servers give two calls one id, and then nobody could tell which of them is answered."""
        named = replace(call, id=f"call_{new_event_id()}") if not call.id or call.id in self._ids else call
        self._ids.add(named.id)
        return named

    async def _begin(self, call: ToolCall) -> _Running:
        tool = self._toolbox.tool(call.name)
        meta: dict[str, Any] = {"call": call.id, "round": self._rounds}
        if tool is not None:
            meta["group"] = tool.group
        new = NewEvent(text=call.arguments, role="assistant", kind="tool", source=call.name, meta=meta)
        running = self._unanswered[call.id] = _Running(call, tool, self._write(new))
        await asyncio.shield(running.asked)
        self._made[call.id] = LoopCall(call.id, call.name, ended=False)
        self._emit(ToolCalled(call.id, call.name, call.arguments))
        return running

    async def _answer(self, running: _Running) -> Result:
        self._calls += 1
        if self._calls > self._settings.max_calls:
            answer = refusal(f"Not run: {self._settings.max_calls} calls are the most in one turn.")
        else:
            async with self._slots:
                running.started = monotonic()
                answer = await self._run_tool(running)
        return await self._finish(running, answer)

    async def _run_tool(self, running: _Running) -> ToolAnswer:
        call = running.call
        limit = self._limit
        try:
            async with asyncio.timeout(limit) as deadline:
                ask = None if self._ask is None else _without_the_clock(self._ask, deadline, limit)
                answer = await self._toolbox.answer(call, CallContext(call.id, self._emit, ask, running.keep))
            return replace(answer, text=capped(answer.text, self._settings.output_cap))
        except TimeoutError:
            late = f"{call.name} had not answered after {limit:g} seconds and was stopped."
            return _cut_off(running, f"{late} Ask it for less, or go on without it.")
        finally:
            if running.tool is not None and running.tool.group != MEMORY_GROUP:
                self._at_work = True

    async def _finish(self, running: _Running, answer: ToolAnswer) -> Result:
        """The result, on the tape. A result that is being written already is the one that counts."""
        call, asked = running.call, running.asked.result()
        if running.answered is None:
            running.answer = answer
            running.answered = self._write(_result_event(running, answer, asked))
        event = await asyncio.shield(running.answered)
        answer = running.answer or answer
        if self._unanswered.pop(call.id, None) is not None:
            self._made[call.id] = LoopCall(
                call.id, call.name, answer.summary, len(event.text), ok=answer.ok, event=event.id
            )
            self._emit(
                ToolUsed(call.name, call.arguments, answer.summary, call.id, answer.ok, len(event.text), event.text)
            )
        return Result(call, event.text, answer.summary, event.id, event.seq, asked.seq)

    def _write(self, new: NewEvent) -> asyncio.Future[Event]:
        """Put an event on the tape, whoever is cancelled meanwhile."""
        return asyncio.ensure_future(self._memory.run(self._memory.queue.append, new))


def _cut_off(running: _Running, sentence: str) -> ToolAnswer:
    """The answer of a call that did not come to its end: why, after what it had so far."""
    if running.so_far is None:
        return refusal(sentence)
    return replace(running.so_far, text=storable(f"{running.so_far.text}\n\n{sentence}"), ok=False)


def _result_event(running: _Running, answer: ToolAnswer, asked: Event) -> NewEvent:
    seconds = round(monotonic() - running.started, 3)
    meta: dict[str, Any] = {"call": running.call.id, "summary": answer.summary, "ok": answer.ok, "seconds": seconds}
    if running.tool is not None:
        meta["group"] = running.tool.group
    return NewEvent(
        text=answer.text,
        role="tool",
        kind="tool",
        source=running.call.name,
        refs=(asked.id, *answer.refs),
        meta=meta,
    )


async def _all(answers: Sequence[Coroutine[object, object, Result]]) -> list[Result]:
    """What all of them come to, in their order. When one fails or the caller is cancelled, none goes on."""
    tasks = [asyncio.create_task(answer) for answer in answers]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def _without_the_clock(ask: Ask, deadline: asyncio.Timeout, limit: float) -> Ask:
    """``ask``, during which no time runs out: a person may think as long as they like."""

    async def asking(approval: Approval) -> Decision:
        deadline.reschedule(None)
        try:
            return await ask(approval)
        finally:
            deadline.reschedule(asyncio.get_running_loop().time() + limit)

    return asking
