"""Models that sit on the seats of the ledger's workers and do what a test wants, without HTTP."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.values import RecallResult
from sessions.chat_model import ChatModel, Finished, Message, ModelError, Piece, TextDelta, ToolCall, ToolSpec, Usage
from sessions.options import Options

Step = str | Piece | ModelError | asyncio.Event
"""Text to stream, any other piece, a failure, or a gate to wait at."""

NOTES = "test/notes"


@dataclass(frozen=True)
class Request:
    """What a note taker was asked."""

    messages: Sequence[Message]
    tool: str | None
    """The name of the tool on offer."""

    @property
    def text(self) -> str:
        return "\n\n".join(str(message.get("content") or "") for message in self.messages)

    @property
    def entries(self) -> list[str]:
        """The ids of the conversation's entries in it, oldest first."""
        return re.findall(r"^\[entry (\S+)\]", self.text, re.MULTILINE)

    @property
    def observations(self) -> list[str]:
        """The ids of the observations in it."""
        return re.findall(r"^(?:\w+: )?\[([0-9a-f]{12})\] \d{4}-", self.text, re.MULTILINE)

    @property
    def is_answered(self) -> bool:
        """The tool has been called already."""
        return str(self.messages[-1]["role"]) == "tool"

    @property
    def stage(self) -> str:
        """By the system prompt: ``observe``, ``reflect`` or ``drop``."""
        system = str(self.messages[0]["content"])
        return next(stage for name, stage in _STAGES.items() if name in system)


_STAGES = {"record_observations": "observe", "record_reflections": "reflect", "drop_observations": "drop"}


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("call_1", name, json.dumps(arguments))


def note(content: str, *sources: str, relevance: str = "medium", timestamp: str = "2026-03-02 09:00") -> dict[str, Any]:
    return {"content": content, "sources": list(sources), "relevance": relevance, "timestamp": timestamp}


def dutiful(request: Request) -> Sequence[Step]:
    """One note on each entry, one conclusion on the two oldest notes, and every note proposed to be dropped."""
    if request.is_answered:
        return ["Done."]
    if request.stage == "observe":
        notes = [note(f"What entry {id} says, in short.", id) for id in request.entries]
        return [call("record_observations", observations=notes)]
    if request.stage == "reflect":
        support = request.observations[:2]
        return [call("record_reflections", reflections=[{"content": f"On {' '.join(support)}.", "supports": support}])]
    return [call("drop_observations", ids=request.observations, reason="covered")]


def as_text(request: Request) -> Sequence[Step]:
    """The same without a tool: JSON among other words. With a tool on offer it only talks."""
    if request.tool is not None:
        return ["I would be glad to help with that."]
    made = dutiful(Request(request.messages, request.stage))
    assert isinstance(made[0], ToolCall)
    return ["Here it is:\n```json\n", made[0].arguments, "\n```\nAnything else?"]


@dataclass
class NoteTaker:
    """Answers each request by ``behave``. Implements ``ChatModel``."""

    behave: Callable[[Request], Sequence[Step]] = dutiful
    name: str = NOTES
    context_window: int | None = None
    requests: list[Request] = field(default_factory=list)
    dropped: int = 0
    """Requests that were given up before they were answered."""

    async def window(self) -> int | None:
        return self.context_window

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        request = Request([dict(message) for message in messages], tools[0]["function"]["name"] if tools else None)
        self.requests.append(request)
        for step in self.behave(request):
            if isinstance(step, asyncio.Event):
                await self._wait(step)
            elif isinstance(step, ModelError):
                raise step
            elif isinstance(step, str):
                yield TextDelta(step)
            else:
                yield step
        yield Finished("stop", Usage(50, 10), 0.0, self.name)

    async def _wait(self, gate: asyncio.Event) -> None:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            self.dropped += 1
            raise

    async def complete(self, prompt: str) -> str:
        raise AssertionError("a note taker is never asked this way")

    def of(self, stage: str) -> list[Request]:
        """The requests of one worker."""
        return [request for request in self.requests if request.stage == stage]


class Models:
    """Opens models by their names; takes the place of ``sessions.models.open_model``."""

    def __init__(self, *models: ChatModel) -> None:
        self._models = {model.name: model for model in models}

    def __call__(
        self, name: str, options: Options, *, recall: Callable[[str], Awaitable[RecallResult]] | None = None
    ) -> ChatModel:
        return self._models[name]
