"""Which block of the transcript an event becomes."""

from __future__ import annotations

from datetime import datetime

from memory.values import Event
from screens.blocks import SaidBlock, ToolBlock
from screens.reply_block import ReplyBlock

Block = SaidBlock | ReplyBlock | ToolBlock


def is_reply(event: Event) -> bool:
    """Said by a model in the conversation."""
    return event.role == "assistant" and event.kind == "message"


def block_of(event: Event, now: datetime) -> Block:
    """A block that is not mounted yet; its ``seq`` is the event's."""
    if is_reply(event):
        return ReplyBlock.of_event(event, now)
    if event.role == "tool":
        return ToolBlock.of_event(event)
    return SaidBlock(event, now)
