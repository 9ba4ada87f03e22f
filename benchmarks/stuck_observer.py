"""From Enter to the chat request, while an observer hangs behind the conversation and while nothing goes on there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from memory.bench_conversation import conversation
from sessions.chat_model import ChatModel, Finished, Message, Piece, TextDelta, ToolSpec
from sessions.library import Library
from sessions.models import Recall
from sessions.options import LedgerSettings, Options
from sessions.session import Session

CHAT, NOTES = "instant", "stuck"

ROOMY_Y_BUDGET = 1_000_000
"""Tokens. Nothing is ever compacted in it."""

OBSERVE_AFTER = 500
"""Tokens; the observer is asked after a few turns."""


@dataclass
class ClockedModel:
    """Answers at once with the next report, and notes when it was asked."""

    replies: list[str]
    asked_at: float = 0.0
    name: str = CHAT

    async def window(self) -> int | None:
        return None

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        self.asked_at = perf_counter()
        yield TextDelta(self.replies.pop())
        yield Finished("stop", None, 0.0, self.name)

    async def complete(self, prompt: str) -> str:
        raise AssertionError("nothing is compacted here")


@dataclass
class StuckModel:
    """Is asked, and never says a word."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    name: str = NOTES

    async def window(self) -> int | None:
        return None

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        self.asked.set()
        await asyncio.Event().wait()
        yield TextDelta("")

    async def complete(self, prompt: str) -> str:
        raise AssertionError("nobody asks this of it")


@dataclass
class Talk:
    """A session with more to say."""

    session: Session
    chat: ClockedModel
    observer: StuckModel
    said: list[str]

    async def turn(self) -> float:
        """Seconds from Enter to the moment at which the chat model is asked."""
        began = perf_counter()
        await self.session.send(self.said.pop())
        return self.chat.asked_at - began


async def enter_times(home: Path, turns: int) -> tuple[list[float], list[float]]:
    """Seconds of each turn beside an observer that hangs, and of the same turn with nothing beside it.

    Their turns alternate; both sessions hold the same.
    """
    beside = await _talk(home / "beside", turns, passive=False)
    alone = await _talk(home / "alone", turns, passive=True)
    try:
        while not beside.observer.asked.is_set():
            await beside.turn()
            await alone.turn()
        times: dict[int, list[float]] = {id(beside): [], id(alone): []}
        for place in range(turns):
            for talk in (beside, alone) if place % 2 else (alone, beside):
                times[id(talk)].append(await talk.turn())
        assert (await beside.session.ledger()).running == "observe"
        assert (await alone.session.ledger()).running is None
    finally:
        await beside.session.close()
        await alone.session.close()
    return times[id(beside)], times[id(alone)]


async def _talk(home: Path, turns: int, *, passive: bool) -> Talk:
    events = list(conversation(turns + 100))
    chat = ClockedModel([event.text for event in events if event.role == "assistant"])
    observer = StuckModel()

    def open_model(name: str, options: Options, *, recall: Recall | None = None) -> ChatModel:
        return observer if name == NOTES else chat

    options = Options(
        home=home,
        chat=CHAT,
        observe=NOTES,
        y_budget=ROOMY_Y_BUDGET,
        embedding="none",
        ledger=LedgerSettings(observe_after_tokens=OBSERVE_AFTER, passive=passive),
    )
    session = await Library(options, open_model=open_model).new(str(home))
    return Talk(session, chat, observer, [event.text for event in events if event.role == "user"])
