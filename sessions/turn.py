"""One turn: the request, the reply as it streams, the tools it asks for, and what of it goes on the tape."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
    tool_request,
)
from sessions.drafts import ReplyInProgress
from sessions.embedding import EmbeddingWorker
from sessions.events import Delta, SessionEvent, Thinking, ToolUsed, TurnDone, Waiting
from sessions.live import LiveMemory
from sessions.options import Options
from sessions.tools import TOOLS, RecallPolicy, ToolAnswer, bind_store, call_tool
from sessions.view import messages_of, without_reply

MOST_ROUNDS = 8
"""Requests in one turn; the last one is made without tools, so that it must answer."""

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
        options: Options,
        system_prompt: str,
        emit: Callable[[SessionEvent], None],
        embedding: EmbeddingWorker | None = None,
    ) -> None:
        self._memory = memory
        self._model = model
        self._policy = RecallPolicy(options.recall_chunks, options.recall_window, options.recall_tokens)
        self._system_prompt = system_prompt
        self._emit = emit
        self._embedding = embedding
        self._id = new_event_id()
        self._reply = ReplyInProgress(self._save_draft)
        self._finishes: list[Finished] = []
        self._left_out: tuple[int, ...] = ()
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
            done = await self._keep(retry, error)
        return done

    def stop(self) -> None:
        """End the turn as soon as possible; before it runs, no model is asked."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()

    async def _converse(self, retry: bool) -> None:
        view = await self._memory.run(self._memory.queue.current_view)
        self._left_out = tuple(item.event.seq for item in view.left_out)
        messages = messages_of(without_reply(view) if retry else view, self._system_prompt)
        for round in range(MOST_ROUNDS):
            self._emit(Waiting(self._model.name))
            calls, text = await self._ask(messages, may_call=round < MOST_ROUNDS - 1)
            if not calls:
                return
            messages.append(tool_request(text, calls))
            for call in calls:
                answer = await self._call(call)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": answer.text})

    async def _ask(self, messages: list[Message], *, may_call: bool) -> tuple[list[ToolCall], str]:
        calls: list[ToolCall] = []
        text = ""
        # Closed here, so that a stream that is left early lets its connection go at once.
        async with aclosing(self._model.stream(messages, TOOLS if may_call else [])) as stream:
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

    async def _call(self, call: ToolCall) -> ToolAnswer:
        answer = await asyncio.to_thread(self._answer, call)
        await self._memory.run(
            self._memory.queue.append,
            NewEvent(
                text=call.arguments,
                role="tool",
                kind="note",
                source=call.name,
                refs=answer.refs,
                meta={"summary": answer.summary},
            ),
        )
        self._emit(ToolUsed(call.name, call.arguments, answer.summary))
        return answer

    def _answer(self, call: ToolCall) -> ToolAnswer:
        embedder, cache, reranker = None, None, None
        if self._embedding is not None:
            embedder, cache, reranker = self._embedding.ranks_now(), self._embedding.cache, self._embedding.reranker
        with bind_store(self._memory.store, embedder, self._policy, self._left_out, cache, reranker):
            return call_tool(call.name, call.arguments)

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
