"""The question whether something may run: exactly what, where, and the three answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Button, Static

from screens.wording import counted
from sessions.approvals import Approval, Decision
from sessions.display import displayable, one_line

QUIET = 0.6
"""Seconds without a key before an answer counts: whoever was typing has seen the question by then."""


class ApprovalModal(ModalScreen[Decision | None]):
    """Closes with the person's word, or None when the question was taken back.

    Enter is no answer, and no button has the focus. Keys that were on their way when the question appeared go on to
    where they were being typed.
    """

    CSS_PATH = "modals.tcss"
    # The answers are in sight however long the question is.
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]  # noqa: RUF012
    BINDING_GROUP_TITLE = "May it run?"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('once')", "Once", tooltip="Run it this time"),
        Binding("a", "answer('always')", "Always", tooltip="Run whatever begins like this from now on"),
        Binding("n,escape", "answer('never')", "No", tooltip="Do not run it"),
    ]

    def __init__(self, approval: Approval, *, waiting: int = 0, quiet: float = QUIET) -> None:
        super().__init__()
        self.approval = approval
        self.armed = False
        """Answers count."""
        self._waiting = waiting
        self._quiet = quiet
        self._timer: Timer | None = None
        self._taken_back = False

    def compose(self) -> ComposeResult:
        approval = self.approval
        with Vertical(classes="dialog -approval"):
            more = f"  ({counted(self._waiting, 'more question')} after this one)" if self._waiting else ""
            yield Static(f"May {one_line(approval.tool, 40)} run this?{more}", classes="dialog-title", markup=False)
            with VerticalScroll(id="approval-body"):
                yield Static(Content(displayable(revealed(approval.command))), id="approval-command")
                for sentence in self._consequences():
                    yield Static(sentence, classes="dialog-hint", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield _Answer(Content("Once (y)"), id="once", compact=True)
                if approval.prefix:
                    yield _Answer(Content("Always (a)"), id="always", compact=True)
                yield _Answer(Content("No (n)"), id="never", compact=True)

    def _consequences(self) -> Iterator[str]:
        """Where it would run, and what the answers that last go for."""
        yield f"in {one_line(self.approval.folder, 400)}"
        prefix = one_line(revealed(self.approval.prefix), 200)
        if prefix:
            yield f'Always: "{prefix} ..." runs here without a question.'
        what = f'"{prefix} ..."' if prefix else "this command"
        yield f"No: {what} is not asked for again in this session."

    def on_mount(self) -> None:
        self.query_one("#approval-body").focus()
        self.call_after_refresh(self._wait_for_quiet)

    def _wait_for_quiet(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self._quiet, self._arm)

    def _arm(self) -> None:
        self.armed = True
        self.add_class("-armed")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "answer":
            return self.armed and (parameters != ("always",) or bool(self.approval.prefix))
        return True

    def action_answer(self, decision: Decision) -> None:
        if self.armed and self.is_current:
            self.armed = False
            self.dismiss(decision)

    def on_key(self, event: events.Key) -> None:
        if not self.armed and (event.is_printable or event.key == "enter"):
            event.stop()
            self._pass_on(events.Key(event.key, event.character))

    def on_paste(self, event: events.Paste) -> None:
        if not self.armed:
            event.stop()
            self._pass_on(events.Paste(event.text))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.action_answer(_DECISIONS[event.button.id or ""])

    def take_back(self) -> None:
        """The question is no longer one."""
        self._taken_back = True
        if self.is_current:
            self.dismiss(None)

    def on_screen_resume(self) -> None:
        if self._taken_back:
            self.dismiss(None)

    def _pass_on(self, event: events.Key | events.Paste) -> None:
        """To the widget that had the focus before the question came."""
        if self._timer is not None:
            self._wait_for_quiet()
        stack = self.app.screen_stack
        under = stack[stack.index(self) - 1]
        (under.focused or under).post_message(event)


class _Answer(Button, can_focus=False):
    """For the mouse; a button with the focus would make of Enter an answer."""


_DECISIONS: dict[str, Decision] = {"once": "once", "always": "always", "never": "never"}


def revealed(command: str) -> str:
    """``command`` with characters that are not seen, or look like others, written as ``\\u200b``."""
    hidden = {ord(char): f"\\u{ord(char):04x}" for char in set(command) if _is_hidden(char)}
    return command.translate(hidden)


def _is_hidden(char: str) -> bool:
    kind = unicodedata.category(char)
    return char not in " \n\t" and kind in ("Cf", "Zs", "Zl", "Zp", "Co", "Cn")
