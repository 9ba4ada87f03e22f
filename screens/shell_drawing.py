"""The person's own command at the end of the transcript, while it runs."""

from __future__ import annotations

from textual.widget import Widget

from screens.blocks import Welcome
from screens.tool_block import ToolBlock
from screens.tool_use import running_shell


class ShellDrawing:
    """A block that stands there until the output is on the tape."""

    def __init__(self) -> None:
        self._block: ToolBlock | None = None

    def forget(self) -> None:
        """The transcript was emptied, and the block with it."""
        self._block = None

    async def draw(self, transcript: Widget, command: str | None) -> None:
        """Mount the block for what runs, or take it away when nothing does."""
        if self._block is not None and command is None:
            await self._block.leave()
            self._block = None
        elif self._block is None and command is not None:
            await transcript.query_children(Welcome).remove()
            self._block = ToolBlock(running_shell(command))
            await transcript.mount(self._block)
