"""The demo on the screen: it plays into a real session, compacts, and hands over to the person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memory.store import MemoryStore
from memory.verify import verify
from otto_tui.app import OttoApp
from otto_tui.demo_app import demo_app
from otto_tui.demo_script import load_script
from screens.blocks import NoticeBlock
from screens.draft import Draft
from screens.ports import ChatSession

TURNS = 14
SCRIPT = replace(load_script(), turns=load_script().turns[:TURNS], x_budget=200, y_budget=500)


async def test_it_plays_compacts_and_then_answers_from_memory(tmp_path: Path) -> None:
    app = demo_app(tmp_path, script=SCRIPT, speed=1_000)
    async with app.run_test(size=(120, 40)):
        await _until(lambda: bool(app.screen.query(NoticeBlock)))
        memory = await _session(app).snapshot()
        assert memory.turns == TURNS
        assert memory.generation >= 1
        said = [event for event in await _session(app).transcript(limit=100) if event.role == "user"]
        assert [event.t_event[:16] for event in said] == [turn.at.isoformat()[:16] for turn in SCRIPT.turns]

        conversation = app.chat.conversation
        assert conversation is not None
        conversation.send(Draft("How big is the button for a glove?"))
        await conversation.done()
        reply = (await _session(app).transcript(limit=1))[0]
        assert reply.role == "assistant"
        assert "big enough for a glove" in reply.text


async def test_it_stops_with_the_reply_that_the_person_stops(tmp_path: Path) -> None:
    app = demo_app(tmp_path, script=SCRIPT, speed=0.01)
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(lambda: app.chat.conversation is not None and app.chat.conversation.live is not None)
        await pilot.press("escape")
        await _until(lambda: bool(app.screen.query(NoticeBlock)))
        assert (await _session(app).snapshot()).turns == 1


@pytest.mark.parametrize("moment", range(6))
async def test_it_can_be_left_at_any_moment(tmp_path: Path, moment: int) -> None:
    app = demo_app(tmp_path, script=SCRIPT, speed=10)
    async with app.run_test(size=(120, 40)):
        await _until(lambda: app.chat.conversation is not None and app.chat.conversation.live is not None)
        await asyncio.sleep(0.03 * moment)
        await app.action_quit()
    assert app.failure is None
    with MemoryStore(next(tmp_path.glob("memory/*.db"))) as store:
        assert verify(store).ok


async def _until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not there():
            await asyncio.sleep(0.02)


def _session(app: OttoApp) -> ChatSession:
    assert app.chat.conversation is not None
    return app.chat.conversation.session
