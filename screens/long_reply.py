"""A reply that is too long to be drawn at once: its beginning as Markdown, and more of it when asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.widget import Widget

from screens.long_text import LongText
from screens.press_line import PressLine
from screens.reply_pieces import split_reply
from screens.wording import grouped

if TYPE_CHECKING:
    from screens.reply_markdown import ReplyMarkdown

WHOLE = 20_000
"""Characters up to which a reply is drawn as one."""

HIGHLIGHTED = 40_000
"""Characters up to which a block of code is drawn as Markdown; colouring more would hold up the keyboard."""

FIRST = 6_000
NEXT = 12_000
"""Characters that show at first, and that each press adds; a piece is never cut."""


class LongReply(VerticalGroup):
    """Shows a finished reply of any length at a cost that does not depend on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._left = split_reply(text)

    def compose(self) -> ComposeResult:
        yield from self._pieces(FIRST)
        if self._left:
            yield PressLine(self._what_is_left())

    async def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        if event.line.parent is not self:
            return
        event.stop()
        await self.mount_all(self._pieces(NEXT), before=event.line)
        if self._left:
            event.line.say(self._what_is_left())
        else:
            await event.line.remove()

    def _pieces(self, characters: int) -> Iterator[Widget]:
        while self._left and characters > 0:
            piece = self._left.pop(0)
            characters -= len(piece)
            yield markdown(piece) if len(piece) <= HIGHLIGHTED else LongText(piece, classes="open-code")

    def _what_is_left(self) -> str:
        left = sum(piece.count("\n") for piece in self._left)
        return f"... {grouped(max(left, 1))} more lines: enter shows more"


def markdown(text: str) -> ReplyMarkdown:
    """Text as Markdown. The parser is not imported before the first reply, to keep it out of the first paint."""
    from screens.reply_markdown import ReplyMarkdown

    return ReplyMarkdown(text)
