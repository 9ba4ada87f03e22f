"""Which block of the transcript an event becomes, and which events become one block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from memory.values import Event
from screens.blocks import SaidBlock
from screens.reply_block import ReplyBlock
from screens.tool_block import ToolBlock, call_of

Block = SaidBlock | ReplyBlock | ToolBlock


def is_reply(event: Event) -> bool:
    """Said by a model in the conversation."""
    return event.role == "assistant" and event.kind == "message"


def is_tool_use(event: Event) -> bool:
    """Drawn as one line: a call, a result, a note of either, a command's output, an attached file."""
    return event.kind == "tool" or event.role == "tool" or (event.kind == "document" and event.role == "user")


def block_of(event: Event, now: datetime) -> Block:
    """A block that is not mounted yet; its ``seq`` is the event's."""
    if is_reply(event):
        return ReplyBlock.of_event(event, now)
    if is_tool_use(event):
        return ToolBlock.of_event(event)
    return SaidBlock(event, now)


def seqs_of(block: Block) -> frozenset[int]:
    """Of all events that the block stands for."""
    if isinstance(block, ToolBlock):
        return block.seqs
    return frozenset() if block.seq is None else frozenset((block.seq,))


async def blocks_of(events: Sequence[Event], present: Iterable[Block], now: datetime) -> list[Block]:
    """Blocks for these events, without those that a block among ``present``, or an earlier one, takes in."""
    by_call = {block.key: block for block in present if isinstance(block, ToolBlock) and block.key is not None}
    made: list[Block] = []
    for event in events:
        call = call_of(event)
        if call is not None and call in by_call:
            await by_call[call].take(event)
            continue
        made.append(block := block_of(event, now))
        if call is not None and isinstance(block, ToolBlock):
            by_call[call] = block
    return made
