"""A reply: while it streams, and once it stands on the tape."""

from __future__ import annotations

from datetime import datetime

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memory.values import Event
from screens.blocks import RETRY, speaker_line
from screens.long_text import LongText
from screens.press_line import PressLine
from screens.reply_pieces import Piece, PieceCutter
from screens.wording import moment_of
from sessions.display import displayable

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
        self._fence: list[Widget] = []

    @classmethod
    def of_event(cls, event: Event, now: datetime) -> ReplyBlock:
        return cls(event.speaker, now, event)

    def compose(self) -> ComposeResult:
        time = moment_of(self.event.t_event, self._now) if self.event else ""
        yield speaker_line(self._speaker, time)
        if self.event is not None:
            yield _whole(self.event.text)
            yield from self._why_partial(self.event)

    async def add(self, text: str) -> None:
        """Draw more of the reply at its end. What it costs does not depend on what is drawn already."""
        for piece in self._cutter.feed(displayable(text)):
            await self._draw(piece)

    async def settle(self, event: Event) -> None:
        """The reply is on the tape: draw it as a whole, which also puts right what streaming could not know."""
        self.event, self.seq = event, event.seq
        with self.app.batch_update():
            await self.remove_children()
            await self.mount_all(
                [
                    speaker_line(event.speaker, moment_of(event.t_event, self._now)),
                    _whole(event.text),
                    *self._why_partial(event),
                ]
            )

    async def _draw(self, piece: Piece) -> None:
        # Markdown is not imported before the first reply: it would be a tenth of the time to the first paint.
        from screens.reply_markdown import ReplyMarkdown

        if piece.kind == "closed":
            with self.app.batch_update():
                await self.mount(ReplyMarkdown(piece.text))
                for part in self._fence:
                    await part.remove()
            self._fence = []
        elif piece.kind == "code":
            await self._draw_code(piece)
        else:
            self._fence = []
            if piece.fresh or not isinstance(last := self.children[-1], ReplyMarkdown):
                await self.mount(ReplyMarkdown(piece.text))
            else:
                await last.append(piece.text)

    async def _draw_code(self, piece: Piece) -> None:
        """An open fence is plain text, in parts of which only the last one changes."""
        if piece.fresh or not self._fence:
            code = Code(piece.text)
            self._fence.append(code)
            await self.mount(code)
        elif isinstance(last := self._fence[-1], Code):
            last.add(piece.text)

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
    from screens.reply_markdown import LARGEST, ReplyMarkdown

    return ReplyMarkdown(text) if len(text) <= LARGEST else LongText(text)
