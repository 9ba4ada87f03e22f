"""Words as they are, without markup; the head of a very long text, and more of it when asked."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.widgets import Static

from screens.press_line import PressLine
from screens.wording import grouped
from sessions.display import displayable

FIRST_CHARACTERS, FIRST_LINES = 8_000, 120
NEXT_CHARACTERS, NEXT_LINES = 40_000, 500


class LongText(VerticalGroup):
    """Shows any text, however long, at a cost that does not depend on its length."""

    DEFAULT_CSS = """
    LongText > Static { width: 1fr; height: auto; }
    """

    def __init__(self, text: str, *, first_lines: int | None = None, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.text = text
        self._first_lines = FIRST_LINES if first_lines is None else first_lines
        self._shown = 0

    def compose(self) -> ComposeResult:
        yield self._next_part(FIRST_CHARACTERS, self._first_lines)
        if self._shown < len(self.text):
            yield PressLine(self._what_is_left())

    async def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        event.stop()
        await self.mount(self._next_part(NEXT_CHARACTERS, NEXT_LINES), before=event.line)
        if self._shown < len(self.text):
            event.line.say(self._what_is_left())
        else:
            await event.line.remove()

    def _next_part(self, characters: int, lines: int) -> Static:
        part = _head(self.text, self._shown, characters, lines)
        self._shown += len(part)
        return Static(Content(displayable(part.removesuffix("\n") if self._shown < len(self.text) else part)))

    def _what_is_left(self) -> str:
        left = self.text.count("\n", self._shown) + (0 if self.text.endswith("\n") else 1)
        if left > 1:
            return f"... {grouped(left)} more lines: enter shows more"
        return f"... {grouped(len(self.text) - self._shown)} more characters: enter shows more"


def _head(text: str, start: int, characters: int, lines: int) -> str:
    """A piece of ``text`` from ``start`` within both limits, cut after a line where there is one."""
    piece = text[start : start + characters]
    kept = piece.splitlines(keepends=True)[:lines]
    shortened = "".join(kept)
    if start + len(shortened) < len(text) and len(kept) > 1 and not shortened.endswith("\n"):
        return "".join(kept[:-1])
    return shortened
