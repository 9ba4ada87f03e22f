"""What becomes of a prompt that was entered: sent, queued, carried out as a command, or given back with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screens.commands import UnknownCommand, asked_for
from screens.draft import Draft

if TYPE_CHECKING:
    from screens.chat import ChatScreen

NO_COMMAND = "Type a command after the !, or begin with a space to send it to the model."


class Sending:
    """One prompt can wait: for the reply that comes in, or for the session to be open."""

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat
        self._held: Draft | None = None

    def take(self, draft: Draft) -> None:
        """The person has entered this."""
        chat = self._chat
        try:
            asked = asked_for(draft.text)
        except UnknownCommand as unknown:
            self._refuse(draft, str(unknown))
            return
        if asked is not None:
            chat.prompt.remember(draft)
            chat.ask(asked.command.name, asked.argument)
        elif draft.command == "":
            self._refuse(draft, NO_COMMAND)
        elif self._sent(draft):
            chat.prompt.remember(draft)
            chat.attempt(chat.box.remember(draft))

    def send_held(self) -> None:
        """There is a session now: what was entered before goes out."""
        held, self._held = self._held, None
        if held is not None:
            self._sent(held)

    def take_back(self) -> None:
        """Put the prompt that waits into the prompt again."""
        chat = self._chat
        held, self._held = self._held, None
        draft = held if chat.conversation is None else chat.conversation.take_back_queued()
        if draft is not None:
            chat.prompt.give_back(draft)
        chat.box.show_queued(None)
        chat.prompt.focus()

    def give_back(self) -> None:
        """Put what the conversation could not send into the prompt again."""
        conversation = self._chat.conversation
        if conversation is not None and conversation.given_back is not None:
            draft, conversation.given_back = conversation.given_back, None
            self._chat.prompt.give_back(draft)

    def _sent(self, draft: Draft) -> bool:
        """Send or queue; False, and the prompt has it again, when that cannot be done now."""
        chat = self._chat
        conversation = chat.conversation
        if conversation is None and self._held is None:
            self._held = draft
            chat.box.show_queued(draft)
            return True
        if conversation is None or conversation.queued is not None:
            self._refuse(draft, "One prompt is queued already. Press it to take it back, or wait.")
            return False
        if conversation.session.read_only:
            self._refuse(draft, "This session is open in another Otto. /fork makes a copy to go on in.")
            return False
        if not conversation.busy:
            chat.transcript.to_end()
        conversation.send(draft)
        chat.show_status()
        return True

    def _refuse(self, draft: Draft, why: str) -> None:
        self._chat.prompt.give_back(draft)
        self._chat.say(why, "warning")
