"""Puts the fold line where the part begins that the model reads word for word."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget

from memory.values import MemorySnapshot
from screens.blocks import FoldLine
from screens.event_blocks import Block


class Fold:
    """Where the fold is, and its line when that place is in the window."""

    def __init__(self) -> None:
        self._first_read = 0
        self._bullets = 0
        self._line: FoldLine | None = None

    def read_from(self, snapshot: MemorySnapshot) -> bool:
        """Learn the place from what the model reads now; True when it has moved or changed."""
        raw = [item.event.seq for item in (*snapshot.overflow, *snapshot.recent)]
        before = self._first_read, self._bullets
        self._first_read, self._bullets = min(raw, default=0), len(snapshot.bullets)
        return before != (self._first_read, self._bullets)

    def forget_line(self) -> None:
        """The transcript was emptied, and the line with it."""
        self._line = None

    async def place(self, transcript: Widget, blocks: Sequence[Block]) -> None:
        """Mount, move, reword or remove the line."""
        below = self._block_below(blocks)
        if below is None:
            if self._line is not None:
                await self._line.remove()
                self._line = None
        elif self._line is None:
            self._line = FoldLine(self._bullets)
            await transcript.mount(self._line, before=below)
        else:
            self._line.say(self._bullets)
            transcript.move_child(self._line, before=below)

    def _block_below(self, blocks: Sequence[Block]) -> Block | None:
        """The first block that is read word for word, if the fold is known to be right above it."""
        if not self._bullets:
            return None
        for number, block in enumerate(blocks):
            if (block.seq or 0) >= self._first_read:
                return block if number > 0 or block.seq == self._first_read else None
        return None
