"""Draws a reply that is coming in: words and uses of tools become blocks, and later the events on the tape."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from textual.widget import Widget

from memory.values import Event
from screens.blocks import ToolBlock
from screens.conversation import LiveReply, LiveText
from screens.event_blocks import is_reply
from screens.reply_block import ReplyBlock
from sessions.events import ToolUsed


class LiveDrawing:
    """The blocks of one reply. ``mount`` puts a widget at the end of the transcript."""

    def __init__(self, live: LiveReply, *, now: datetime, mount: Callable[[Widget], Awaitable[object]]) -> None:
        self.live = live
        self.blocks: list[ReplyBlock | ToolBlock] = []
        self._drawn: list[int] = []
        self._now = now
        self._mount = mount

    async def draw(self) -> None:
        """Draw what has come since the last time."""
        self.live.grew.clear()
        for number, part in enumerate(self.live.blocks):
            if number == len(self.blocks):
                await self._begin(part)
            if isinstance(part, LiveText):
                await self._draw_words(number, part)

    def fits(self, events: Sequence[Event]) -> bool:
        """These events are what was drawn, so that each block can become one of them."""
        drawn = [isinstance(block, ReplyBlock) for block in self.blocks]
        return bool(events) and drawn == [is_reply(event) for event in events]

    async def settle(self, events: Sequence[Event]) -> list[ReplyBlock | ToolBlock]:
        """Turn the blocks into the events that they fit; they are ordinary blocks of the transcript then."""
        for block, event in zip(self.blocks, events, strict=True):
            if isinstance(block, ReplyBlock):
                await block.settle(event)
            else:
                block.seq = event.seq
        return self.blocks

    async def remove(self) -> None:
        """Take the blocks out of the transcript."""
        for block in self.blocks:
            await block.remove()
        self.blocks = []

    async def _begin(self, part: LiveText | ToolUsed) -> None:
        if isinstance(part, ToolUsed):
            self.blocks.append(ToolBlock.of_use(part))
        else:
            self.blocks.append(ReplyBlock(self.live.model, self._now))
        self._drawn.append(0)
        await self._mount(self.blocks[-1])

    async def _draw_words(self, number: int, part: LiveText) -> None:
        new = part.since(self._drawn[number])
        self._drawn[number] = len(part.parts)
        block = self.blocks[number]
        if new and isinstance(block, ReplyBlock):
            await block.add(new)
