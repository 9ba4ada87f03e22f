"""Puts the questions of the conversation on the screen before the person, one after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from screens.conversation import Conversation
from sessions.approvals import Approval, Decision

if TYPE_CHECKING:
    from screens.approval_modal import ApprovalModal
    from screens.chat import ChatScreen


class Approvals:
    """At most one question is shown; the others wait in the order in which they came."""

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat
        self._shown: ApprovalModal | None = None

    def ask(self) -> None:
        """Show the first question that waits, unless one is shown; take away one that is no longer wanted."""
        conversation = self._chat.conversation
        waiting = conversation.approvals if conversation is not None else []
        if self._shown is not None:
            if self._shown.approval not in waiting:
                self._shown.take_back()
            return
        if conversation is None or not waiting:
            return
        from screens.approval_modal import ApprovalModal

        self._shown = ApprovalModal(waiting[0], waiting=len(waiting) - 1)
        self._chat.app.push_screen(self._shown, partial(self._answered, conversation, waiting[0]))

    def _answered(self, conversation: Conversation, approval: Approval, decision: Decision | None) -> None:
        self._shown = None
        if decision is not None:
            conversation.decide(approval, decision)
        self._chat.show_status()
        # Not at once: this one is only about to leave the screen.
        self._chat.call_later(self.ask)
