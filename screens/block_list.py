"""The blocks of the events that the transcript's window holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from memory.values import Event
from screens.event_blocks import Block, blocks_of, seqs_of
from screens.tool_block import ToolBlock
from screens.transcript_window import TranscriptWindow


class BlockList:
    """In the order of their events. A call and its result are one block, wherever the window begins or ends."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.all: list[Block] = []
        self._now = now

    async def made_of(self, window: TranscriptWindow, events: Sequence[Event] | None = None) -> list[Block]:
        """Blocks for these events of the window, else for all of it. They are in no list yet.

        What belongs to a block that is listed goes into that one. At the end of the tape, a call without a result will
        not get one any more.
        """
        made = await blocks_of(window.events if events is None else events, self.all, self._now())
        if window.at_tail:
            for block in (*self.all, *made):
                if isinstance(block, ToolBlock):
                    block.lose()
        return made

    def find(self, seq: int) -> Block | None:
        return next((block for block in self.all if seq in seqs_of(block)), None)

    def mark(self, seq: int) -> None:
        """The block of this event was looked up, and no other."""
        for block in self.all:
            block.set_class(seq in seqs_of(block), "-found")

    def let_go(self, events: Sequence[Event]) -> list[Block]:
        """Take out the blocks that stand for nothing but these events."""
        gone = {event.seq for event in events}
        out = [block for block in self.all if seqs_of(block) <= gone]
        self.all = [block for block in self.all if not seqs_of(block) <= gone]
        return out
