"""One open session as the screens hold it: what is coming in now, what waits to be sent, who is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from textual.message import Message

from memory.errors import OttoError
from screens.draft import Draft
from screens.ports import ChatSession
from sessions.events import (
    Compacted,
    Compacting,
    Delta,
    EmbeddingProgress,
    Notice,
    SessionEvent,
    Thinking,
    ToolUsed,
    TurnDone,
    Waiting,
)


class SessionHappened(Message):
    """Something happened in a session. It names the session, since several can be at work.

    ``event`` is None when only what the screens hold of it has changed: a turn is over, a prompt was given back.
    """

    def __init__(self, conversation: Conversation, event: SessionEvent | None) -> None:
        self.conversation = conversation
        self.event = event
        super().__init__()


@dataclass
class LiveText:
    """Words of a reply that come in without a break, in the pieces in which they came."""

    parts: list[str] = field(default_factory=list)

    def since(self, count: int) -> str:
        """What came after the first ``count`` parts."""
        return "".join(self.parts[count:])

    @property
    def text(self) -> str:
        return "".join(self.parts)


class LiveReply:
    """The reply that is coming in. It grows whether or not a screen is looking."""

    def __init__(self, model: str, began: float) -> None:
        self.model = model
        self.began = began
        """On the clock of ``Conversation``; when the request went out."""
        self.blocks: list[LiveText | ToolUsed] = []
        """Words and uses of tools, in order."""
        self.thinking = False
        self.grew = asyncio.Event()
        """Set whenever there is more to draw."""

    @property
    def speaking(self) -> bool:
        """Words are coming, as opposed to waiting for the first or for more after a tool."""
        return bool(self.blocks) and isinstance(self.blocks[-1], LiveText)

    def take(self, event: Delta | Thinking | ToolUsed) -> None:
        if isinstance(event, Thinking):
            self.thinking = True
            return
        self.thinking = False
        if isinstance(event, ToolUsed):
            self.blocks.append(event)
        elif self.blocks and isinstance(last := self.blocks[-1], LiveText):
            last.parts.append(event.text)
        else:
            self.blocks.append(LiveText([event.text]))
        self.grew.set()


class Conversation:
    """A session with what the screens know about it. It goes on while another one is shown.

    ``watcher`` is told of everything but single words, which ``live`` gathers.
    """

    def __init__(
        self,
        session: ChatSession,
        *,
        watcher: Callable[[SessionHappened], object],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.session = session
        self.clock = clock
        self.live: LiveReply | None = None
        self.queued: Draft | None = None
        """Sent when the present turn has ended well."""
        self.unsent = Draft("")
        """What stood in the prompt when the person looked at another session."""
        self.failure: str | None = None
        """Why the last turn failed, as a sentence."""
        self.compacting: Compacting | None = None
        self.embedding: EmbeddingProgress | None = None
        self.notices: list[Notice] = []
        """Warnings and errors of this run, oldest first."""
        self.given_back: Draft | None = None
        """A prompt that could not be sent or was held back by a stop; it belongs in the prompt again."""
        self._watcher = watcher
        self._unsubscribe = session.subscribe(self._take)
        self._turn: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """A turn is under way, from the moment it was asked for."""
        return self._turn is not None and not self._turn.done()

    def send(self, draft: Draft) -> None:
        """Send now, or as the next thing when a turn is under way (one prompt can wait)."""
        if self.busy:
            self.queued = draft
        else:
            self._turn = asyncio.create_task(self._run(draft), name=f"turn of {self.session.id}")

    def retry(self) -> None:
        """Ask again for the reply that failed or was stopped."""
        if not self.busy:
            self._turn = asyncio.create_task(self._run(None), name=f"retry of {self.session.id}")

    def take_back_queued(self) -> Draft | None:
        """The prompt that waits; it waits no more."""
        queued, self.queued = self.queued, None
        return queued

    async def done(self) -> None:
        """Return when no turn is under way."""
        if self._turn is not None:
            await asyncio.wait([self._turn])

    async def close(self) -> None:
        """Stop what is under way (what came of it is kept), and let the session go."""
        self.queued = None
        if self.busy:
            self.session.stop()
            await self.done()
        self._unsubscribe()
        await self.session.close()

    async def _run(self, draft: Draft | None) -> None:
        """One turn, and the queued one after it."""
        ended_well = await self._turn_ended_well(draft)
        while ended_well and (queued := self.take_back_queued()) is not None:
            ended_well = await self._turn_ended_well(queued)
        if self.queued is not None:
            self.given_back = self.take_back_queued()
        asyncio.get_running_loop().call_soon(self._tell, None)

    async def _turn_ended_well(self, draft: Draft | None) -> bool:
        self.failure = None
        try:
            done = await (self.session.retry() if draft is None else self.session.send(draft.whole))
        except OttoError as error:
            self._not_sent(draft, str(error))
            return False
        except Exception as error:
            self._not_sent(draft, f"Otto itself failed ({type(error).__name__}: {error}). Your words are kept.")
            return False
        return done.error is None and not done.stopped

    def _not_sent(self, draft: Draft | None, sentence: str) -> None:
        self.live = None
        self.failure = sentence
        self.given_back = draft
        self._tell(TurnDone(None, error=sentence))

    def _take(self, event: SessionEvent) -> None:
        if isinstance(event, Delta | Thinking | ToolUsed):
            self._take_reply(event)
            if isinstance(event, Delta):
                return
        elif isinstance(event, Waiting):
            if self.live is None:
                self.live = LiveReply(event.model, self.clock())
        elif isinstance(event, TurnDone):
            live, self.live, self.failure = self.live, None, event.error
            if live is not None:
                live.grew.set()
        else:
            self._take_background(event)
        self._tell(event)

    def _take_reply(self, event: Delta | Thinking | ToolUsed) -> None:
        if self.live is None:
            self.live = LiveReply(self.session.model_name, self.clock())
        self.live.take(event)

    def _take_background(self, event: SessionEvent) -> None:
        if isinstance(event, Compacting):
            self.compacting = event
        elif isinstance(event, Compacted):
            self.compacting = None
        elif isinstance(event, EmbeddingProgress):
            self.embedding = event if event.done < event.total else None
        elif isinstance(event, Notice):
            self.notices.append(event)

    def _tell(self, event: SessionEvent | None) -> None:
        self._watcher(SessionHappened(self, event))
