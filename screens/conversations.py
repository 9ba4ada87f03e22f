"""The sessions that are open: the one on the screen, and those whose reply is still coming in behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from screens.conversation import Conversation, SessionHappened
from screens.draft import Draft
from screens.ports import ChatSession, SessionLibrary


class OpenConversations:
    """Opens each session once, keeps it while it is at work, and closes it when nobody needs it any more.

    ``watcher`` is told what happens in any of them.
    """

    def __init__(
        self,
        library: SessionLibrary,
        *,
        watcher: Callable[[SessionHappened], object],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.library = library
        self._watcher = watcher
        self.shown: Conversation | None = None
        self._clock = clock
        self._open: dict[str, Conversation] = {}
        self._unsent: dict[str, Draft] = {}
        self._closings: set[asyncio.Task[None]] = set()

    async def new(self, workspace: str) -> Conversation:
        """A fresh session. Raises OttoError."""
        return self._hold(await self.library.new(workspace))

    async def open(self, id: str) -> Conversation:
        """The session with this id or unique start of one; as it was left, when it is still open. Raises OttoError."""
        held = [conversation for key, conversation in self._open.items() if key.startswith(id)]
        if len(held) == 1:
            return held[0]
        return self._hold(await self.library.open(id))

    def show(self, conversation: Conversation) -> None:
        """It is on the screen now. What was there before is closed as soon as no reply comes in there."""
        left, self.shown = self.shown, conversation
        if left is not None and left is not conversation:
            closing = asyncio.create_task(self._close_when_done(left))
            self._closings.add(closing)
            closing.add_done_callback(self._closings.discard)

    async def let_go(self, id: str) -> None:
        """Close this session now, so that its file can be moved or written by someone else."""
        conversation = self._open.pop(id, None)
        if conversation is not None:
            await conversation.close()

    async def close_all(self) -> None:
        """Stop and close everything; what has come of a reply is kept."""
        for closing in list(self._closings):
            closing.cancel()
        still_open = list(self._open.values())
        self._open.clear()
        await asyncio.gather(*(conversation.close() for conversation in still_open))

    def _hold(self, session: ChatSession) -> Conversation:
        held = self._open.get(session.id)
        if held is None:
            held = self._open[session.id] = Conversation(session, watcher=self._watcher, clock=self._clock)
            held.unsent = self._unsent.pop(session.id, held.unsent)
        return held

    async def _close_when_done(self, conversation: Conversation) -> None:
        await conversation.done()
        if conversation is self.shown or self._open.get(conversation.session.id) is not conversation:
            return
        del self._open[conversation.session.id]
        if not conversation.unsent.blank:
            self._unsent[conversation.session.id] = conversation.unsent
        await conversation.close()
