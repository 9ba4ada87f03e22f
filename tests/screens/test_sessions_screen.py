"""The list of sessions: finding one, going on with it, and everything that can be done to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Button, Footer, Input, ProgressBar, Static

from memory.errors import EmbeddingUnavailable, OttoError, StoreUnavailable
from screens.ask_modal import AskModal
from screens.export_modal import ExportModal
from screens.fork_modal import ForkModal
from screens.painting import text_of
from screens.row_list import RowList
from screens.session_rows import SessionLine
from screens.sessions_screen import SessionsScreen
from screens.ticks import Choice, Tick
from tests.screens.fakes import NOW, FakeLibrary, FakeRow, FakeSession, conversation, event
from tests.screens.stage import (
    DARK,
    HOSTILE,
    LIGHT,
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

GARDEN, SEEDS, GLASS = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"


@dataclass
class ScriptedLibrary(FakeLibrary):
    """A library of which single calls can be made to fail or to wait."""

    failures: dict[str, OttoError | Exception] = field(default_factory=dict)
    gate: asyncio.Event | None = None

    async def rename(self, id: str, title: str) -> None:
        self._fail("rename")
        await super().rename(id, title)

    async def delete(self, id: str) -> None:
        self._fail("delete")
        await super().delete(id)

    async def import_file(self, path: Path) -> FakeRow:
        self._fail("import")
        return await super().import_file(path)

    async def export(self, id: str, path: Path, **options: object) -> Path:
        self.calls.append(("export with", options))
        self._fail("export")
        return await super().export(id, path)

    async def reembed(self, id: str, progress: Callable[[int, int], None]) -> None:
        self._fail("reembed")
        progress(3, 8)
        if self.gate is not None:
            await self.gate.wait()
        progress(8, 8)

    async def search(self, query: str) -> AsyncIterator[FakeRow]:
        async for row in super().search(query):
            yield row
            if self.gate is not None:
                await self.gate.wait()

    def _fail(self, call: str) -> None:
        if call in self.failures:
            raise self.failures.pop(call)


def library() -> ScriptedLibrary:
    garden = FakeSession(conversation(20), id=GARDEN, title="Planning the garden", workspace="/srv/garden")
    seeds = FakeSession(conversation(12), id=SEEDS, title="Seeds and catalogues", workspace="/srv/garden/seeds")
    glass = FakeSession([event(1, "user", "How thick is greenhouse glass?")], id=GLASS, title="Glass")
    glass.parent = GARDEN
    made = ScriptedLibrary()
    made.sessions = {session.id: session for session in (garden, seeds, glass)}
    return made


def stage(
    held: FakeLibrary,
    *,
    current: FakeSession | None = None,
    let_go: Callable[[str], Awaitable[None]] | None = None,
    folder: Path | None = None,
    theme: str = DARK,
) -> Stage:
    def make() -> SessionsScreen:
        return SessionsScreen(held, current=current, let_go=let_go, now=lambda: NOW, folder=folder)

    return Stage(screen=make, theme=theme)


def said_below(app: Stage) -> str:
    return str(app.screen.query_one("#sessions-message", Static).render())


async def search_for(pilot: Pilot[None], words: str) -> None:
    await pilot.press("slash")
    await type_in(pilot, words)


async def type_in(pilot: Pilot[None], words: str) -> None:
    """Until what was typed has been looked for."""
    screen = pilot.app.screen
    assert isinstance(screen, SessionsScreen)
    screen.query_one(Input).value = words
    await until(pilot, lambda: screen.searched_for == words)
    await settle(pilot)


# the list


async def test_it_lists_title_workspace_turns_and_last_use() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        text = shown(app)
        assert "Sessions: 3" in text
        assert all(name in text for name in ("Title", "Workspace", "Turns", "Used"))
        line = next(line for line in text.splitlines() if "Planning the garden" in line)
        assert "/srv/garden" in line
        assert line.split()[-3:] == ["20", "7", "d"]
        assert "fork" in next(line for line in text.splitlines() if line.strip().startswith("Glass"))


async def test_a_narrow_list_has_the_same_facts_on_two_lines() -> None:
    app = stage(library())
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        text = " ".join(shown(app).split())
        assert "Planning the garden 20 turns · /srv/garden 7 d" in text
        assert "Workspace" not in text


@pytest.mark.parametrize("width", [20, 38, 76, 98, 150])
def test_rows_fit_and_are_as_high_as_they_say(width: int) -> None:
    row = FakeRow(
        GARDEN, "A title " * 30, "/a/long/path" * 20, turns=1_204, parent=SEEDS, snippet="what was said " * 20
    )
    line = SessionLine(row, NOW, "/root", open_now=True)
    lines = line.lines(width)
    assert len(lines) == line.height(width)
    assert width < 38 or all(len(text_of(part)) <= width for part in lines)


async def test_the_home_folder_is_shown_short() -> None:
    row = FakeRow(GARDEN, "t", "/home/sam/garden")
    assert "~/garden" in text_of(SessionLine(row, NOW, "/home/sam").lines(100)[0])
    assert "~" not in text_of(SessionLine(row, NOW, "/home/sa").lines(100)[0])


async def test_five_thousand_sessions_cost_no_more_widgets_than_three() -> None:
    class Many(FakeLibrary):
        async def list(self, query: str = "") -> Sequence[FakeRow]:
            return [FakeRow(f"{n:012x}", f"Session number {n}", turns=n) for n in range(5_000)]

    few, many = stage(library()), stage(Many())
    async with few.run_test(size=WIDE) as pilot:
        await settle(pilot)
        widgets = len(list(few.screen.walk_children()))
    async with many.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert len(list(many.screen.walk_children())) == widgets
        await pilot.press("end")
        await settle(pilot)
        assert "Session number 4999" in shown(many)
        assert many.screen.query_one(RowList).drawn_rows < 100


async def test_no_sessions_is_said() -> None:
    app = stage(FakeLibrary())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "No sessions yet." in shown(app)
        await pilot.press("r", "d", "f", "e", "v", "enter")
        await settle(pilot)
        assert isinstance(app.screen, SessionsScreen)


async def test_a_list_that_cannot_be_read_and_damaged_files_are_sentences() -> None:
    held = library()
    held.next_failure = StoreUnavailable("The list cannot be read. Free some space.")
    held.notices = ["One session file is damaged: x.db."]
    app = stage(held)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        assert said_below(app) == "! The list cannot be read. Free some space."
        await pilot.press("u")
        await settle(pilot)
        await search_for(pilot, "garden")
        await until(pilot, lambda: "One session file is damaged" in shown(app))


# finding


async def test_search_finds_titles_and_what_was_said_with_the_words_around_it() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search_for(pilot, "glass")
        assert "Glass" in shown(app)
        assert "Seeds" not in shown(app)
        await search_for(pilot, "bed 12?")
        text = shown(app)
        assert "Sessions: 2 found" in text
        assert "“Question 12: what grows in bed 12?”" in text
        await search_for(pilot, "zebra")
        assert "Nothing found for “zebra”" in shown(app)


async def test_keys_after_the_slash_go_to_the_search_however_quickly_they_come() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for key, character in (("slash", "/"), ("d", "d"), ("slash", "/"), ("e", "e")):
            app.post_message(Key(key, character))
        await settle(pilot)
        assert app.screen.query_one(Input).value == "d/e"


async def test_hits_show_as_they_come_in() -> None:
    held = library()
    held.gate = asyncio.Event()
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"bed")
        await until(pilot, lambda: "1 found, searching on" in shown(app))
        held.gate.set()
        await settle(pilot)
        assert "Sessions: 2 found" in shown(app)


async def test_from_the_search_down_and_enter_go_to_the_list_and_escape_leads_back_step_by_step() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await search_for(pilot, "seeds")
        await pilot.press("down")
        assert app.screen.query_one(RowList).has_focus
        await pilot.press("slash", "enter")
        assert app.screen.query_one(RowList).has_focus
        await pilot.press("escape")
        await until(pilot, lambda: "Sessions: 3" in shown(app))
        assert app.closed_with == []
        await pilot.press("escape")
        await settle(pilot)
        assert app.closed_with == [None]


# going on


async def test_enter_goes_on_with_the_session_under_the_cursor() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert app.closed_with == [SEEDS]


async def test_one_click_chooses_and_a_second_goes_on() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.click(RowList, offset=(5, 1))
        await settle(pilot)
        assert app.closed_with == []
        await pilot.click(RowList, offset=(5, 1), times=2)
        await settle(pilot)
        assert app.closed_with == [SEEDS]


# changing


async def test_rename_asks_with_the_old_title_and_stays_open_while_it_is_refused() -> None:
    held = library()
    held.failures["rename"] = StoreUnavailable("The title has nothing to see. Type a letter.")
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert isinstance(app.screen, AskModal)
        assert app.screen.query_one(Input).value == "Planning the garden"
        app.screen.query_one(Input).value = "Next year's garden"
        await pilot.press("enter")
        await settle(pilot)
        assert "! The title has nothing to see." in shown(app)
        await pilot.press("enter")
        await settle(pilot)
        assert "Next year's garden" in shown(app)
        assert held.sessions[GARDEN].title == "Next year's garden"


async def test_the_session_that_is_open_is_renamed_by_itself() -> None:
    held = library()
    app = stage(held, current=held.sessions[GARDEN])
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "open now" in shown(app)
        await pilot.press("r")
        await settle(pilot)
        app.screen.query_one(Input).value = "Mine"
        await pilot.press("enter")
        await settle(pilot)
        assert ("rename", "Mine") in held.sessions[GARDEN].calls
        assert not [call for call in held.calls if call[0] == "rename"]


@pytest.mark.parametrize("by", ["key", "mouse"])
async def test_a_deleted_session_can_be_brought_back(by: str) -> None:
    held = library()
    released: list[str] = []

    async def let_go(id: str) -> None:
        released.append(id)

    app = stage(held, let_go=let_go)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("down", "d")
        await settle(pilot)
        assert "Seeds" not in shown(app).replace("Deleted “Seeds and catalogues”.", "")
        assert "Deleted “Seeds and catalogues”." in shown(app)
        assert released == [SEEDS]
        if by == "key":
            await pilot.press("u")
        else:
            await pilot.click("#sessions-undo")
        await settle(pilot)
        assert "Brought back “Seeds and catalogues”." in shown(app)
        assert SEEDS in held.sessions
        row = app.screen.query_one(RowList).current
        assert row is not None
        assert row.key == SEEDS


@pytest.mark.parametrize(("downs", "next_one"), [(0, SEEDS), (1, GLASS), (2, SEEDS)])
async def test_after_a_deletion_the_cursor_stands_on_the_neighbour(downs: int, next_one: str) -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press(*["down"] * downs, "d")
        await settle(pilot)
        row = app.screen.query_one(RowList).current
        assert row is not None
        assert row.key == next_one


async def test_nothing_to_bring_back_is_said() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("u")
        await settle(pilot)
        assert said_below(app) == "There is nothing to bring back."


async def test_the_open_session_and_one_that_is_busy_elsewhere_are_not_deleted() -> None:
    held = library()
    held.failures["delete"] = StoreUnavailable("Another Otto has it open. It was not deleted.")
    app = stage(held, current=held.sessions[GARDEN])
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await settle(pilot)
        assert said_below(app).startswith("! This session is open.")
        await pilot.press("down", "d")
        await settle(pilot)
        assert said_below(app) == "! Another Otto has it open. It was not deleted."
        assert len(held.sessions) == 3


async def test_what_goes_wrong_unforeseen_is_a_sentence_too() -> None:
    held = library()
    held.failures["delete"] = ValueError("odd")
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await until(pilot, lambda: "That failed: odd." in said_below(app))


async def test_a_fork_asks_after_which_turn() -> None:
    held = library()
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f")
        await settle(pilot)
        assert isinstance(app.screen, ForkModal)
        assert "Question 20: what grows in bed 20?" in shown(app)
        assert "Answer 20" not in shown(app)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert ("fork", (GARDEN, 37)) in held.calls
        assert "Made “Planning the garden (fork)”." in shown(app)
        row = app.screen.query_one(RowList).current
        assert isinstance(row, SessionLine)
        assert row.row.parent == GARDEN


async def test_all_turns_of_a_long_session_can_be_reached_for_a_fork() -> None:
    held = library()
    held.sessions[GARDEN].tape = conversation(550)
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f")
        for _ in range(8):
            await settle(pilot)
            await pilot.press("end")
        await settle(pilot)
        assert "Question 1: what grows in bed 1?" in shown(app)
        await pilot.click("#accept")
        await settle(pilot)
        assert ("fork", (GARDEN, 1)) in held.calls


async def test_a_fork_can_be_called_off() -> None:
    held = library()
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f")
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert not [call for call in held.calls if call[0] == "fork"]


# taking away and bringing in


@pytest.mark.parametrize(
    ("choose", "expected"),
    [
        ((), {"format": "json", "tape": False, "overwrite": False}),
        (("#markdown",), {"format": "markdown", "tape": False, "overwrite": False}),
        (("#tape", "#overwrite"), {"format": "json", "tape": True, "overwrite": True}),
    ],
)
async def test_export_asks_for_place_and_form(
    tmp_path: Path, choose: tuple[str, ...], expected: dict[str, object]
) -> None:
    held = library()
    app = stage(held, folder=tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("e")
        await settle(pilot)
        assert app.screen.query_one(Input).value == str(tmp_path)
        app.screen.query_one(Input).value = str(tmp_path / "garden.json")
        for control in choose:
            await pilot.click(control)
        await pilot.click("#accept")
        await settle(pilot)
        assert ("export with", expected) in held.calls
        assert said_below(app) == f"Exported to {tmp_path / 'garden.json'}."
        assert (tmp_path / "garden.json").exists()


async def test_an_export_that_is_refused_stays_open_under_its_sentence(tmp_path: Path) -> None:
    held = library()
    held.failures["export"] = StoreUnavailable("There is a file of this name. Choose another.")
    app = stage(held, folder=tmp_path)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await pilot.press("e")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, ExportModal)
        assert "! There is a file of this name." in " ".join(shown(app).split())


async def test_what_is_ticked_is_seen_without_colour() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("e")
        await settle(pilot)
        tape, markdown = app.screen.query_one("#tape", Tick), app.screen.query_one("#markdown", Choice)
        assert "X" not in str(tape.render())
        assert "●" not in str(markdown.render())
        await pilot.click("#tape")
        assert "X" in str(tape.render())
        await pilot.click("#markdown")
        assert "●" in str(markdown.render())
        assert tape.disabled


async def test_import_brings_in_a_session_and_goes_to_it(tmp_path: Path) -> None:
    held = library()
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("i")
        await settle(pilot)
        await pilot.press(*"/x/old.json", "enter")
        await settle(pilot)
        assert ("import", Path("/x/old.json")) in held.calls
        assert said_below(app) == "Imported “old”."
        row = app.screen.query_one(RowList).current
        assert isinstance(row, SessionLine)
        assert row.row.title == "old"


async def test_an_import_that_is_refused_says_where_and_keeps_the_path() -> None:
    held = library()
    held.failures["import"] = StoreUnavailable("bullets[3].hash_refs[0]: [bold]not a string.")
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("i")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "Type something first" in shown(app)
        await pilot.press(*"/x.json", "enter")
        await settle(pilot)
        assert "! bullets[3].hash_refs[0]: [bold]not a string." in shown(app)
        assert app.screen.query_one(Input).value == "/x.json"


# re-embedding


async def test_reembedding_shows_a_bar_with_numbers_and_says_when_it_is_done() -> None:
    held = library()
    held.gate = asyncio.Event()
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("v")
        await until(pilot, lambda: "3 of 8" in shown(app))
        bar = app.screen.query_one(ProgressBar)
        assert bar.region.width > 10
        assert bar.progress == 3
        await pilot.press("v")
        await pilot.pause()
        assert "already" in shown(app)
        held.gate.set()
        await settle(pilot)
        assert said_below(app) == "Re-embedded “Planning the garden”, 8 chunks."
        assert not bar.region


async def test_reembedding_without_a_model_is_a_sentence() -> None:
    held = library()
    held.failures["reembed"] = EmbeddingUnavailable("There is no embedding model here. Set OTTO_EMBEDDING_MODEL.")
    app = stage(held)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("v")
        await settle(pilot)
        assert said_below(app).startswith("! There is no embedding model here.")
        assert not app.screen.query_one(ProgressBar).region


async def test_the_open_session_is_reembedded_by_itself() -> None:
    held = library()
    app = stage(held, current=held.sessions[GARDEN])
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("v")
        await settle(pilot)
        assert said_below(app) == "Re-embedded “Planning the garden”, 4 chunks."
        assert not [call for call in held.calls if call[0] == "reembed"]


# everything by mouse


async def test_every_action_of_the_footer_can_be_clicked() -> None:
    app = stage(library())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for word, modal in (("Rename", AskModal), ("Fork", ForkModal), ("Export", ExportModal), ("Import", AskModal)):
            key = next(key for key in app.screen.query_one(Footer).children if word in str(key.render()))
            await pilot.click(key)
            await settle(pilot)
            assert isinstance(app.screen, modal)
            cancel = app.screen.query_one("#cancel", Button)
            await pilot.click(cancel)
            await settle(pilot)


# text from outside


@pytest.mark.parametrize("size", [NARROW, (80, 24), WIDE])
async def test_hostile_titles_and_texts_are_text(size: tuple[int, int]) -> None:
    huge = HOSTILE + "z" * 1_000_000
    hostile = FakeSession([event(1, "user", huge)], id=GARDEN, title=huge, workspace=huge)
    held = FakeLibrary.of(hostile)
    app = stage(held)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))
        for key in ("r", "f", "e"):
            await pilot.press(key)
            await settle(pilot)
            assert is_safe(shown(app))
            await pilot.press("escape")
            await settle(pilot)
        await search_for(pilot, "go[/]")
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))
        await pilot.press("escape", "d")
        await settle(pilot)
        assert "Deleted" in shown(app)
        assert is_safe(shown(app))


# what it looks like


def many() -> ScriptedLibrary:
    held = library()
    for number, title in enumerate(
        ("Taxes", "A letter to the landlord about the boiler, third version", "شتلات الطماطم")
    ):
        id = f"{number:012x}"
        held.sessions[id] = FakeSession(conversation(3 + 40 * number), id=id, title=title, workspace="/srv/papers")
    return held


def keys(*pressed: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def press(pilot: Pilot[None]) -> None:
        await settle(pilot)
        for key in pressed:
            await pilot.press(key)
            await settle(pilot)

    return press


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_picture_of_the_list(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """Columns on a wide terminal, two lines a session on a narrow one; the open one and a fork are marked in words."""
    held = many()
    app = stage(held, current=held.sessions[GARDEN], theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=keys("down", "down"))


@pytest.mark.parametrize(("size", "theme"), TWO_LOOKS)
def test_picture_of_hits(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """What was said stands under the session that it was said in."""

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await search_for(pilot, "bed 12?")

    assert snap_compare(stage(many(), theme=theme), terminal_size=size, run_before=look)


@pytest.mark.parametrize(("key", "theme"), [("r", LIGHT), ("f", DARK), ("e", LIGHT), ("i", DARK)])
@pytest.mark.parametrize("size", [pytest.param((40, 30), id="narrow"), pytest.param((80, 24), id="80x24")])
def test_picture_of_a_question(snap_compare: SnapCompare, key: str, theme: str, size: tuple[int, int]) -> None:
    """Rename, fork, export and import."""
    app = stage(many(), folder=Path("/home/sam/exports"), theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=keys(key))


def test_picture_of_a_deleted_session(snap_compare: SnapCompare) -> None:
    """What was done, and the button that undoes it."""
    assert snap_compare(stage(many()), terminal_size=(80, 24), run_before=keys("down", "d"))


def test_picture_of_reembedding(snap_compare: SnapCompare) -> None:
    """A bar with the numbers beside it."""
    held = many()
    held.gate = asyncio.Event()

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("v")
        await until(pilot, lambda: "3 of 8" in shown(pilot.app))

    assert snap_compare(stage(held), terminal_size=(80, 24), run_before=look)
