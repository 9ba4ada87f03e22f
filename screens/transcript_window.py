"""Which events of a long tape the transcript holds: a window that slides, grows at either end and jumps."""

from __future__ import annotations

from collections.abc import Callable, Collection

from memory.values import Event
from screens.ports import ChatSession

SEEN = 12
"""Events that are read before anything shows: more than a screenful."""
FIRST = 60
"""Events that a window at the end of the tape is filled up to: about thirty turns."""
PAGE = 30
"""Events that one step adds."""
MOST = 150
"""Events that the window holds; beyond it, the far end goes."""


class TranscriptWindow:
    """A run of events without gaps. It asks the session for what it lacks and never holds more than ``MOST``.

    ``live_calls`` are the ids of the calls of the reply that is coming in: that is drawn as it comes, so what the tape
    has of it already stays out of the window until it is whole.
    """

    def __init__(self, session: ChatSession, live_calls: Callable[[], Collection[str]] = tuple) -> None:
        self._session = session
        self._live_calls = live_calls
        self.events: list[Event] = []
        self.at_start = False
        """The window's first event is the tape's first."""
        self.at_tail = False
        """The window's last event is the tape's newest."""

    async def to_tail(self) -> None:
        """Hold the newest few events."""
        self.events = await self._session.transcript(limit=SEEN)
        self.at_tail = True
        self.at_start = len(self.events) < SEEN
        self._hold_back()

    @property
    def full(self) -> bool:
        """It has as many events as a window at the end of the tape wants, or all there are."""
        return self.at_start or len(self.events) >= FIRST

    async def to_start(self) -> None:
        """Hold the oldest events."""
        self.events = await self._session.transcript(after=0, limit=FIRST)
        self.at_start = True
        self.at_tail = len(self.events) < FIRST

    async def around(self, seq: int) -> bool:
        """Hold ``seq`` with its neighbours. False, and nothing changes, when the transcript has no such event."""
        below = await self._session.transcript(before=seq + 1, limit=PAGE)
        if not below or below[-1].seq != seq:
            return False
        self.events = below
        self.at_start = len(below) < PAGE
        self.at_tail = False
        await self.newer()
        return True

    async def older(self, limit: int = PAGE) -> list[Event]:
        """Take in at most ``limit`` events before the window; what was added, oldest first."""
        if self.at_start or not self.events:
            return []
        found = await self._session.transcript(before=self.events[0].seq, limit=limit)
        self.at_start = len(found) < limit
        self.events[:0] = found
        return found

    async def newer(self) -> list[Event]:
        """Take in the page after the window; what was added, oldest first."""
        if self.at_tail:
            return []
        found = await self._session.transcript(after=self._last, limit=PAGE)
        self.at_tail = len(found) < PAGE
        self.events += found
        held = self._hold_back()
        if held:
            # Whatever comes after them is of the same reply.
            self.at_tail = True
        return found[: len(found) - held]

    async def caught_up(self) -> list[Event]:
        """Take in what was said since, while the window is at the tail."""
        if not self.at_tail:
            return []
        self.at_tail = False
        added: list[Event] = []
        while not self.at_tail:
            added += await self.newer()
        return added

    def drop_oldest(self, keep: int) -> list[Event]:
        """Let go of all but the newest ``keep``; what went."""
        gone = self.events[: max(len(self.events) - keep, 0)]
        if gone:
            self.events = self.events[len(gone) :]
            self.at_start = False
        return gone

    def drop_newest(self, keep: int) -> list[Event]:
        """Let go of all but the oldest ``keep``; what went."""
        gone = self.events[keep:]
        if gone:
            self.events = self.events[:keep]
            self.at_tail = False
        return gone

    def _hold_back(self) -> int:
        """Let go of the newest events, from the first call of the running reply on. How many those were.

        Calls of earlier turns stay, whatever ids they have.
        """
        calls = self._live_calls()
        first = len(self.events)
        for number in range(len(self.events) - 1, -1, -1):
            if self.events[number].role == "user" or not calls:
                break
            if self.events[number].meta.get("call") in calls:
                first = number
        held = len(self.events) - first
        del self.events[first:]
        return held

    @property
    def _last(self) -> int:
        return self.events[-1].seq if self.events else 0
