"""What stands under the last turn when it has no whole reply: why, and the key that asks again."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget

from screens.blocks import FailureBlock
from screens.conversation import Conversation
from screens.event_blocks import Block
from screens.reply_block import ReplyBlock

NO_REPLY = "There is no reply to this yet."


class LastWord:
    """Says it at the end of a transcript, and takes it back when the person asks again."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    async def say(self, transcript: Widget, blocks: Sequence[Block]) -> None:
        """Mount, or mount anew, what there is to say under ``blocks``, the last of which is the newest turn's."""
        await self.take_back(transcript)
        sentence = self._conversation.failure
        last = blocks[-1] if blocks else None
        if sentence is None and self._can_retry(blocks) and not isinstance(last, ReplyBlock):
            sentence = NO_REPLY
        if sentence is not None:
            await transcript.mount(FailureBlock(sentence, can_retry=self._conversation.session.can_retry))
        self.offer_retry(blocks)

    async def take_back(self, transcript: Widget) -> None:
        for child in list(transcript.children):
            if isinstance(child, FailureBlock):
                await child.remove()

    def offer_retry(self, blocks: Sequence[Block]) -> None:
        """The key to ask again stands on the newest reply alone, and only while it is of use."""
        wanted = self._can_retry(blocks) and self._conversation.failure is None
        for block in blocks:
            if isinstance(block, ReplyBlock):
                block.set_class(wanted and block is blocks[-1], "-can-retry")

    def _can_retry(self, blocks: Sequence[Block]) -> bool:
        session = self._conversation.session
        return bool(blocks) and session.can_retry and not session.read_only and not self._conversation.busy
