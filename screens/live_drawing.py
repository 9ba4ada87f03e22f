"""Draws a reply that is coming in: words and uses of tools become blocks, and later the events on the tape."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from textual.widget import Widget

from memory.values import Event
from screens.event_blocks import is_reply
from screens.live_reply import LiveReply, LiveText, LiveTool
from screens.reply_block import ReplyBlock
from screens.tool_block import ToolBlock, call_of
from screens.tool_use import use_of_call


class LiveDrawing:
    """The blocks of one reply. ``mount`` puts a widget at the end of the transcript."""

    def __init__(self, live: LiveReply, *, now: datetime, mount: Callable[[Widget], Awaitable[object]]) -> None:
        self.live = live
        self.blocks: list[ReplyBlock | ToolBlock] = []
        self._drawn: list[int] = []
        """Of each block, how many pieces of words are drawn, or whether the tool's end is."""
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
            else:
                await self._draw_end(number, part)

    def fits(self, events: Sequence[Event]) -> bool:
        """These events are what was drawn, so that each block can become one of them, or a call and its result.

        Words between the tools may be one reply after them: that is how the tape has a turn.
        """
        runs = _runs(events)
        kept = self._kept(runs)
        if not events or [_is_words(run) for run in runs] != [isinstance(block, ReplyBlock) for block in kept]:
            return False
        return all(_may_become(block, run) for block, run in zip(kept, runs, strict=True))

    async def settle(self, events: Sequence[Event]) -> list[ReplyBlock | ToolBlock]:
        """Turn the blocks into the events that they fit; they are ordinary blocks of the transcript then."""
        runs = _runs(events)
        kept = self._kept(runs)
        for block in self.blocks:
            if block not in kept:
                await block.remove()
        self.blocks = kept
        for block, run in zip(kept, runs, strict=True):
            if isinstance(block, ReplyBlock):
                await block.settle(run[0])
            else:
                for event in run:
                    await block.take(event)
                block.lose()
        return kept

    def _kept(self, runs: Sequence[Sequence[Event]]) -> list[ReplyBlock | ToolBlock]:
        """The blocks that stay: all, or without the words before the last ones where the tape has one reply only."""
        words = [block for block in self.blocks if isinstance(block, ReplyBlock)]
        if len(words) > 1 and sum(map(_is_words, runs)) == 1:
            return [block for block in self.blocks if block not in words[:-1]]
        return self.blocks

    async def remove(self) -> None:
        """Take the blocks out of the transcript."""
        for block in self.blocks:
            await (block.leave() if isinstance(block, ToolBlock) else block.remove())
        self.blocks = []

    async def _begin(self, part: LiveText | LiveTool) -> None:
        if isinstance(part, LiveTool):
            self.blocks.append(ToolBlock(use_of_call(part.called, part.used), call=part.called.call))
            self._drawn.append(part.used is not None)
        else:
            self.blocks.append(ReplyBlock(self.live.model, self._now))
            self._drawn.append(0)
        await self._mount(self.blocks[-1])

    async def _draw_words(self, number: int, part: LiveText) -> None:
        if self._drawn[number] == len(part.parts):
            return
        new = part.since(self._drawn[number])
        self._drawn[number] = len(part.parts)
        block = self.blocks[number]
        if new and isinstance(block, ReplyBlock):
            await block.add(new)

    async def _draw_end(self, number: int, part: LiveTool) -> None:
        block = self.blocks[number]
        if part.used is not None and not self._drawn[number] and isinstance(block, ToolBlock):
            self._drawn[number] = True
            await block.show(use_of_call(part.called, part.used))


def _runs(events: Sequence[Event]) -> list[list[Event]]:
    """The events in order, a call and its result together at the place of the call."""
    runs: list[list[Event]] = []
    by_call: dict[str, list[Event]] = {}
    for event in events:
        call = call_of(event)
        if call is not None and call in by_call:
            by_call[call].append(event)
            continue
        runs.append([event])
        if call is not None:
            by_call[call] = runs[-1]
    return runs


def _is_words(run: Sequence[Event]) -> bool:
    return is_reply(run[0])


def _may_become(block: ReplyBlock | ToolBlock, run: Sequence[Event]) -> bool:
    return isinstance(block, ReplyBlock) or not block.call or block.call == run[0].meta.get("call")
