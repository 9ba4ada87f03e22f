"""A use of a tool in the transcript: one line that opens to what the tool was asked and what it answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Static

from memory.tool_events import is_call, is_of_model
from memory.values import Event
from screens.long_text import LongText
from screens.painting import TONE_CLASSES, TONE_CSS, Part, Tone, padded, painted
from screens.press_line import PressLine
from screens.tool_use import (
    ToolUse,
    details,
    ending,
    headline,
    use_of_document,
    use_of_events,
    use_of_note,
    use_of_shell,
)

SHELL_LINES = 20
"""Lines of a command's output that show at once."""


def call_of(event: Event) -> str | None:
    """What a call and its result have in common: the id of the call's event. None for any other event.

    The id that the vendor gave the call will not do: some vendors number the calls of each reply from 0.
    """
    if not is_of_model(event):
        return None
    if is_call(event):
        return event.id
    return event.refs[0] if event.refs else None


class ToolLine(PressLine):
    """The line. Its right end, how the use stands, is never cut off."""

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    DEFAULT_CSS = "ToolLine { width: 1fr; height: 1;" + TONE_CSS + "}"

    def __init__(self) -> None:
        super().__init__("")
        self._left, self._right = Part(""), Part("")

    @property
    def text(self) -> str:
        """All that it says, as if there were room."""
        return f"{self._left.text}  {self._right.text}".rstrip()

    def say_both(self, left: str, right: str, tone: Tone) -> None:
        """Both ends have passed ``displayable``; ``tone`` is the right one's."""
        self._left, self._right = Part(left), Part(right, tone)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        right = (Part(" "), self._right) if self._right.text else ()
        width = self.content_size.width
        return painted(self, padded((self._left,), right, width), width)


class ToolBlock(VerticalGroup):
    """Any use of a tool: a call with its result, a note of one, a command of the person's, a file they attached."""

    def __init__(self, use: ToolUse, *, call: str = "", events: Sequence[Event] = ()) -> None:
        super().__init__(classes="tool")
        self.use = use
        self.call = call
        """The call's id among those of its turn; empty where there is none."""
        self._events = list(events)
        self._opened: bool | None = None
        """What the person wants to see; None while they have not said."""

    @classmethod
    def of_event(cls, event: Event) -> ToolBlock:
        """From the tape: a call, a result whose call is not loaded, or what stands for itself."""
        if event.kind == "document":
            use = use_of_document(event)
        elif event.kind == "note":
            use = use_of_note(event)
        elif event.meta.get("by") == "person":
            use = use_of_shell(event)
        else:
            use = use_of_events(event, None) if is_call(event) else use_of_events(None, event)
        return cls(use, call=str(event.meta.get("call") or ""), events=[event])

    @property
    def seq(self) -> int | None:
        """Of its first event; None while it is not on the tape."""
        return min((event.seq for event in self._events), default=None)

    @property
    def seqs(self) -> frozenset[int]:
        """All of its events'."""
        return frozenset(event.seq for event in self._events)

    @property
    def key(self) -> str | None:
        """What its events have in common, when there are to be two of them (``call_of``)."""
        return call_of(self._events[0]) if self._events else None

    @property
    def ended(self) -> bool:
        return self.use.state not in ("running", "open")

    def lose(self) -> None:
        """A call that has no result will not get one any more."""
        if not self.ended:
            self.use = replace(self.use, state="interrupted")
            if self.is_mounted:
                self._say()

    async def take(self, event: Event) -> None:
        """This event is of the same call."""
        if event.seq in self.seqs:
            return
        self._events.append(event)
        if not is_of_model(event):
            return
        call = next((event for event in self._events if is_call(event)), None)
        result = next((event for event in self._events if not is_call(event)), None)
        if result is not None:
            await self.show(use_of_events(call, result))

    async def show(self, use: ToolUse) -> None:
        """More is known of the use."""
        changed = details(use) != details(self.use)
        self.use = use
        if not self.is_mounted:
            return
        self._say()
        if self._shown and (changed or not self.query(".details")):
            await self.query(".details").remove()
            await self._mount_details()

    def compose(self) -> ComposeResult:
        yield ToolLine()

    async def on_mount(self) -> None:
        self._join_neighbours()
        self._say()
        if self._shown:
            await self._mount_details()

    async def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        if event.line.parent is not self:
            return
        event.stop()
        self._opened = not self._shown
        if self._opened:
            await self._mount_details()
        else:
            await self.query(".details").remove()
        self._say()

    @property
    def _shown(self) -> bool:
        """What a command printed is there to be read; the rest waits until it is asked for."""
        return self._opened if self._opened is not None else self.use.kind == "shell" and self.ended

    async def _mount_details(self) -> None:
        lines = SHELL_LINES if self.use.kind == "shell" else None
        parts = details(self.use)
        group = VerticalGroup(classes="details")
        await self.mount(group)
        for heading, text in parts:
            if heading:
                await group.mount(Static(Content(heading), classes="heading"))
            await group.mount(LongText(text, first_lines=lines))

    async def leave(self) -> None:
        """Go from the transcript; what stood above it stands with a gap again."""
        before, _ = self._neighbours
        if before is not None:
            before.remove_class("-followed")
        await self.remove()

    def _join_neighbours(self) -> None:
        """Uses of tools that follow each other stand without a gap."""
        before, after = self._neighbours
        if before is not None:
            before.add_class("-followed")
        self.set_class(after is not None, "-followed")

    @property
    def _neighbours(self) -> tuple[ToolBlock | None, ToolBlock | None]:
        """The uses of tools right above and below, if that is what stands there."""
        siblings = self.parent.children if self.parent is not None else [self]
        at = siblings.index(self)
        before = siblings[at - 1] if at else None
        after = siblings[at + 1] if at + 1 < len(siblings) else None
        return (
            before if isinstance(before, ToolBlock) else None,
            after if isinstance(after, ToolBlock) else None,
        )

    def _say(self) -> None:
        line = self.query_one(ToolLine)
        tone: Tone = "warning" if self.use.state in ("failed", "interrupted") else "plain"
        line.say_both(f"{'▾' if self._shown else '▸'} {headline(self.use)}", ending(self.use), tone)
