"""The panels and the session list over real sessions on a real disk, with the model that needs no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from screens.inspector import InspectorPanel
from screens.messages import OpenInTranscript, Quote
from screens.passage import Passage
from screens.recall_panel import RecallPanel
from screens.recall_rows import ResultRow
from screens.row_list import RowList
from screens.sessions_screen import SessionsScreen
from sessions.library import Library
from sessions.options import Options
from sessions.session import Session
from tests.screens.stage import WIDE, Stage, settle, shown, until

PLANTED = "The seed order has to be out by 14 May."


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(Options(home=tmp_path / "home", x_budget=300, y_budget=600, embedding="none"))


async def talked(library: Library, turns: int = 20) -> Session:
    """A session in which the first turn has long left X."""
    session = await library.new("/srv/garden")
    await session.send(PLANTED)
    for turn in range(turns):
        await session.send(f"What about bed {turn}? It gets {turn * 3} litres a day, and the beans in it want more.")
    await session.drain()
    return session


def panel_over(session: Session, kind: type[InspectorPanel] | type[RecallPanel]) -> Stage:
    def make() -> InspectorPanel | RecallPanel:
        panel = kind()
        panel.bind_session(session)
        return panel

    return Stage(make)


async def test_the_memory_panel_follows_a_real_session_through_a_compaction(library: Library) -> None:
    session = await talked(library)
    app = panel_over(session, InspectorPanel)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        before = await session.snapshot()
        assert before.bullets
        assert f"generation {before.generation}" in shown(app)
        for turn in range(4):
            await session.send(f"And what about the paths next to bed {turn}, should they be one metre wide or more?")
        await session.drain()
        await settle(pilot)
        after = await session.snapshot()
        assert after.generation > before.generation
        assert f"generation {after.generation}" in shown(app)
        app.query_one(RowList).focus()
        await pilot.press("right", "right")
        await settle(pilot)
        log = app.query_one("#memory-log", Passage).text
        assert "X to Y" in log
        assert [f"generation {n}\n" in log for n in range(1, after.generation + 1)] == [True] * after.generation
    await session.close()


async def test_a_real_bullet_opens_to_the_exact_words(library: Library) -> None:
    session = await talked(library)
    app = panel_over(session, InspectorPanel)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        oldest = (await session.snapshot()).bullets[0]
        rows = app.query_one(RowList)
        rows.focus()
        assert rows.select_key(oldest.id)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.query("#source-words"))
        await settle(pilot)
        words = app.screen.query_one("#source-words", Passage).text
        for event in (await session.recall_id(oldest.id)).events:
            assert "".join(event.text.split()) in "".join(words.split())
        await pilot.press("o")
        await settle(pilot)
        assert app.asked == [OpenInTranscript(oldest.seqs[0])]
    await session.close()


async def test_what_the_model_reads_is_the_real_request(library: Library) -> None:
    session = await talked(library)
    app = panel_over(session, InspectorPanel)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one(InspectorPanel).show_view()
        await settle(pilot)
        text = "".join(app.query_one("#memory-view-text", Passage).text.split())
        messages = await session.view()
        assert f"{len(messages)} messages" in shown(app)
        for message in messages:
            assert "".join(str(message["content"]).split()) in text
    await session.close()


async def test_recall_finds_what_left_x_and_quotes_it(library: Library) -> None:
    session = await talked(library)
    app = panel_over(session, RecallPanel)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one(RecallPanel).ask("when has the seed order to be out?")
        await settle(pilot)
        assert PLANTED in shown(app)
        rows = app.query_one(RowList)
        rows.focus()
        first = (await session.transcript(limit=1_000))[0]
        found = [row for row in rows.rows if isinstance(row, ResultRow) and row.item.seq == first.seq]
        assert rows.select_key(found[0].key)
        await pilot.press("i")
        await settle(pilot)
        assert app.asked == [Quote(PLANTED)]
    await session.close()


async def test_the_whole_life_of_a_session_from_the_list(library: Library, tmp_path: Path) -> None:
    session = await talked(library, turns=5)
    await session.close()
    app = Stage(screen=lambda: SessionsScreen(library, folder=tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        app.screen.query_one(Input).value = "The garden"
        await pilot.press("enter")
        await settle(pilot)
        assert "The garden" in shown(app)

        await pilot.press("f")
        await settle(pilot)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert "Sessions: 2" in shown(app)
        fork = app.screen.query_one(RowList).current
        assert fork is not None
        assert fork.key != session.id

        await pilot.press("d")
        await settle(pilot)
        assert "Sessions: 1" in shown(app)
        await pilot.press("u")
        await settle(pilot)
        assert "Sessions: 2" in shown(app)

        app.screen.query_one(RowList).select_key(session.id)
        await pilot.press("e")
        await settle(pilot)
        app.screen.query_one(Input).value = str(tmp_path / "taken.json")
        await pilot.press("enter")
        await settle(pilot)
        assert (tmp_path / "taken.json").exists()

        await pilot.press("i")
        await settle(pilot)
        app.screen.query_one(Input).value = str(tmp_path / "taken.json")
        await pilot.press("enter")
        await settle(pilot)
        assert "Sessions: 3" in shown(app)

        await pilot.press("slash")
        app.screen.query_one(Input).value = "seed order"
        await until(pilot, lambda: "3 found" in shown(app) and "searching" not in shown(app))
        assert "seed order has to be out" in shown(app)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert len(app.closed_with) == 1
        reopened = await library.open(str(app.closed_with[0]))
        assert (await reopened.transcript(limit=1_000))[0].text == PLANTED
        await reopened.close()


async def test_a_refused_export_and_import_say_why(library: Library, tmp_path: Path) -> None:
    session = await talked(library, turns=1)
    await session.close()
    (tmp_path / "taken.json").write_text("not an export", encoding="utf-8")
    app = Stage(screen=lambda: SessionsScreen(library, folder=tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for key in ("e", "i"):
            await pilot.press(key)
            await settle(pilot)
            app.screen.query_one(Input).value = str(tmp_path / "taken.json")
            await pilot.press("enter")
            await settle(pilot)
            assert "! " in shown(app)
            await pilot.press("escape")
            await settle(pilot)
    assert (tmp_path / "taken.json").read_text(encoding="utf-8") == "not an export"
