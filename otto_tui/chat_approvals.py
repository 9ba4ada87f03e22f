"""Asking at the terminal, in plain lines, before the model runs a command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from otto_tui.prompt_input import TypedLines
from otto_tui.terminal import ask_aside, say_aside
from sessions.events import ApprovalSettled, ApprovalWanted, SessionEvent

if TYPE_CHECKING:
    from sessions.approvals import Approval, Decision
    from sessions.session import Session

ANSWERS: dict[str, Decision] = {
    "y": "once",
    "yes": "once",
    "a": "always",
    "always": "always",
    "n": "never",
    "no": "never",
}


class TypedApprovals:
    """Puts each question of a session to the person, one after the other. Subscribe it to the session.

    Args:
        lines: what is typed, while a question is open.
    """

    def __init__(self, session: Session, lines: Callable[[], AbstractContextManager[TypedLines]]) -> None:
        self._session = session
        self._lines = lines
        self._turn = asyncio.Lock()
        self._asking: dict[str, asyncio.Task[None]] = {}

    def __call__(self, event: SessionEvent) -> None:
        match event:
            case ApprovalWanted():
                self._asking[event.approval.id] = asyncio.create_task(self._ask(event.approval))
            case ApprovalSettled():
                asking = self._asking.pop(event.id, None)
                if asking is not None:
                    asking.cancel()

    async def _ask(self, approval: Approval) -> None:
        async with self._turn:
            with self._lines() as lines:
                self._session.decide(approval.id, await _decision(approval, lines))


async def _decision(approval: Approval, lines: TypedLines) -> Decision:
    say_aside(f"\nThe model wants to run this in {approval.folder}:\n{_indented(approval.command)}")
    always = f", a always for {approval.prefix}" if approval.prefix else ""
    while True:
        ask_aside(f"Run it? y once{always}, n never: ")
        typed = await lines.answer()
        if typed is None:
            return "never"
        decision = ANSWERS.get(typed.strip().lower())
        if decision is not None and (decision != "always" or approval.prefix):
            return decision


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
