"""The model that the demo talks with: it streams what the script says, and summarises by ``memory/gist.py``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from memory.gist import gist
from memory.tokens import count_tokens
from otto_tui.demo_script import SPEAKER, DemoScript
from sessions.chat_model import Finished, Message, Piece, TextDelta, ToolSpec, Usage
from sessions.offline_model import OfflineModel

if TYPE_CHECKING:
    from sessions.models import Recall

PIECES = 12
"""Into how many pieces a reply is streamed."""


class DemoModel:
    """Implements ``ChatModel``. A question that is not in the script is answered by quoting the session's memory.

    Args:
        reply_seconds: how long a reply takes to stream.
        summary_seconds: how long it lets a compaction wait, so that one can be seen at work.
    """

    name = SPEAKER

    def __init__(
        self, script: DemoScript, recall: Recall | None, *, reply_seconds: float, summary_seconds: float
    ) -> None:
        self._replies = {turn.you: turn.otto for turn in script.turns}
        self._off_script = OfflineModel(recall)
        self._reply_seconds = reply_seconds
        self._summary_seconds = summary_seconds

    async def window(self) -> int | None:
        return None

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        reply = self._reply_to(str(messages[-1].get("content") or ""))
        if reply is None:
            async for piece in self._off_script.stream(messages):
                yield piece
            return
        pieces = _pieces(reply)
        for text in pieces:
            yield TextDelta(text)
            await asyncio.sleep(self._reply_seconds / len(pieces))
        read = sum(count_tokens(str(message.get("content") or "")) for message in messages)
        yield Finished("stop", Usage(read, count_tokens(reply)), 0.0, self.name)

    async def complete(self, prompt: str) -> str:
        await asyncio.sleep(self._summary_seconds)
        return await asyncio.to_thread(gist, prompt)

    def _reply_to(self, message: str) -> str | None:
        # After a reply that was stopped the message holds what was said before as well.
        asked = [you for you in self._replies if message == you or message.endswith(f"\n\n{you}")]
        return self._replies[max(asked, key=len)] if asked else None


def _pieces(reply: str) -> list[str]:
    words = re.findall(r"\s*\S+\s*\Z|\s*\S+", reply)
    size = -(-len(words) // PIECES)
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]
