"""Questions that wait for the person's word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sessions.approvals import Approval, Decision
from sessions.events import ApprovalSettled, ApprovalWanted, SessionEvent


class PendingApprovals:
    """All methods are called on the event loop. What is asked is told as an event."""

    def __init__(self, emit: Callable[[SessionEvent], None]) -> None:
        self._emit = emit
        self._waiting: dict[str, asyncio.Future[Decision]] = {}

    async def ask(self, approval: Approval) -> Decision:
        """The person's decision. Cancelling it takes the question back."""
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting[approval.id] = answer
        decision: Decision | None = None
        try:
            self._emit(ApprovalWanted(approval))
            decision = await answer
            return decision
        finally:
            del self._waiting[approval.id]
            self._emit(ApprovalSettled(approval.id, decision))

    def decide(self, id: str, decision: Decision) -> bool:
        """Answer a question; False when it does not wait any more."""
        answer = self._waiting.get(id)
        if answer is None or answer.done():
            return False
        answer.set_result(decision)
        return True
