"""What the transcript is made of besides replies and tools: the person's words, folds, failures, notices."""

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
from sessions.events import Notice

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
