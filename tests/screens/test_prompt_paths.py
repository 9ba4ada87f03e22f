"""``@path`` in the prompt: what is offered, what takes it, and that no key is ever lost to it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from screens.attached import half_typed
from screens.path_list import MOST_SHOWN, PathList
from screens.prompt_box import HINT_PATHS
from tests.screens.chat_stage import chat_of, chatting, screen_text, until
from tests.screens.fakes import FakeSession
from tests.screens.stage import HOSTILE, is_safe

PATHS = ["README.md", "notes/", "notes/beds.txt", "a b.txt"]


def garden(home: Path, paths: list[str] | None = None) -> FakeSession:
    """A session whose folder is real and has these files."""
    session = FakeSession(home=home, workspace=str(home))
    session.scripted_paths = PATHS if paths is None else paths
    for path in session.scripted_paths:
        if paths is None and not path.endswith("/"):
            (home / path).parent.mkdir(exist_ok=True)
            (home / path).write_text("beans")
    return session


def offered(pilot: Pilot[Any]) -> list[str]:
    offer = chat_of(pilot).query_one(PathList).offer
    return list(offer.paths) if offer is not None else []


async def test_paths_are_offered_and_tab_takes_one(tmp_path: Path) -> None:
    session = garden(tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"see @REA")
        await until(pilot, lambda: offered(pilot) == ["README.md"])
        assert "README.md" in screen_text(pilot)
        assert HINT_PATHS in screen_text(pilot)
        await pilot.press("tab")
        assert chat_of(pilot).prompt.text == "see @README.md "
        await until(pilot, lambda: not offered(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: session.sent == ["see @README.md "])
        assert session.attached == [(Path("README.md"),)]


async def test_down_chooses_enter_takes_and_a_folder_is_gone_on_with(tmp_path: Path) -> None:
    session = garden(tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"@")
        await until(pilot, lambda: offered(pilot) == PATHS)
        await pilot.press("down", "enter")
        assert chat_of(pilot).prompt.text == "@notes/"
        await until(pilot, lambda: offered(pilot) == ["notes/", "notes/beds.txt"])
        await pilot.press("up", "tab")
        assert chat_of(pilot).prompt.text == "@notes/beds.txt "
        assert session.sent == []


async def test_a_path_with_spaces_is_quoted(tmp_path: Path) -> None:
    session = garden(tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"@a")
        await until(pilot, lambda: offered(pilot) == ["a b.txt"])
        await pilot.press("enter")
        assert chat_of(pilot).prompt.text == '@"a b.txt" '
        await pilot.press("enter")
        await until(pilot, lambda: session.attached == [(Path("a b.txt"),)])


async def test_escape_closes_the_offer_and_nothing_else(tmp_path: Path) -> None:
    session = garden(tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"@RE")
        await until(pilot, lambda: offered(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: not offered(pilot))
        assert ("stop", None) not in session.calls
        await pilot.press(*"AD")
        await pilot.pause()
        assert offered(pilot) == []
        await pilot.press(*"ME.md and @no")
        await until(pilot, lambda: offered(pilot) == ["notes/", "notes/beds.txt"])


async def test_a_path_that_is_whole_is_sent_by_enter(tmp_path: Path) -> None:
    session = garden(tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"@README.md")
        await until(pilot, lambda: offered(pilot) == ["README.md"])
        await pilot.press("enter")
        await until(pilot, lambda: session.sent == ["@README.md"])


async def test_keys_never_wait_for_the_disk_and_none_is_lost(tmp_path: Path) -> None:
    session, slow = garden(tmp_path), threading.Event()
    found = session.complete_path

    def complete(prefix: str) -> list[str]:
        slow.wait(60)
        return found(prefix)

    session.complete_path = complete  # type: ignore[method-assign]
    async with chatting(session, home=tmp_path) as pilot:
        try:
            await pilot.press(*"look at @READ", "tab")
            assert chat_of(pilot).prompt.has_focus
            await pilot.press(*"ME")
            assert chat_of(pilot).prompt.text == "look at @README"
            assert offered(pilot) == []
        finally:
            slow.set()
        # Tab was pressed, and takes what is found for all that was typed.
        await until(pilot, lambda: chat_of(pilot).prompt.text == "look at @README.md ")
        await pilot.press(*"please", "enter")
        await until(pilot, lambda: session.sent == ["look at @README.md please"])


async def test_a_click_takes_a_path(tmp_path: Path) -> None:
    async with chatting(garden(tmp_path), home=tmp_path) as pilot:
        await pilot.press(*"@")
        await until(pilot, lambda: offered(pilot) == PATHS)
        await pilot.pause()
        await pilot.click(PathList, offset=(4, 0))
        await until(pilot, lambda: chat_of(pilot).prompt.text == "@README.md ")
        assert chat_of(pilot).prompt.has_focus


async def test_a_long_list_keeps_what_is_chosen_in_sight(tmp_path: Path) -> None:
    session = garden(tmp_path, [f"bed{number:02}.txt" for number in range(20)])
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"@bed")
        await until(pilot, lambda: len(offered(pilot)) == 20)
        await pilot.pause()
        assert "bed00.txt" in screen_text(pilot)
        assert chat_of(pilot).query_one(PathList).size.height == MOST_SHOWN
        await pilot.press("up")
        await until(pilot, lambda: "▸ bed19.txt" in screen_text(pilot))


async def test_a_path_that_leads_nowhere_keeps_the_prompt_and_says_why(tmp_path: Path) -> None:
    session = garden(tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"see @./gone.txt", "enter")
        await until(pilot, lambda: "There is no file ./gone.txt to attach, so nothing was sent." in screen_text(pilot))
        assert chat_of(pilot).prompt.text == "see @./gone.txt"
        assert session.sent == []


async def test_names_of_people_and_addresses_are_sent_as_they_are(tmp_path: Path) -> None:
    session = garden(tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"ask @sam or sam@example.org", "enter")
        await until(pilot, lambda: session.sent == ["ask @sam or sam@example.org"])
        assert session.attached == []


async def test_a_hostile_file_name_is_shown_safely(tmp_path: Path) -> None:
    session = garden(tmp_path, [f"x{HOSTILE}"])
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"@x")
        await until(pilot, lambda: offered(pilot))
        await pilot.pause()
        assert "[bold]x[/]" in screen_text(pilot)
        assert is_safe(screen_text(pilot))


def test_what_is_half_typed() -> None:
    assert half_typed("see @src/a") == "src/a"
    assert half_typed("@") == ""
    assert half_typed('read @"my fi') == '"my fi'
    assert half_typed("sam@example.org") is None
    assert half_typed("@done and") is None
    assert half_typed('@"done.txt" ') is None
