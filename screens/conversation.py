"""One open session as the screens hold it: what is coming in now, what waits to be sent, who is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from textual.message import Message

from memory.errors import OttoError
from screens.attached import attached
from screens.draft import Draft
from screens.live_reply import LiveReply
from screens.ports import ChatSession
from sessions.approvals import Approval, Decision
from sessions.events import (
    ApprovalSettled,
    ApprovalWanted,
    Compacted,
    Compacting,
    Delta,
    EmbeddingProgress,
    Notice,
    SessionEvent,
    ShellRan,
    Thinking,
    ToolCalled,
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
        self.shell: str | None = None
        """The person's own command, while it runs."""
        self.approvals: list[Approval] = []
        """What waits for the person's word, oldest first."""
        self.compacting: Compacting | None = None
        self.embedding: EmbeddingProgress | None = None
        self.notices: list[Notice] = []
        """Warnings and errors of this run, oldest first."""
        self.given_back: Draft | None = None
        """A prompt that could not be sent or was held back by a stop; it belongs in the prompt again."""
        self._watcher = watcher
        self._unsubscribe = session.subscribe(self._take)
        self._turn: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def busy(self) -> bool:
        """A turn is under way, from the moment it was asked for."""
        return self._turn is not None and not self._turn.done()

    @property
    def live_calls(self) -> set[str]:
        """The ids of the calls of the reply that is coming in."""
        return self.live.calls if self.live is not None else set()

    def send(self, draft: Draft) -> None:
        """Send now, or as the next thing when a turn is under way (one prompt can wait)."""
        if self.busy:
            self.queued = draft
        else:
            self._turn = asyncio.create_task(self._run(draft), name=f"turn of {self.session.id}")

    def stop(self) -> None:
        """End the turn or the command that is under way. What has come of it is kept."""
        self._stopping = True
        self.session.stop()

    def decide(self, approval: Approval, decision: Decision) -> None:
        """Pass on the person's word, unless it is no longer wanted."""
        if approval in self.approvals:
            self.approvals.remove(approval)
            self.session.decide(approval.id, decision)

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
            self.stop()
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
        self._stopping = False
        try:
            if draft is not None and draft.command is not None:
                return await self._command_ran(draft.command)
            done = await (self.session.retry() if draft is None else self._said(draft))
        except OttoError as error:
            self._not_sent(draft, str(error))
            return False
        except Exception as error:
            self._not_sent(draft, f"Otto itself failed ({type(error).__name__}: {error}). Your words are kept.")
            return False
        return done.error is None and not done.stopped

    @property
    def folder(self) -> Path:
        """Where the paths of attachments begin, and where commands run."""
        return self.session.options.workspace or Path(self.session.workspace)

    async def _said(self, draft: Draft) -> TurnDone:
        # What was pasted is no list of files, whatever signs it holds.
        if "@" not in draft.text:
            return await self.session.send(draft.whole)
        return await self.session.send(draft.whole, await asyncio.to_thread(attached, draft.text, self.folder))

    async def _command_ran(self, command: str) -> bool:
        """True unless the person stopped it. What it made of it is for them to read."""
        self.shell = command
        self._tell(None)
        try:
            await self.session.run_shell(command)
        finally:
            self.shell = None
        return not self._stopping

    def _not_sent(self, draft: Draft | None, sentence: str) -> None:
        self.live = None
        self.failure = sentence
        self.given_back = draft
        self._tell(TurnDone(None, error=sentence))

    def _take(self, event: SessionEvent) -> None:
        if isinstance(event, Delta | Thinking | ToolCalled | ToolUsed):
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

    def _take_reply(self, event: Delta | Thinking | ToolCalled | ToolUsed) -> None:
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
        elif isinstance(event, ApprovalWanted):
            self.approvals.append(event.approval)
        elif isinstance(event, ApprovalSettled):
            self.approvals = [approval for approval in self.approvals if approval.id != event.id]
        elif isinstance(event, ShellRan):
            self.shell = None

    def _tell(self, event: SessionEvent | None) -> None:
        self._watcher(SessionHappened(self, event))
