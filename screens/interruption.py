"""What ctrl+c does: the mildest thing that makes sense, and never harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screens.chat import ChatScreen

ARMED = 3.0
"""Seconds in which a second press quits."""


class Interruption:
    """Copies what is selected, else stops the reply, else empties the prompt, else gets ready to quit, else quits."""

    def __init__(self) -> None:
        self._armed = False

    def take(self, chat: ChatScreen) -> None:
        selected = chat.prompt.selected_text or chat.get_selected_text()
        if selected:
            chat.app.copy_to_clipboard(selected)
        elif chat.conversation is not None and chat.conversation.busy:
            chat.conversation.stop()
        elif not chat.prompt.draft.blank:
            chat.prompt.forget()
            chat.say("Cleared; the up key brings it back.")
        elif self._armed:
            chat.ask("quit")
        else:
            self._armed = True
            chat.set_timer(ARMED, self._disarm)
            chat.say("Press ctrl+c again to quit. Everything is on disk already.")

    def _disarm(self) -> None:
        self._armed = False
