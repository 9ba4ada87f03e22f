"""What a turn costs outside the model: with a model that answers at once, beside a compaction or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from memory.bench_conversation import conversation
from memory.gist import gist
from sessions.chat_model import Finished, Message, Piece, TextDelta, ToolSpec
from sessions.library import Library
from sessions.options import LedgerSettings, Options
from sessions.session import Session

X_BUDGET, Y_BUDGET = 4_000, 24_000
MOST_TURNS = 1_000

ROOMY_Y_BUDGET = 1_000_000
"""Tokens. Nothing is ever compacted in it."""


class InstantModel:
    """Answers at once with the next report; a summary waits until it is let go."""

    name = "instant"

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies = list(replies)
        self.asked = asyncio.Event()
        self.let_go = asyncio.Event()

    async def window(self) -> int | None:
        return None

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        yield TextDelta(self._replies.pop())
        yield Finished("stop", None, 0.0, self.name)

    async def complete(self, prompt: str) -> str:
        self.asked.set()
        await self.let_go.wait()
        return await asyncio.to_thread(gist, prompt)


@dataclass
class Talk:
    """A session that has just filled Y, with more to say."""

    session: Session
    model: InstantModel
    said: list[str]

    async def turn(self) -> float:
        """Seconds from Enter to the reply on disk."""
        began = perf_counter()
        await self.session.send(self.said.pop())
        return perf_counter() - began

    async def close(self) -> None:
        self.model.let_go.set()
        await self.session.close()


async def turn_times(home: Path, turns: int, *, y_budget: int = Y_BUDGET) -> tuple[list[float], list[float]]:
    """Seconds of each turn beside a compaction whose summary is being waited for, and of the same turn without one.

    Both sessions have the same memory; only the budget of Y differs. Their turns alternate.
    """
    beside = await _filled(home / "beside", y_budget, y_budget)
    alone = await _filled(home / "alone", ROOMY_Y_BUDGET, y_budget)
    try:
        await beside.model.asked.wait()
        times: dict[int, list[float]] = {id(beside): [], id(alone): []}
        for place in range(turns):
            for talk in (beside, alone) if place % 2 else (alone, beside):
                times[id(talk)].append(await talk.turn())
        assert (await beside.session.snapshot()).compacting
        assert not (await alone.session.snapshot()).compacting
    finally:
        await beside.close()
        await alone.close()
    return times[id(beside)], times[id(alone)]


async def _filled(home: Path, y_budget: int, until: int) -> Talk:
    """Talk until Y holds a little more than so many tokens."""
    events = list(conversation(MOST_TURNS))
    model = InstantModel([event.text for event in events if event.role == "assistant"])
    said = [event.text for event in events if event.role == "user"]
    options = Options(
        home=home,
        chat=model.name,
        x_budget=X_BUDGET,
        y_budget=y_budget,
        embedding="none",
        ledger=LedgerSettings(passive=True),
    )
    session = await Library(options, open_model=lambda name, options, recall=None: model).new(str(home))
    talk = Talk(session, model, said)
    while (await session.snapshot()).y_tokens <= until:
        for _ in range(10):
            await talk.turn()
    return talk
