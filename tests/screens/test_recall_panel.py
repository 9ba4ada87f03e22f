"""The recall panel: asking, reading what was found, and taking it along."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from memory.errors import StoreUnavailable
from memory.values import RecallItem, RecallResult
from screens.messages import OpenInTranscript, Quote
from screens.painting import text_of
from screens.passage import Passage
from screens.recall_panel import RecallPanel
from screens.recall_rows import SHOWN, ResultRow
from screens.row_list import RowList
from screens.source_screen import SourceScreen
from tests.screens.fakes import NOW, FakeSession, chunk_hash, conversation, event, event_id
from tests.screens.stage import (
    DARK,
    HOSTILE,
    LIGHT,
    LOOKS,
    NARROW,
    WIDE,
    SnapCompare,
    Stage,
    is_safe,
    settle,
    shown,
    until,
)

LONG = (
    "We settled on raised beds along the north fence because the soil there is heavy clay and drains badly; "
    "Sam will bring the boards, and the paths stay one metre wide so that the barrow fits."
)


def found(seq: int, text: str, *, score: float = 0.5, neighbour: bool = False, **fields: str) -> RecallItem:
    values = {"speaker": "you", "kind": "message", "t_event": "2026-02-02T09:03:00+00:00", **fields}
    return RecallItem(
        seq=seq, id=event_id(seq), chunk=chunk_hash(seq), text=text, score=score, neighbour=neighbour, **values
    )


def budget(warning: str | None = None) -> RecallResult:
    items = (
        found(3, "Keep the budget below 400 euros, whatever happens to the greenhouse.", score=0.0312),
        found(4, "Noted: 400 euros is the ceiling.", neighbour=True, speaker="anthropic/claude-sonnet-4-5"),
        found(40, LONG, score=0.0291, t_event="2026-03-08T10:04:00+00:00"),
        found(41, "boards,120\nseed,38", score=0.0104, speaker="read_file", kind="tool"),
    )
    return RecallResult("dense+bm25", 412, items, warning)


def asking(result: RecallResult | None = None) -> FakeSession:
    session = FakeSession(conversation(30))
    session.recall_results["what is the budget?"] = result or budget()
    return session


def stage(session: FakeSession, theme: str = DARK) -> Stage:
    def make() -> RecallPanel:
        panel = RecallPanel()
        panel.bind_session(session)
        return panel

    return Stage(make, theme=theme)


async def ask(pilot: Pilot[None], question: str) -> None:
    pilot.app.query_one(Input).focus()
    pilot.app.query_one(Input).value = question
    await pilot.press("enter")
    await settle(pilot)


async def test_a_question_is_answered_with_time_speaker_score_and_ranking() -> None:
    app = stage(asking())
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "what is the budget?")
        text = shown(app)
        assert "3 hits, 1 beside them · ranked by dense+bm25 · 412 tokens" in text
        hit = next(line for line in text.splitlines() if "score 0.031" in line)
        assert "2 Feb 09:03" in hit
        assert "you" in hit
        assert "tool read_file" in text
        assert "  boards,120" in text


async def test_what_came_along_as_context_says_so_and_is_muted() -> None:
    row = ResultRow(budget().items[1], NOW)
    head, *lines, gap = row.lines(60)
    assert "beside a hit" in text_of(head)
    assert "score" not in text_of(head)
    assert {part.tone for line in lines for part in line if part.text.strip()} == {"muted"}
    assert gap == ()


async def test_long_results_wrap_and_lose_nothing() -> None:
    app = stage(asking())
    async with app.run_test(size=NARROW) as pilot:
        await ask(pilot, "what is the budget?")
        assert LONG in " ".join(shown(app).split())


@pytest.mark.parametrize("width", [20, 38, 80])
def test_result_rows_are_as_high_as_they_say(width: int) -> None:
    for item in budget().items:
        row = ResultRow(item, NOW)
        assert len(row.lines(width)) == row.height(width)


async def test_a_warning_is_marked_and_goes_away_with_the_next_question() -> None:
    session = asking(budget("These vectors are another model's. Re-embed the session."))
    app = stage(session)
    async with app.run_test(size=NARROW) as pilot:
        await ask(pilot, "what is the budget?")
        assert "! These vectors are another model's." in " ".join(shown(app).split())
        await ask(pilot, "bed 3")
        assert "! " not in shown(app)


async def test_enter_opens_the_words_o_the_transcript_and_i_quotes() -> None:
    session = FakeSession(conversation(30))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "Question")
        assert app.query_one(RowList).has_focus
        first = session.tape[0]
        await pilot.press("o", "i")
        await settle(pilot)
        assert app.asked == [OpenInTranscript(first.seq), Quote(first.text)]
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        assert first.text in app.screen.query_one(Passage).text
        await pilot.press("i")
        await settle(pilot)
        assert app.asked[2:] == [Quote(first.text)]


async def test_the_arrow_down_leads_from_the_question_to_the_results_and_the_slash_back() -> None:
    app = stage(FakeSession(conversation(30)))
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "Question")
        await pilot.press("slash")
        assert app.query_one(Input).has_focus
        await pilot.press("down")
        assert app.query_one(RowList).has_focus


async def test_a_click_opens_a_result() -> None:
    app = stage(FakeSession(conversation(30)))
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "Question")
        await pilot.click(RowList, offset=(10, 4))
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        assert "Question 2:" in app.screen.query_one(Passage).text


@pytest.mark.parametrize("typed", ["{}", "id:{}", "  ID {}  "])
@pytest.mark.parametrize("id", [event_id(7), chunk_hash(7)])
async def test_an_id_opens_the_words_behind_it(typed: str, id: str) -> None:
    session = FakeSession(conversation(30))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, typed.format(id))
        assert isinstance(app.screen, SourceScreen)
        assert session.tape[6].text in app.screen.query_one(Passage).text
        assert not [call for call in session.calls if call[0] == "recall"]


async def test_an_unknown_id_is_a_sentence() -> None:
    app = stage(FakeSession(conversation(3)))
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "0123456789ab")
        assert "! Nothing on this tape has the id 0123456789ab." in shown(app)


async def test_nothing_found_says_where_else_to_look() -> None:
    app = stage(FakeSession(conversation(3)))
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "zebra")
        assert "Nothing found among what has left the model's sight." in shown(app)


@pytest.mark.parametrize("failure", [StoreUnavailable("The disk is gone. Plug it in again."), ValueError("odd")])
async def test_a_search_that_fails_is_a_sentence(failure: Exception) -> None:
    class Failing(FakeSession):
        async def recall(self, question: str) -> RecallResult:
            raise failure

    app = stage(Failing(conversation(3)))
    async with app.run_test(size=WIDE) as pilot:
        app.query_one(Input).value = "bed"
        app.query_one(Input).focus()
        await pilot.press("enter")
        await until(pilot, lambda: "Nothing was searched." in shown(app))
        assert str(failure).split(".")[0] in shown(app)


async def test_a_new_question_overtakes_one_that_is_still_searched() -> None:
    class Slow(FakeSession):
        gate = asyncio.Event()

        async def recall(self, question: str) -> RecallResult:
            if question == "slow":
                await self.gate.wait()
                return RecallResult("recency", 1, (found(1, "the slow answer"),))
            return await super().recall(question)

    session = Slow(conversation(30))
    session.recall_results["fast"] = RecallResult("recency", 1, (found(2, "the fast answer"),))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        app.query_one(Input).focus()
        app.query_one(Input).value = "slow"
        await pilot.press("enter")
        await pilot.pause()
        assert "Searching" in shown(app)
        await ask(pilot, "fast")
        session.gate.set()
        await settle(pilot)
        assert "the fast answer" in shown(app)
        assert "the slow answer" not in shown(app)


async def test_another_session_starts_with_a_clean_panel() -> None:
    app = stage(asking())
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "what is the budget?")
        app.query_one(RecallPanel).bind_session(FakeSession(conversation(3), id="another"))
        await settle(pilot)
        assert "greenhouse" not in shown(app)
        assert app.query_one(Input).value == ""


async def test_hostile_and_huge_results_are_text() -> None:
    huge = replace(found(1, HOSTILE + "y" * 1_000_000), speaker=HOSTILE, kind=HOSTILE)
    session = FakeSession([event(1, "user", huge.text)])
    session.recall_results["q"] = RecallResult(HOSTILE, 9, (huge,), HOSTILE)
    app = stage(session)
    async with app.run_test(size=NARROW) as pilot:
        await ask(pilot, "q")
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))
        rows = app.query_one(RowList)
        assert rows.virtual_size.height < 2 * SHOWN
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        assert is_safe(shown(app))


# what it looks like


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_picture_of_results(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """A warning, three hits with scores, and what stands beside one of them, muted and said so."""

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await ask(pilot, "what is the budget?")
        await pilot.press("down", "down")

    session = asking(budget("These vectors are another model's, so ranking is by keyword. Re-embed this session."))
    assert snap_compare(stage(session, theme), terminal_size=size, run_before=look)


def test_picture_before_the_first_question(snap_compare: SnapCompare) -> None:
    """An invitation, and nothing else."""
    assert snap_compare(stage(asking(), LIGHT), terminal_size=NARROW, run_before=settle)
