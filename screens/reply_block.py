"""A reply: while it streams, and once it stands on the tape."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memory.values import Event
from screens.blocks import RETRY, speaker_line
from screens.long_reply import HIGHLIGHTED, WHOLE, LongReply, markdown
from screens.press_line import PressLine
from screens.reply_pieces import Piece, PieceCutter
from screens.wording import moment_of
from sessions.display import displayable

if TYPE_CHECKING:
    from screens.reply_markdown import ReplyMarkdown

WHY_PARTIAL = {
    "stopped": "stopped here",
    "interrupted": "interrupted here: Otto was closed while it came in",
    "failed": "broken off here",
    "length": "cut off here: the reply reached its longest length",
}


class ReplyBlock(VerticalGroup):
    """What a model said. ``add`` streams into it; ``settle`` draws the finished text once."""

    def __init__(self, speaker: str, now: datetime, event: Event | None = None) -> None:
        super().__init__(classes="reply")
        self.seq: int | None = event.seq if event else None
        self.event = event
        self._speaker = speaker
        self._now = now
        self._cutter = PieceCutter()
        self._fence: list[Code] = []
        self._prose: ReplyMarkdown | None = None
        """What the next words of the present piece of prose are appended to."""

    @classmethod
    def of_event(cls, event: Event, now: datetime) -> ReplyBlock:
        return cls(event.speaker, now, event)

    def compose(self) -> ComposeResult:
        yield speaker_line(self._speaker, moment_of(self.event.t_event, self._now) if self.event else "")
        if self.event is not None:
            yield _whole(self.event.text)
            yield from self._why_partial(self.event)

    async def add(self, text: str) -> None:
        """Draw more of the reply at its end. What it costs does not depend on what is drawn already."""
        for piece in self._cutter.feed(displayable(text)):
            await self._draw(piece)

    async def settle(self, event: Event) -> None:
        """The reply is on the tape: draw it as a whole, which also puts right what streaming could not know.

        One that is too long for that at once stays as it was drawn, piece by piece, with its end put right.
        """
        self.event, self.seq = event, event.seq
        if len(event.text) > WHOLE:
            await self._end()
        with self.app.batch_update():
            if len(event.text) <= WHOLE:
                await self.remove_children()
                await self.mount(_whole(event.text))
            else:
                await self.children[0].remove()
            await self.mount(speaker_line(event.speaker, moment_of(event.t_event, self._now)), before=0)
            await self.mount_all(self._why_partial(event))

    async def _end(self) -> None:
        for piece in self._cutter.end():
            await self._draw(piece)
        if self._prose is not None:
            await self._prose.redraw()

    async def _draw(self, piece: Piece) -> None:
        if piece.kind == "closed":
            await self._close_fence(piece.text)
        elif piece.kind == "code":
            await self._draw_code(piece)
        elif piece.fresh or self._prose is None:
            self._prose = markdown(piece.text)
            await self.mount(self._prose)
        else:
            await self._prose.append(piece.text)

    async def _draw_code(self, piece: Piece) -> None:
        """An open fence is plain text, in parts of which only the last one changes."""
        self._prose = None
        if piece.fresh or not self._fence:
            self._fence.append(Code(piece.text))
            await self.mount(self._fence[-1])
        else:
            self._fence[-1].add(piece.text)

    async def _close_fence(self, text: str) -> None:
        """Colours for a block of code that is whole now; a very long one stays as it is."""
        parts, self._fence, self._prose = self._fence, [], None
        if len(text) > HIGHLIGHTED:
            return
        with self.app.batch_update():
            await self.mount(markdown(text))
            for part in parts:
                await part.remove()

    def _why_partial(self, event: Event) -> list[Widget]:
        why = event.meta.get("partial")
        if not why:
            return []
        said = WHY_PARTIAL.get(str(why), str(why))
        if error := event.meta.get("error"):
            said = f"{said}: {error}"
        return [Static(Content(displayable(said)), classes="partial"), PressLine(RETRY, classes="retry")]


class Code(Static):
    """Part of a block of code that is still coming in."""

    def __init__(self, text: str) -> None:
        self._text = text
        super().__init__(Content(text.removesuffix("\n")), classes="open-code")

    def add(self, text: str) -> None:
        self._text += text
        self.update(Content(self._text.removesuffix("\n")))


def _whole(text: str) -> Widget:
    return markdown(text) if len(text) <= WHOLE else LongReply(text)
