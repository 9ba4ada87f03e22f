"""The ledger tab, the records on a screen of their own, and the sources behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.segment import Segment
from textual.pilot import Pilot
from textual.widgets import TabbedContent

from memory.observations import observation
from screens.inspector import InspectorPanel
from screens.ledger_tab import RecordRow, ledger_rows, newest_of
from screens.ledger_words import status_lines
from screens.painting import text_of
from screens.passage import Passage
from screens.records_screen import RecordsScreen
from screens.row_list import RowList
from screens.source_screen import SourceScreen
from sessions.events import LedgerChanged
from sessions.observing.clocks import Gauge
from sessions.observing.status import LedgerStatus, Spent
from tests.screens.fakes import FakeSession, conversation
from tests.screens.memories import garden, noted
from tests.screens.stage import (
    DARK,
    HOSTILE,
    NARROW,
    TWO_LOOKS,
    WIDE,
    SnapCompare,
    Stage,
    is_safe,
    settle,
    shown,
)


def noting(ledger: LedgerStatus | None = None) -> FakeSession:
    session = FakeSession(conversation(20))
    session.fixed_snapshot = garden()
    session.scripted_ledger = ledger or noted()
    return session


def stage(session: FakeSession, theme: str = DARK) -> Stage:
    def make() -> InspectorPanel:
        panel = InspectorPanel()
        panel.bind_session(session)
        return panel

    return Stage(make, theme=theme)


async def turn_to_ledger(pilot: Pilot[None]) -> RowList:
    await settle(pilot)
    pilot.app.query_one(TabbedContent).active = "memory-ledger"
    await settle(pilot)
    rows = pilot.app.query_one("#memory-records", RowList)
    rows.focus()
    await settle(pilot)
    return rows


def rows_text(ledger: LedgerStatus, width: int) -> list[str]:
    return [text_of(line) for row in ledger_rows(ledger, 40) for line in row.lines(width)]


# rows


@pytest.mark.parametrize("width", [36, 98])
def test_clocks_and_watermarks_are_gauges_with_numbers(width: int) -> None:
    lines = {line.split()[0]: line for line in rows_text(noted(), width)[:7]}
    assert list(lines) == ["observer", "reflector", "compaction", "pool", "observed", "reflected", "dropped"]
    assert "4,000 of 10" in lines["observer"]
    assert lines["reflector"].rstrip().endswith("due")
    assert "no. 30 of 40" in lines["observed"]
    assert all("━" in lines[name] for name in ("observer", "reflector", "compaction", "observed"))


@pytest.mark.parametrize("width", [36, 98])
def test_records_stand_by_relevance_and_tell_what_is_behind_them(width: int) -> None:
    text = "\n".join(rows_text(noted(), width))
    places = [text.index(title) for title in ("Reflections", "Critical", "High", "Medium", "Dropped")]
    assert places == sorted(places)
    assert "\nLow" not in text
    for fact in ("2 supports", "1 source", "2 sources", "in view", "to come", "dropped", "2026-03-02 09:00"):
        assert fact in text


def test_a_worker_at_work_a_failure_and_being_passive_are_said() -> None:
    text = "\n".join(rows_text(noted(running="reflect", errors={"observe": "The key was refused."}), 98))
    assert "Workers: the reflector is at work." in text
    assert "! The observer failed: The key was refused." in text
    assert "Drift: 1 observation and 1 reflection to come, 1 dropped observation still in view." in text
    assert "Workers: passive: nothing is recorded on its own." in "\n".join(rows_text(noted(passive=True), 98))


@pytest.mark.parametrize("width", range(36, 130, 7))
def test_rows_fit_and_are_as_high_as_they_say(width: int) -> None:
    for row in ledger_rows(noted(errors={"drop": "It failed. " * 20}, compact=Gauge(9**9, 8**9)), 40):
        lines = row.lines(width)
        assert len(lines) == row.height(width)
        assert all(len(text_of(line)) <= width for line in lines)


def test_the_newest_event_is_that_of_x_else_of_the_bullets() -> None:
    memory = garden()
    assert newest_of(memory) == max(memory.bullets[-1].seqs[-1], 34)
    assert newest_of(replace(memory, bullets=())) == 34
    assert newest_of(replace(memory, bullets=(), recent=(), overflow=())) == 0


def test_every_line_of_the_status_has_its_name() -> None:
    lines = status_lines(noted(errors={"observe": "The key was refused."}))
    names = [line[:12].strip() for line in lines]
    assert names[:8] == ["ledger", "drift", "observer", "reflector", "compaction", "pool", "workers", "passive"]
    assert lines[8] == "observer!   The key was refused."
    assert "reflector   21,000 of 20,000 tokens, due" in lines
    spent = status_lines(noted(spent=Spent(3, 4_200, 310, 0.01)))
    assert "spent       3 requests, 4,200 tokens read and 310 written since it was opened" in spent


# the tab


async def test_the_tab_shows_the_ledger_and_follows_it() -> None:
    session = noting(noted(state=FakeSession().scripted_ledger.state, shown=()))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await turn_to_ledger(pilot)
        assert "The ledger holds nothing yet." in shown(app)
        session.scripted_ledger = noted()
        session.emit(LedgerChanged(observations=4))
        await settle(pilot)
        assert "The garden is planned around heavy clay." in shown(app)
        assert "The ledger holds nothing yet." not in shown(app)


async def test_the_ledger_is_not_read_while_its_tab_is_closed() -> None:
    class Counting(FakeSession):
        readings = 0

        async def ledger(self) -> LedgerStatus:
            self.readings += 1
            return await super().ledger()

    session = Counting(conversation(3))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        session.emit(LedgerChanged(observations=1))
        await settle(pilot)
        assert session.readings == 0


async def test_what_was_dropped_is_struck_through_and_says_so() -> None:
    app = stage(noting())
    async with app.run_test(size=WIDE) as pilot:
        rows = await turn_to_ledger(pilot)
        assert struck(rows) == {"Slugs were talked about."}
        await pilot.press("end")
        await settle(pilot)
        assert rows.current is not None
        # Under the cursor as well.
        assert struck(rows) == {"Slugs were talked about."}
        line = next(line for line in shown(app).splitlines() if "Slugs" in line)
        assert line.rstrip().endswith("dropped, in view still")


def struck(rows: RowList) -> set[str]:
    segments = [segment for y in range(rows.size.height) for segment in rows.render_line(y)]
    return {text for segment in segments if _is_struck(segment) and (text := segment.text.strip())}


def _is_struck(segment: Segment) -> bool:
    return segment.style is not None and bool(segment.style.strike)


async def test_enter_opens_the_sources_of_a_dropped_observation() -> None:
    session = noting()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await turn_to_ledger(pilot)
        await pilot.press("end", "enter")
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        words = app.screen.query_one(Passage).text
        assert "low, dropped, kept in full, 1 source" in words
        assert session.tape[6].text in words
        await pilot.press("i")
        await settle(pilot)
        assert len(app.asked) == 1


async def test_enter_opens_a_reflection_with_its_observations_and_their_words() -> None:
    session = noting()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        rows = await turn_to_ledger(pilot)
        await pilot.press("home")
        assert isinstance(rows.current, RecordRow)
        await pilot.press("enter")
        await settle(pilot)
        words = app.screen.query_one(Passage).text
        assert "rests on 2 observations" in words
        assert "The north side has heavy clay." in words
        assert "Slugs were talked about." in words
        for seq in (3, 4, 7):
            assert session.tape[seq - 1].text in words
        # The keys go past the three records to the first event.
        await pilot.press("n", "n", "n", "o")
        await settle(pilot)
        assert [getattr(asked, "seq", None) for asked in app.asked] == [3]


# the records on a screen of their own


async def test_full_and_diff_show_every_record_with_its_sign() -> None:
    for diff, expected in ((False, "1 reflection"), (True, "Drift: 1 observation and 1 reflection to come")):

        def make(diff: bool = diff) -> RecordsScreen:
            return RecordsScreen(noted(), diff=diff)

        app = Stage(screen=make)
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            assert expected in shown(app)
            text = app.screen.query_one(Passage).text
            assert "[critical] The budget stays below 400 euros." in text
            assert ("Slugs were talked about." in text) is diff
            signs = [line[:2] for line in text.splitlines() if line[2:3] == "["]
            assert signs == (["+ ", "  ", "  ", "+ ", "- "] if diff else [])
            await pilot.press("escape")
            await settle(pilot)
            assert app.closed_with == [None]


# text from outside


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_hostile_text_is_shown_as_text(size: tuple[int, int]) -> None:
    evil = observation(HOSTILE, timestamp="2026-03-02 09:00", relevance="high", sources=["gone"])
    state = replace(noted().state, observations={evil.id: evil}, dropped={}, reflections={})
    session = noting(noted(state=state, shown=(), errors={"observe": HOSTILE}, asleep=HOSTILE))
    app = stage(session)
    async with app.run_test(size=size) as pilot:
        await turn_to_ledger(pilot)
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        assert "[bold]x[/]" in shown(app)
        words = " ".join(app.screen.query_one(Passage).text.split())
        assert "Named as a source and not to be found: gone." in words
        assert is_safe(shown(app))


# what it looks like


@pytest.mark.parametrize(("size", "theme"), TWO_LOOKS)
def test_picture_of_the_ledger(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """Gauges, a failure, a conclusion, observations by relevance, and one that was dropped."""

    async def look(pilot: Pilot[None]) -> None:
        await turn_to_ledger(pilot)
        await pilot.press("down")

    ledger = noted(running="reflect", errors={"observe": "The server did not answer within 60 s."})
    assert snap_compare(stage(noting(ledger), theme), terminal_size=size, run_before=look)


@pytest.mark.parametrize(("size", "theme"), TWO_LOOKS)
def test_picture_of_the_difference(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """Every record with its sign, and what the signs come to."""
    app = Stage(screen=lambda: RecordsScreen(noted(), diff=True), theme=theme)

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)

    assert snap_compare(app, terminal_size=size, run_before=look)
