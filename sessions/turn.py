"""One turn: the request, the reply as it streams, rounds of tools in between, and what of it goes on the tape."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

from memory.ids import new_event_id
from memory.values import NewEvent
from sessions.chat_model import (
    ChatModel,
    Finished,
    Message,
    ModelError,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolSpec,
)
from sessions.drafts import ReplyInProgress
from sessions.events import Delta, SessionEvent, Thinking, TurnDone, Waiting
from sessions.live import LiveMemory
from sessions.tool_loop import ToolLoop
from sessions.view import messages_of, without_reply

STOPPED = "stopped"
FAILED = "failed"
CUT_AT_LIMIT = "length"
"""Why a reply is partial (``meta["partial"]``)."""


class Turn:
    """Runs once. ``stop`` ends it early; whatever has come by then is kept."""

    def __init__(
        self,
        memory: LiveMemory,
        model: ChatModel,
        loop: ToolLoop,
        system_prompt: str,
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._memory = memory
        self._model = model
        self._loop = loop
        self._system_prompt = system_prompt
        self._emit = emit
        self._id = new_event_id()
        self._reply = ReplyInProgress(self._save_draft)
        self._finishes: list[Finished] = []
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._whole = False

    async def run(self, *, retry: bool) -> TurnDone:
        """Ask the model and put its reply on the tape. A model's failure is in the result.

        Raises:
            StoreUnavailable: the reply could not be written (the draft still has it).
        """
        error: ModelError | None = None
        try:
            if not self._stopping:
                self._task = asyncio.create_task(self._converse(retry))
                await self._task
                self._whole = True
        except ModelError as failure:
            error = failure
        except asyncio.CancelledError:
            if _is_cancelled():
                self._stopping = True
                raise
        finally:
            try:
                await self._loop.end(stopped=self._stopping)
            finally:
                done = await self._keep(retry, error)
        return done

    def stop(self) -> None:
        """End the turn as soon as possible; before it runs, no model is asked."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()

    async def _converse(self, retry: bool) -> None:
        view = await self._memory.run(self._memory.queue.current_view)
        left_out = tuple(item.event.seq for item in view.left_out)
        self._loop.begin(messages_of(without_reply(view) if retry else view, self._system_prompt), left_out)
        while True:
            self._emit(Waiting(self._model.name))
            messages, tools = self._loop.next_request()
            calls, text = await self._ask(messages, tools)
            # A model may call tools that it was not offered.
            if not calls or not self._loop.may_call:
                return
            await self._loop.run(text, calls)

    async def _ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> tuple[list[ToolCall], str]:
        calls: list[ToolCall] = []
        text = ""
        # Closed here, so that a stream that is left early lets its connection go at once.
        async with aclosing(self._model.stream(messages, tools)) as stream:
            async for piece in stream:
                if isinstance(piece, TextDelta):
                    if not text:
                        self._begin_a_paragraph()
                    text += piece.text
                    self._take(piece.text)
                elif isinstance(piece, ReasoningDelta):
                    self._emit(Thinking(piece.text))
                elif isinstance(piece, ToolCall):
                    calls.append(piece)
                else:
                    self._finishes.append(piece)
        return calls, text

    def _begin_a_paragraph(self) -> None:
        """What comes after a tool call is set apart from what came before it."""
        before = self._reply.text
        if before and not before[-1].isspace():
            self._take("\n\n")

    def _take(self, text: str) -> None:
        self._reply.add(text)
        self._emit(Delta(text))

    def _save_draft(self, text: str) -> None:
        self._memory.run_soon(lambda: self._memory.store.save_draft(self._id, self._model.name, text))

    async def _keep(self, retry: bool, error: ModelError | None) -> TurnDone:
        """The reply, whole or in part, as an event."""
        self._reply.end()
        text = self._reply.text
        partial = self._partial(error)
        sentence = str(error) if error is not None else None
        prompt_tokens, completion_tokens, cost = self._used()
        event = None
        if text:
            meta: dict[str, Any] = {"model": self._model.name, "cost": cost}
            if prompt_tokens is not None:
                meta["usage"] = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
            meta |= {key: value for key, value in (("partial", partial), ("error", sentence)) if value}
            if retry:
                meta["retry"] = True
            new = NewEvent(id=self._id, role="assistant", source=self._model.name, text=text, meta=meta)
            event = await self._memory.run(self._memory.queue.append, new)
            await self._memory.run(self._memory.store.drop_draft, self._id)
        elif not partial:
            sentence = f"{self._model.name} sent an empty reply. Try again, or choose another model."
        return TurnDone(
            event,
            error=sentence,
            stopped=partial == STOPPED,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cost=cost,
        )

    def _partial(self, error: ModelError | None) -> str | None:
        if not self._whole or not self._finishes:
            return STOPPED if self._stopping and error is None else FAILED
        return CUT_AT_LIMIT if self._finishes[-1].reason == "length" else None

    def _used(self) -> tuple[int | None, int | None, float | None]:
        """Tokens and dollars over all requests of the turn; None where the vendor did not say."""
        usages = [finish.usage for finish in self._finishes if finish.usage is not None]
        costs = [finish.cost for finish in self._finishes]
        known = [cost for cost in costs if cost is not None]
        cost = sum(known) if costs and len(known) == len(costs) else None
        if not usages:
            return None, None, cost
        return sum(u.prompt_tokens for u in usages), sum(u.completion_tokens for u in usages), cost


def _is_cancelled() -> bool:
    """Whether the caller itself was cancelled, rather than what it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
