"""``otto demo``: the real app over a session that plays itself, in a home that is thrown away at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from otto_tui.app import OttoApp
from otto_tui.demo_model import DemoModel
from otto_tui.demo_player import DemoClock, DemoPlayer
from otto_tui.demo_script import SPEAKER, DemoScript, load_script
from screens.draft import Draft
from sessions.events import Notice, SessionEvent
from sessions.options import LedgerSettings, Options

if TYPE_CHECKING:
    from screens.chat import ChatScreen
    from screens.conversation import Conversation
    from sessions.library import Library
    from sessions.models import Recall

SPEED = 3.0
"""Turns a second, where none is asked for."""

REPLY_SHARE = 0.6
"""Of a turn's time, what its reply takes to stream."""

COMPACTION_TURNS = 2
"""How many turns a compaction takes, so that one can be seen at work behind the conversation."""

QUESTIONS_SHOWN = 3


def run_demo(*, speed: float = SPEED, x_budget: int | None = None, y_budget: int | None = None) -> None:
    """Open the screen and play; returns when the person leaves."""
    with tempfile.TemporaryDirectory(prefix="otto-demo-", ignore_cleanup_errors=True) as home:
        app = demo_app(Path(home), speed=speed, x_budget=x_budget, y_budget=y_budget)
        app.run()
        if app.failure is not None:
            raise app.failure


def demo_app(
    home: Path,
    *,
    script: DemoScript | None = None,
    speed: float = SPEED,
    x_budget: int | None = None,
    y_budget: int | None = None,
) -> OttoApp:
    """The app that plays ``script`` (the one in the box) into a session under ``home``, ``speed`` turns a second."""
    script = script if script is not None else load_script()
    clock = DemoClock(script.turns[0].at)
    options = demo_options(home, script, clock, x_budget=x_budget, y_budget=y_budget)
    player = DemoPlayer(script, clock, speed=speed)

    async def play(chat: ChatScreen, conversation: Conversation) -> None:
        whole = await player.play(_Said(conversation))
        await chat.transcript.say(Notice(_last_words(script, whole=whole), "information"))

    return OttoApp(
        options, open_library=lambda: demo_library(options, script, speed=speed), workspace=home, opened=play
    )


def demo_library(options: Options, script: DemoScript, *, speed: float) -> Library:
    """The sessions of the demo's home, in which the script answers whatever model is asked for."""
    from sessions.library import Library

    def open_model(name: str, options: Options, *, recall: Recall | None = None) -> DemoModel:
        return DemoModel(script, recall, reply_seconds=REPLY_SHARE / speed, summary_seconds=COMPACTION_TURNS / speed)

    return Library(options, open_model=open_model)


def demo_options(
    home: Path, script: DemoScript, clock: DemoClock, *, x_budget: int | None = None, y_budget: int | None = None
) -> Options:
    """Settings with the script's budgets and its time; nothing of it reaches a network."""
    return Options(
        home=home,
        chat=SPEAKER,
        x_budget=x_budget or script.x_budget,
        y_budget=y_budget or script.y_budget,
        embedding="none",
        ledger=LedgerSettings(passive=True),
        now=clock,
    )


class _Said:
    """A conversation on the screen, as the player speaks into it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        return self._conversation.session.subscribe(callback)

    async def send(self, text: str) -> None:
        await self._conversation.done()
        self._conversation.send(Draft(text))
        await self._conversation.done()


def _last_words(script: DemoScript, *, whole: bool) -> str:
    ended = "The demo is over" if whole else "The demo has stopped here"
    questions = " ".join(f"“{planted.question}”" for planted in script.planted[-QUESTIONS_SHOWN:])
    return (
        f"{ended}; the session is yours. Ask it, or the recall panel, for something that left the window: {questions}"
    )
