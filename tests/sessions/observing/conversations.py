"""Sessions with small budgets whose ledger is kept by a scripted note taker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory.ledger_fold import LedgerState
from memory.verify import verify
from sessions.events import Notice, SessionEvent
from sessions.library import Library
from sessions.options import LedgerSettings, Options
from sessions.session import Session
from tests.sessions.observing.note_takers import NOTES, Models, NoteTaker
from tests.sessions.scripted_model import ScriptedModel

LEDGER = LedgerSettings(
    observe_after_tokens=150,
    reflect_after_tokens=300,
    observations_pool_max_tokens=1_000,
    observations_pool_target_tokens=200,
)


def options_for(home: Path, *, ledger: dict[str, Any] | None = None, **changes: Any) -> Options:
    """Small budgets, and a ledger that is kept every few turns by ``NOTES``."""
    fields = {"chat": "test/scripted", "x_budget": 200, "y_budget": 600, "embedding": "none"}
    seats = {"observe": NOTES, "reflect": NOTES, "drop": NOTES}
    return Options(home=home, **{**fields, **seats, **changes, "ledger": replace(LEDGER, **(ledger or {}))})


class Talk:
    """A conversation and everything that it told."""

    def __init__(self, session: Session, notes: NoteTaker, chat: ScriptedModel) -> None:
        self.session = session
        self.notes = notes
        self.chat = chat
        self.heard: list[SessionEvent] = []
        self._said = 0
        session.subscribe(self.heard.append)

    async def say(self, turns: int, *, settle: bool = True) -> None:
        """Say something new so many times; with ``settle``, let what goes on behind it end after each turn."""
        for _ in range(turns):
            self._said += 1
            done = await self.session.send(sentence(self._said))
            assert done.error is None
            if settle:
                await self.session.drain()

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.heard if isinstance(event, Notice)]

    async def state(self) -> LedgerState:
        return (await self.session.ledger()).state

    async def check(self) -> None:
        """Every invariant holds, so that nothing is lost and everything is reachable."""
        memory = self.session._memory
        assert memory is not None
        report = await memory.run(verify, memory.store)
        assert report.ok, [check for check in report.checks if not check.ok]
        snapshot = await self.session.snapshot()
        assert snapshot.turns == self._said


def sentence(number: int) -> str:
    return f"Question {number}: please keep port {4000 + number} free, since service {number} will move there."


@asynccontextmanager
async def talking(
    options: Options, notes: NoteTaker | None = None, chat: ScriptedModel | None = None, *, id: str | None = None
) -> AsyncIterator[Talk]:
    """A new session, or the one with this id."""
    notes, chat = notes or NoteTaker(), chat or ScriptedModel()
    library = Library(options, open_model=Models(chat, notes))
    session = await (library.new("/work/garden") if id is None else library.open(id))
    talk = Talk(session, notes, chat)
    talk._said = (await session.snapshot()).turns
    try:
        yield talk
    finally:
        await session.close()
