"""The loop tab: how the transcript of a turn stays small, and each call of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from screens.inspector import InspectorPanel
from screens.loop_tab import NO_LOOP
from screens.row_list import RowList
from screens.source_screen import SourceScreen
from sessions.events import LoopChanged, ToolCalled
from sessions.loop_status import LoopCall, LoopStatus
from tests.screens.fakes import FakeSession, conversation, event_id
from tests.screens.stage import DARK, HOSTILE, TWO_LOOKS, WIDE, SnapCompare, Stage, is_safe, settle, shown, until

MADE = (
    LoopCall("c1", "list_files", "214 files and 31 folders", 9_310, evicted=True),
    LoopCall("c2", "search_files", "18 lines hold beans, in 6 files", 2_204, evicted=True),
    LoopCall("c3", "read_file", "lines 1 to 400 of notes/beds.txt", 31_000, event=event_id(2)),
    LoopCall("c4", "read_file", "There is no file notes/bets.txt.", 32, ok=False),
    LoopCall("c5", "run_command", ended=False),
)
LOOP = LoopStatus(
    running=True,
    calls=4,
    max_calls=120,
    requests=5,
    printed=42_546,
    standing=31_032,
    evicted=2,
    cuts=1,
    chars_before=61_300,
    chars_after=50_120,
    prefix_breaks=1,
    compact_at=160_000,
    made=MADE,
)


def inspector(session: FakeSession, theme: str = DARK) -> Stage:
    def made() -> InspectorPanel:
        panel = InspectorPanel()
        panel.bind_session(session)
        return panel

    return Stage(made, theme=theme)


async def looked_at(pilot: Pilot[None]) -> RowList:
    """The rows, after a step to the left from the first tab."""
    await settle(pilot)
    pilot.app.query_one("#memory-rows").focus()
    await pilot.press("left")
    await settle(pilot)
    return pilot.app.query_one("#memory-calls", RowList)


async def test_without_a_call_it_says_what_will_stand_there() -> None:
    app = inspector(FakeSession())
    async with app.run_test(size=WIDE) as pilot:
        await looked_at(pilot)
        assert NO_LOOP.split(".")[0] in shown(app)


async def test_it_tells_sizes_cuts_and_every_call() -> None:
    session = FakeSession(conversation(2))
    session.scripted_loop = LOOP
    app = inspector(session)
    async with app.run_test(size=WIDE) as pilot:
        await looked_at(pilot)
        text = " ".join(shown(app).split())
        assert "31,032 of 160,000 chars" in text
        assert "The turn under way: 5 requests, 5 calls." in text
        assert "1 cut took 2 results down to one line each: 61,300 characters have become 50,120." in text
        assert "1 request could not begin like the one before" in text
        assert "1 list_files 214 files and 31 folders 9,310 chars one line" in text
        assert "3 read_file lines 1 to 400 of notes/beds.txt 31.0k chars whole" in text
        assert "4 read_file There is no file notes/bets.txt. 32 chars failed" in text
        assert text.index("5 run_command running …") < text.index("1 list_files")


async def test_it_follows_the_turn_while_it_is_looked_at() -> None:
    session = FakeSession(conversation(2))
    session.scripted_loop = LOOP
    app = inspector(session)
    async with app.run_test(size=WIDE) as pilot:
        await looked_at(pilot)
        session.scripted_loop = replace(LOOP, made=(*MADE, LoopCall("c6", "recall_memory", ended=False)))
        session.emit(ToolCalled("c6", "recall_memory", "{}"))
        await until(pilot, lambda: "recall_memory" in shown(app))
        session.scripted_loop = replace(LOOP, running=False, requests=9)
        session.emit(LoopChanged())
        await until(pilot, lambda: "The last turn: 9 requests" in shown(app))


async def test_enter_opens_what_a_call_printed() -> None:
    session = FakeSession(conversation(2))
    session.scripted_loop = LOOP
    app = inspector(session)
    async with app.run_test(size=WIDE) as pilot:
        rows = await looked_at(pilot)
        rows.select_key("call c3")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SourceScreen))


async def test_a_call_never_commands_the_terminal() -> None:
    session = FakeSession()
    session.scripted_loop = replace(LOOP, made=(LoopCall("c", HOSTILE, HOSTILE, 3),))
    app = inspector(session)
    async with app.run_test(size=WIDE) as pilot:
        await looked_at(pilot)
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))


@pytest.mark.parametrize(("size", "theme"), TWO_LOOKS)
def test_picture_of_the_loop(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    session = FakeSession(conversation(2))
    session.scripted_loop = LOOP

    async def look(pilot: Pilot[None]) -> None:
        await looked_at(pilot)

    assert snap_compare(inspector(session, theme=theme), terminal_size=size, run_before=look)
