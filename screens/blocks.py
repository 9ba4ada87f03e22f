"""What the transcript is made of besides replies: the person's words, tools, folds, failures and notices."""

from __future__ import annotations

from datetime import datetime

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.widgets import Static

from memory.values import Event
from screens.long_text import LongText
from screens.press_line import PressLine
from screens.wording import moment_of
from sessions.display import displayable, one_line
from sessions.events import Notice, ToolUsed

RETRY = "ctrl+r asks again"


def speaker_line(speaker: str, time: str) -> Static:
    """Who said it and when, above what was said."""
    who = one_line(speaker, 40)
    return Static(Content.assemble((who, "bold"), (f"  {time}", "$foreground 55%")), classes="speaker")


class SaidBlock(VerticalGroup):
    """Something that was said and is shown word for word: the person's own turns, documents, system texts."""

    def __init__(self, event: Event, now: datetime) -> None:
        super().__init__(classes="said" if event.role == "user" else "said -other")
        self.seq: int | None = event.seq
        self.event = event
        self._now = now

    def compose(self) -> ComposeResult:
        speaker = self.event.speaker if self.event.kind == "message" else f"{self.event.kind} {self.event.source}"
        yield speaker_line(speaker, moment_of(self.event.t_event, self._now))
        yield LongText(self.event.text)


class ToolBlock(VerticalGroup):
    """A use of a tool, as one line; entering it shows what the tool was asked and what it answered."""

    def __init__(self, name: str, summary: str, details: str, *, seq: int | None = None) -> None:
        super().__init__(classes="tool")
        self.seq = seq
        self._tool = name
        self._summary = summary
        self._details = details

    @classmethod
    def of_event(cls, event: Event) -> ToolBlock:
        """From the tape, which has what the tool was asked, or printed, as the text."""
        summary = str(event.meta.get("summary") or event.text)
        return cls(event.source or "tool", summary, event.text, seq=event.seq)

    @classmethod
    def of_use(cls, use: ToolUsed) -> ToolBlock:
        return cls(use.name, use.summary, use.arguments)

    def compose(self) -> ComposeResult:
        yield PressLine(self._line(shown=False))

    async def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        if event.line.parent is not self:
            return
        event.stop()
        details = self.query(LongText)
        if details:
            await details.remove()
        else:
            await self.mount(LongText(self._details or "(nothing)", classes="details"))
        event.line.say(self._line(shown=not details))

    def _line(self, *, shown: bool) -> str:
        name, summary = one_line(self._tool, 40), one_line(self._summary, 400)
        return f"{'▾' if shown else '▸'} {name}  {summary}".rstrip()


class FoldLine(Static):
    """Where the part begins that the model still reads word for word."""

    def __init__(self, bullets: int) -> None:
        super().__init__(classes="fold")
        self.bullets = bullets
        self.say(bullets)

    def say(self, bullets: int) -> None:
        self.bullets = bullets
        count = "1 bullet" if bullets == 1 else f"{bullets:,} bullets"
        self.update(Content(f"older turns stay here; the model now reads {count} of them"))


class FailureBlock(VerticalGroup):
    """Why there is no whole reply, and the key that asks again."""

    def __init__(self, sentence: str, *, can_retry: bool) -> None:
        super().__init__(classes="failure")
        self.sentence = sentence
        self._can_retry = can_retry

    def compose(self) -> ComposeResult:
        yield Static(Content(displayable(self.sentence)))
        if self._can_retry:
            yield PressLine(RETRY, classes="retry")


class NoticeBlock(Static):
    """A sentence from Otto itself."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(Content(displayable(notice.text)), classes=f"notice -{notice.level}")
        self.notice = notice


class Welcome(VerticalGroup):
    """What an empty session says."""

    def compose(self) -> ComposeResult:
        yield Static("Ask anything.", classes="lead")
        yield Static(
            "Nothing that is said here is ever lost. The model reads a small view of it, which F2 shows;"
            " F3 finds the exact words again.",
            classes="rest",
        )
