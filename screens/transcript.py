"""The conversation, as far as it is looked at: a window of blocks, the reply that comes in, and the fold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from memory.values import MemorySnapshot
from screens.block_list import BlockList
from screens.blocks import NoticeBlock, Welcome
from screens.conversation import Conversation
from screens.event_blocks import Block
from screens.fold import Fold
from screens.last_word import LastWord
from screens.live_drawing import LiveDrawing
from screens.press_line import PressLine
from screens.reading_place import ReadingPlace
from screens.shell_drawing import ShellDrawing
from screens.transcript_window import FIRST, MOST, PAGE, TranscriptWindow
from sessions.events import Notice
from sessions.options import utc_now

DRAWS_A_SECOND = 12
"""Most often that a growing reply is drawn."""

FILL = 12
"""Events that are taken in at a time while nobody waits for them."""

NOTICES_SHOWN = 5

OLDER = "older turns: page up, or enter here"


class Transcript(VerticalScroll, can_focus=True):
    """Shows one conversation. Follows its end while the end is in sight, and keeps its place otherwise.

    Whatever changes it takes the one lock, so that a page of older turns and a reply never interleave.
    """

    BLANK = True

    BINDING_GROUP_TITLE = "Transcript"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "screen.page_up", "Page up", show=False),
        Binding("pagedown,space", "screen.page_down", "Page down", show=False),
        Binding("ctrl+home,home", "screen.to_start", "To the first turn", show=False),
        Binding("ctrl+end,end", "screen.to_end", "To the newest turn", show=False),
    ]

    new_lines = reactive(0)
    """Lines that have come at the end since the end was last in sight."""

    at_tail = reactive(True)
    """False while the newest turns are not loaded, after a jump far back."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.conversation: Conversation | None = None
        self._window: TranscriptWindow | None = None
        self._blocks = BlockList(utc_now)
        self._drawing: LiveDrawing | None = None
        self._shell = ShellDrawing()
        self._fold = Fold()
        self._place = ReadingPlace(self)
        self._lock = asyncio.Lock()
        self._height_read = 0
        self._rebuilding = False

    def on_mount(self) -> None:
        self.anchor()

    @property
    def following(self) -> bool:
        """The newest turn is in sight, so that what comes next will be too."""
        return self.at_tail and (self.max_scroll_y == 0 or self.scroll_y >= self.max_scroll_y)

    # a conversation

    async def show(self, conversation: Conversation) -> None:
        """Show this conversation from its end."""
        async with self._lock:
            self.conversation = conversation
            self._blocks = BlockList(conversation.session.options.now)
            self._last_word = LastWord(conversation)
            self._window = TranscriptWindow(conversation.session, lambda: conversation.live_calls)
            self._fold = Fold()
            await self._show_tail()

    async def said(self) -> None:
        """The person's words are on the tape: show them where they belong."""
        async with self._lock:
            if self.at_tail:
                await self._catch_up()

    async def reply_begins(self) -> None:
        """A request is under way: draw its reply as it comes in."""
        async with self._lock:
            await self._last_word.take_back(self)
            if self.at_tail and self._drawing is None:
                await self._catch_up()
            self._last_word.offer_retry(self._blocks.all)
        self._draw_live()

    async def reply_ends(self) -> None:
        """The turn is over: what was drawn becomes what stands on the tape, and a failure says how to go on."""
        async with self._lock:
            following = self.following
            drawing, self._drawing = self._drawing, None
            if drawing is not None:
                await drawing.draw()
            await self._catch_up(drawing)
            await self._draw_shell()
            await self._say_last_word()
            if following:
                await self._shed_oldest()

    async def turn_is_over(self) -> None:
        """Nothing is under way any more: offer to ask again if that makes sense."""
        async with self._lock:
            await self._draw_shell()
            await self._say_last_word()

    async def shell_ends(self) -> None:
        """A command of the person's has ended: its output stands on the tape."""
        async with self._lock:
            with self.app.batch_update():
                await self._draw_shell()
                if self.at_tail:
                    await self._catch_up()

    async def say(self, notice: Notice) -> None:
        """Add a sentence from Otto at the end, if it is not there already."""
        async with self._lock:
            said = any(isinstance(child, NoticeBlock) and child.notice is notice for child in self.children)
            if self.at_tail and not said:
                await self.mount(NoticeBlock(notice))

    async def show_fold(self, snapshot: MemorySnapshot) -> None:
        """Mark where the part begins that the model reads word for word."""
        if self._fold.read_from(snapshot):
            async with self._lock:
                await self._fold.place(self, self._blocks.all)

    async def jump(self, seq: int) -> bool:
        """Bring an event into sight and mark it, loading around it as needed. False when there is no such event."""
        async with self._lock:
            if self._window is None:
                return False
            if self._blocks.find(seq) is None:
                if not await self._window.around(seq):
                    return False
                await self._rebuild()
        self._stop_following()
        self._blocks.mark(seq)
        self.call_after_refresh(self._bring_into_sight, seq)
        return True

    # moving

    def page_up(self) -> None:
        if self.scroll_y <= 0:
            self._load_older()
        elif self.max_scroll_y > 0:
            self.scroll_page_up(animate=False)

    def page_down(self) -> None:
        if self.is_vertical_scroll_end and not self.at_tail:
            self._load_newer()
        elif self.max_scroll_y > 0:
            self.scroll_page_down(animate=False)

    def to_start(self) -> None:
        """To the first turn of the session, loading it when it is not there."""
        self.run_worker(self._to_start(), group="window", exit_on_error=False)

    def to_end(self) -> None:
        """To the newest turn, and follow it."""
        if self.at_tail:
            self.anchor()
        else:
            self.run_worker(self._to_tail(), group="window", exit_on_error=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._note_what_is_read()
        if self._place.holding or self._rebuilding or self._window is None:
            return
        if new_value < old_value and new_value <= 1 and not self._window.at_start:
            self._load_older()
        elif new_value > old_value and not self.at_tail and self.is_vertical_scroll_end:
            self._load_newer()

    def watch_virtual_size(self, old: Size, new: Size) -> None:
        if self._place.holding:
            shifted = self._place.shift
            self._place.restore()
            self._height_read += self._place.shift - shifted
        self._note_what_is_read()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state == WorkerState.ERROR:
            self.mount(NoticeBlock(Notice(f"This could not be drawn: {event.worker.error!r}. It is on disk.", "error")))

    def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        if event.line.has_class("older"):
            event.stop()
            self._load_older()

    # the window

    async def _to_tail(self) -> None:
        async with self._lock:
            await self._show_tail()

    async def _to_start(self) -> None:
        async with self._lock:
            if self._window is not None and not self._window.at_start:
                await self._window.to_start()
                await self._rebuild()
        self._stop_following()
        self.call_after_refresh(self._bring_into_sight, None)

    async def _show_tail(self) -> None:
        if self._window is None or self.conversation is None:
            return
        await self._window.to_tail()
        await self._rebuild()
        await self.mount_all([NoticeBlock(notice) for notice in self.conversation.notices[-NOTICES_SHOWN:]])
        await self._draw_shell()
        await self._say_last_word()
        self.anchor()
        self._draw_live()
        self.run_worker(self._fill(), group="window", exit_on_error=False)

    async def _fill(self) -> None:
        """Take in older turns, some at a time, until there is enough to scroll in; keys are served in between."""
        window = self._window
        while window is not None and window is self._window and self.at_tail and not window.full:
            await self._take_in_older(FILL)

    async def _rebuild(self) -> None:
        """Blocks for what the window holds, in place of all there was."""
        if self._window is None:
            return
        self._rebuilding = True
        self._drawing = None
        self._shell.forget()
        self._blocks.all = []
        self._blocks.all = await self._blocks.made_of(self._window)
        self._fold.forget_line()
        with self.app.batch_update():
            await self.remove_children()
            await self.mount_all([*self._top(), *self._blocks.all] or [Welcome()])
            await self._fold.place(self, self._blocks.all)
        self.at_tail = self._window.at_tail
        self.call_after_refresh(self._rebuilt)

    def _rebuilt(self) -> None:
        self._rebuilding = False

    def _bring_into_sight(self, seq: int | None) -> None:
        """This event, or the very top, to the top of what is seen."""
        block = self._blocks.find(seq) if seq is not None else None
        self.scroll_to(y=block.virtual_region.y if block is not None else 0, animate=False, immediate=True)

    def _load_older(self) -> None:
        self.run_worker(self._older(), group="window", exit_on_error=False)

    def _load_newer(self) -> None:
        self.run_worker(self._newer(), group="window", exit_on_error=False)

    async def _older(self) -> None:
        if self.scroll_y <= 1:
            await self._take_in_older(PAGE)

    async def _take_in_older(self, limit: int) -> None:
        async with self._lock:
            if self._window is None or self.conversation is None or self._window.at_start:
                return
            added = await self._blocks.made_of(self._window, await self._window.older(limit))
            if self._blocks.all and not self.following:
                self._place.hold(self._blocks.all[0])
            with self.app.batch_update():
                await self._remove(PressLine)
                self._blocks.all[:0] = added
                await self.mount_all([*self._top(), *added], before=0)
                await self._shed_newest()
                await self._fold.place(self, self._blocks.all)
        self.call_after_refresh(self._place.let_go)

    async def _newer(self) -> None:
        async with self._lock:
            if self._window is None or self.conversation is None or self.at_tail:
                return
            new = await self._window.newer()
            await self._append(await self._blocks.made_of(self._window, new))
            self.at_tail = self._window.at_tail
        if self.at_tail:
            here = self.scroll_y
            self.anchor()
            self.scroll_to(y=here, animate=False, immediate=True)
            self._draw_live()

    async def _catch_up(self, drawing: LiveDrawing | None = None) -> None:
        """Take in what is new on the tape; what ``drawing`` shows of it stays where it is."""
        if self._window is None or self.conversation is None:
            return
        new = await self._window.caught_up()
        if drawing is not None and drawing.fits(new):
            self._blocks.all += await drawing.settle(new)
            return
        with self.app.batch_update():
            if drawing is not None:
                await drawing.remove()
            await self._append(await self._blocks.made_of(self._window, new))

    async def _append(self, blocks: Sequence[Block]) -> None:
        """Add blocks after the last event; what follows it, such as a reply that comes in, stays below them."""
        if not blocks:
            return
        await self._remove(Welcome)
        with self.app.batch_update():
            await self.mount_all(blocks, after=self._blocks.all[-1] if self._blocks.all else None)
            self._blocks.all += blocks
            await self._fold.place(self, self._blocks.all)

    async def _shed_oldest(self) -> None:
        """While the end is followed, what is far above it goes."""
        if self._window is None or len(self._window.events) <= MOST:
            return
        gone = self._blocks.let_go(self._window.drop_oldest(FIRST))
        with self.app.batch_update():
            await self._remove(PressLine)
            for block in gone:
                await block.remove()
            await self.mount_all(self._top(), before=0)
            await self._fold.place(self, self._blocks.all)

    async def _shed_newest(self) -> None:
        """While older turns are read, what is far below them goes."""
        gone = self._window.drop_newest(MOST) if self._window is not None else []
        if not gone:
            return
        self._blocks.let_go(gone)
        last = self._blocks.all[-1]
        for widget in self.children[self.children.index(last) + 1 :]:
            await widget.remove()
        self._drawing = None
        self._shell.forget()
        self.at_tail = False
        self._stop_following()

    # the reply that comes in, and what is said of the last one

    async def _say_last_word(self) -> None:
        if self.at_tail and self.conversation is not None:
            await self._last_word.say(self, self._blocks.all)

    async def _draw_shell(self) -> None:
        if self.conversation is not None and self.at_tail:
            await self._shell.draw(self, self.conversation.shell)

    def _draw_live(self) -> None:
        if self.conversation is not None and self.conversation.live is not None and self.at_tail:
            self.run_worker(self._follow_reply(self.conversation), group="reply", exclusive=True, exit_on_error=False)

    async def _follow_reply(self, conversation: Conversation) -> None:
        """Draw what has come, some times a second, until the reply is over or out of sight."""
        live = conversation.live
        while live is not None:
            async with self._lock:
                if live is not conversation.live or conversation is not self.conversation or not self.at_tail:
                    return
                if self._drawing is None or self._drawing.live is not live:
                    self._drawing = LiveDrawing(live, now=conversation.session.options.now(), mount=self.mount)
                await self._drawing.draw()
            await asyncio.sleep(1 / DRAWS_A_SECOND)
            await live.grew.wait()

    # pieces

    def _top(self) -> list[Widget]:
        if self._window is None or self._window.at_start:
            return []
        return [PressLine(OLDER, classes="older")]

    async def _remove(self, *kinds: type[Widget]) -> None:
        for child in list(self.children):
            if isinstance(child, kinds):
                await child.remove()

    def _stop_following(self) -> None:
        if self.at_tail:
            self.release_anchor()
        else:
            self.anchor(False)

    def _note_what_is_read(self) -> None:
        """Count the lines that have come at the end while it was out of sight."""
        height = self.virtual_size.height
        if self.following:
            self._height_read = height
        self.new_lines = max(height - self._height_read, 0) if self.at_tail else 0
