"""What stands beside the chat, or on a narrow terminal in its place: memory or recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from screens.press_line import PressLine

if TYPE_CHECKING:
    from screens.inspector import InspectorPanel
    from screens.ports import ChatSession
    from screens.recall_panel import RecallPanel

Panel = Literal["chat", "memory", "recall"]

TABS: tuple[tuple[Panel, str], ...] = (("chat", "Chat"), ("memory", "Memory"), ("recall", "Recall"))


class PanelTabs(Horizontal):
    """One line with the names of what can be looked at; only a narrow terminal has it."""

    shown: reactive[Panel] = reactive[Panel]("chat")

    class Chosen(Message):
        """A tab was pressed."""

        def __init__(self, panel: Panel) -> None:
            self.panel = panel
            super().__init__()

    def compose(self) -> ComposeResult:
        for panel, name in TABS:
            yield PressLine(name, id=f"tab-{panel}", classes="tab")

    def watch_shown(self, shown: Panel) -> None:
        for panel, name in TABS:
            for tab in self.query(f"#tab-{panel}").results(PressLine):
                tab.set_class(panel == shown, "-shown")
                tab.say(f"[{name}]" if panel == shown else f" {name} ")

    def on_press_line_pressed(self, event: PressLine.Pressed) -> None:
        event.stop()
        for panel, _ in TABS:
            if event.line.id == f"tab-{panel}":
                self.post_message(self.Chosen(panel))


class SidePanel(Vertical):
    """Holds the memory and the recall panel; each is made when it is first looked at.

    It stands beside the chat on a wide terminal and in its place on a narrow one: the style sheet goes by the screen's
    classes ``-panel``, ``-wide`` and ``-narrow``.
    """

    panel: reactive[Panel] = reactive[Panel]("chat", init=False)
    """What is in sight; ``chat`` for neither panel."""

    class Turned(Message):
        """Another panel is in sight, or none."""

        def __init__(self, panel: Panel) -> None:
            self.panel = panel
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session: ChatSession | None = None
        self._memory: InspectorPanel | None = None
        self._recall: RecallPanel | None = None
        self._wide: bool | None = None
        self._beside: Panel = "memory"

    def bind_session(self, session: ChatSession) -> None:
        """Have both panels follow this session."""
        self._session = session
        for panel in (self._memory, self._recall):
            if panel is not None:
                panel.bind_session(session)

    async def fit(self, *, wide: bool) -> None:
        """The terminal has become wide or narrow: a wide one shows again what it showed last, at first the memory."""
        if wide == self._wide:
            return
        begins = self._wide is None
        self._wide = wide
        if begins and wide:
            # The place of the panel is painted at once, what stands in it after the first paint, which comes only when
            # the app has got to its own queue.
            self.screen.add_class("-panel")
            self.app.call_later(self._show_after_paint)
        else:
            await self.show(self._beside if wide else "chat")

    def _show_after_paint(self) -> None:
        self.screen.refresh()
        self.call_after_refresh(self.show, self._beside)

    async def toggle(self, panel: Panel) -> None:
        """Show this panel and go to it; away with it when it is in sight."""
        await self.show("chat" if self.panel == panel else panel, focus=True)

    async def show(self, panel: Panel, *, focus: bool = False) -> None:
        """Bring this panel into sight, or with ``chat`` neither."""
        shown = await self._made(panel)
        for other in (self._memory, self._recall):
            if other is not None:
                other.display = other is shown
        self.panel = panel
        if self._wide:
            self._beside = panel
        self.screen.set_class(shown is not None, "-panel")
        self.post_message(self.Turned(panel))
        if focus and shown is not None:
            self.call_after_refresh(_focus_first, shown)

    async def ask_recall(self, question: str) -> None:
        """Show what recall finds for this question."""
        await self.show("recall", focus=True)
        if self._recall is not None:
            self._recall.ask(question)

    async def show_view(self) -> None:
        """Show exactly what the model reads next."""
        await self.show("memory", focus=True)
        if self._memory is not None:
            self._memory.show_view()

    async def _made(self, panel: Panel) -> Widget | None:
        if panel == "memory":
            if self._memory is None:
                from screens.inspector import InspectorPanel

                self._memory = InspectorPanel(id="memory")
                await self._add(self._memory)
            return self._memory
        if panel == "recall":
            if self._recall is None:
                from screens.recall_panel import RecallPanel

                self._recall = RecallPanel(id="recall")
                await self._add(self._recall)
            return self._recall
        return None

    async def _add(self, panel: InspectorPanel | RecallPanel) -> None:
        await self.mount(panel)
        if self._session is not None:
            panel.bind_session(self._session)


def _focus_first(panel: Widget) -> None:
    for widget in panel.query("*"):
        if widget.focusable:
            widget.focus()
            return
