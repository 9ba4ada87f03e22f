"""Help: every key that is bound, every command, and the words of the memory."""

from __future__ import annotations

from typing import ClassVar

import pytest
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Footer

from screens.confirm_modal import ConfirmModal
from screens.help_screen import WORDS, HelpScreen, parts_with_keys
from screens.key_table import EVERYWHERE, key_groups
from screens.passage import Passage
from screens.recall_panel import RecallPanel
from screens.sessions_screen import SessionsScreen
from tests.screens.fakes import FakeLibrary
from tests.screens.stage import HOSTILE, LOOKS, NARROW, WIDE, SnapCompare, Stage, is_safe, settle, shown

COMMANDS = (
    ("/compact", "Turn older turns into bullets now."),
    ("/a-rather-long-name ARGUMENT", "Has its explanation on the next line."),
)


class Garden(Widget):
    """A part with keys of its own."""

    BINDING_GROUP_TITLE = "Garden"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w,ctrl+w", "water", "Water"),
        Binding("x", "secret", "", show=False),
        Binding("z", "dig", "Dig", tooltip="Dig until it is dark"),
    ]

    def compose(self) -> ComposeResult:
        yield Footer()


def help_text(app: Stage) -> str:
    return app.screen.query_one(Passage).text


async def test_help_has_every_key_of_what_is_open_and_of_every_part() -> None:
    app = Stage(Garden)
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(HelpScreen(commands=COMMANDS))
        await settle(pilot)
        text = help_text(app)
        assert "w ^w          Water" in text
        assert "z             Dig until it is dark" in text
        for part in parts_with_keys():
            for keys in part._merge_bindings().key_to_bindings.values():
                for binding in keys:
                    if binding.description and not binding.system:
                        assert (binding.tooltip or binding.description) in text


async def test_a_key_that_the_person_has_remapped_is_the_one_that_is_shown() -> None:
    class Remapped(Garden):
        BINDINGS: ClassVar[list[BindingType]] = [Binding("w", "water", "Water the beds", id="garden.water")]

    app = Stage(Remapped)
    async with app.run_test(size=WIDE) as pilot:
        app.set_keymap({"garden.water": "ctrl+y"})
        app.push_screen(HelpScreen())
        await settle(pilot)
        line = next(line for line in help_text(app).splitlines() if "Water the beds" in line)
        assert line.split()[0] == "^y"


async def test_every_command_and_every_word_is_explained() -> None:
    app = Stage(Garden)
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(HelpScreen(commands=COMMANDS))
        await settle(pilot)
        text = " ".join(help_text(app).split())
        for name, what in (*COMMANDS, *WORDS):
            assert name in text
            assert what in text


@pytest.mark.parametrize("key", ["escape", "q", "f1"])
async def test_it_closes_with_a_key(key: str) -> None:
    app = Stage(Garden)
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(HelpScreen())
        await settle(pilot)
        await pilot.press(key)
        await settle(pilot)
        assert not isinstance(app.screen, HelpScreen)


async def test_it_closes_with_the_mouse() -> None:
    app = Stage(Garden)
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(HelpScreen())
        await settle(pilot)
        footer = app.screen.query_one(Footer)
        close = next(key for key in footer.children if "Close" in str(key.render()))
        await pilot.click(close)
        await settle(pilot)
        assert not isinstance(app.screen, HelpScreen)


async def test_help_over_the_session_list_tells_its_keys_first() -> None:
    app = Stage(screen=lambda: SessionsScreen(FakeLibrary()))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.push_screen(HelpScreen())
        await settle(pilot)
        headings = [block.text for block in app.screen.query_one(Passage).blocks if block.heading]
        assert headings[0] == "Sessions"
        assert headings.count("Sessions") == 1
        assert EVERYWHERE in headings


def test_parts_without_keys_and_without_words_make_no_group() -> None:
    groups = key_groups((), (RecallPanel,), lambda binding: binding.key)
    assert [group.title for group in groups] == ["Recall", EVERYWHERE]
    assert all(what for group in groups for _, what in group.keys)


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_picture_of_help(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    """Keys by part, each with what it does."""

    async def look(pilot: Pilot[None]) -> None:
        pilot.app.push_screen(HelpScreen(commands=COMMANDS, also=(SessionsScreen,)))
        await settle(pilot)

    assert snap_compare(Stage(Garden, theme=theme), terminal_size=size, run_before=look)


def test_picture_of_the_words(snap_compare: SnapCompare) -> None:
    """The end of help: commands, and what X, Y, bullets and protection are."""

    async def look(pilot: Pilot[None]) -> None:
        pilot.app.push_screen(HelpScreen(commands=COMMANDS, also=(SessionsScreen,)))
        await settle(pilot)
        await pilot.press("end")

    assert snap_compare(Stage(Garden), terminal_size=WIDE, run_before=look)


def test_picture_of_a_confirmation(snap_compare: SnapCompare) -> None:
    """A question, what follows from it, and no with the focus."""
    modal = ConfirmModal("Leave while a reply is coming in?", detail="What has come so far is kept.")
    assert snap_compare(Stage(screen=lambda: modal), terminal_size=(60, 14), run_before=settle)


async def test_hostile_command_texts_are_text() -> None:
    app = Stage(Garden)
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(HelpScreen(commands=((HOSTILE, HOSTILE),)))
        await settle(pilot)
        await pilot.press("n", "n", "n", "n", "n", "n", "n", "n")
        await settle(pilot)
        assert "[bold]x[/]" in help_text(app)
        assert is_safe(shown(app))


@pytest.mark.parametrize(("keys", "answer"), [("y", True), ("n", False), ("escape", False), ("enter", False)])
async def test_a_confirmation_is_answered_by_key_and_no_is_the_safe_answer(keys: str, answer: bool) -> None:
    app = Stage(screen=lambda: ConfirmModal("Leave now? [bold]", detail=HOSTILE, yes="[red]Yes", no="[/]No"))
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        assert is_safe(shown(app))
        await pilot.press(keys)
        await settle(pilot)
        assert app.closed_with == [answer]


async def test_a_confirmation_is_answered_by_mouse() -> None:
    app = Stage(screen=lambda: ConfirmModal("Leave now?"))
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await pilot.click("#yes")
        await settle(pilot)
        assert app.closed_with == [True]
