"""Hearing what a session tells, and waiting for what it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from sessions.events import Notice, SessionEvent
from sessions.session import Session


def heard(session: Session) -> list[SessionEvent]:
    """Everything that the session tells from now on."""
    events: list[SessionEvent] = []
    session.subscribe(events.append)
    return events


def notices(events: Sequence[SessionEvent]) -> list[str]:
    """The sentences among them."""
    return [event.text for event in events if isinstance(event, Notice)]


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.001)


async def talk(session: Session, turns: int, *, first: int = 0) -> None:
    """So many turns, numbered from ``first``."""
    for number in range(first, first + turns):
        done = await session.send(
            f"Question {number}: please keep port {4000 + number} free, since service {number} will move there."
        )
        assert done.error is None
