"""A chat model that does what a test scripts, without HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from memory.values import RecallResult
from sessions.chat_model import Finished, Message, ModelError, Piece, TextDelta, ToolSpec, Usage
from sessions.options import Options
from tests.memory.summarizers import honest

DEFAULT_REPLY = "service moved, ports checked, all of its tests ran and passed."

Step = str | Piece | ModelError | asyncio.Event
"""Text to stream, any other piece, a failure, or a gate to wait at."""


@dataclass
class ScriptedModel:
    """Answers each request with the next list of steps, or with a default reply."""

    name: str = "test/scripted"
    replies: list[Sequence[Step]] = field(default_factory=list)
    requests: list[list[Message]] = field(default_factory=list)
    offered: list[Sequence[ToolSpec]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    """What ``complete`` was asked."""
    summarize: Callable[[str], str] = honest
    summary_gate: asyncio.Event | None = None
    context_window: int | None = None
    window_gate: asyncio.Event | None = None
    cost: float | None = 0.001
    on_request: Callable[[], object] = lambda: None
    """Called as each request for a reply arrives."""

    async def window(self) -> int | None:
        if self.window_gate is not None:
            await self.window_gate.wait()
        return self.context_window

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        self.on_request()
        self.requests.append([dict(message) for message in messages])
        self.offered.append(tools)
        steps = (
            self.replies.pop(0)
            if self.replies
            else [
                f"Reply number {len(self.requests)}: ",
                "service moved, ports checked, all of its tests ran and passed.",
            ]
        )
        finished = False
        for step in steps:
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, ModelError):
                raise step
            elif isinstance(step, str):
                yield TextDelta(step)
            else:
                finished = finished or isinstance(step, Finished)
                yield step
        if not finished:
            yield Finished("stop", Usage(100, 20), self.cost, self.name)

    async def complete(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if self.summary_gate is not None:
            await self.summary_gate.wait()
        return self.summarize(prompt)

    def opened(
        self, name: str, options: Options, *, recall: Callable[[str], Awaitable[RecallResult]] | None = None
    ) -> ScriptedModel:
        """Takes the place of ``sessions.models.open_model``."""
        self.name = name
        return self
