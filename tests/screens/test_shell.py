"""``!command`` in the prompt: how it looks, what runs, what it prints, and how it stops."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memory.errors import OttoError
from screens.prompt_box import HINT_SHELL
from screens.tool_block import SHELL_LINES, ToolLine
from tests.screens.chat_stage import chat_of, chatting, screen_text, settled, told, until
from tests.screens.fakes import FakeSession, Reply, conversation


async def test_an_exclamation_mark_makes_the_prompt_a_shells(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        await pilot.press(*"!ls")
        await until(pilot, lambda: HINT_SHELL in screen_text(pilot))
        assert "shell" in screen_text(pilot).replace(HINT_SHELL, "")
        await pilot.press("home", "delete")
        await until(pilot, lambda: HINT_SHELL not in screen_text(pilot))
        assert not chat_of(pilot).prompt.has_class("-shell")


async def test_enter_runs_it_and_what_it_prints_stands_open_without_a_turn(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.shell_prints.append(("beds.txt\nnotes.txt\n", 0))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"!ls -a", "enter")
        await until(pilot, lambda: "beds.txt" in screen_text(pilot))
        assert "▾ $ ls -a" in screen_text(pilot)
        assert ("run_shell", "ls -a") in session.calls
        assert session.sent == []
        chat_of(pilot).query(ToolLine).first().focus()
        await pilot.press("enter")
        await until(pilot, lambda: "beds.txt" not in screen_text(pilot))
        chat_of(pilot).prompt.focus()
        await pilot.press("up")
        assert chat_of(pilot).prompt.text == "!ls -a"


async def test_a_long_output_shows_its_beginning(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.shell_prints.append(("".join(f"line {number}\n" for number in range(500)), 0))
    async with chatting(session, home=tmp_path, size=(80, 50)) as pilot:
        await pilot.press(*"!seq", "enter")
        await until(pilot, lambda: f"... {500 - SHELL_LINES} more lines" in screen_text(pilot))
        assert f"line {SHELL_LINES - 1}" in screen_text(pilot)


async def test_a_command_that_fails_says_so(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.shell_prints.append(("no such bed\n", 2))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"!dig", "enter")
        await until(pilot, lambda: "no such bed" in screen_text(pilot))
        assert "exit 2 · 12 chars" in screen_text(pilot)


async def test_it_shows_while_it_runs_and_escape_stops_it(tmp_path: Path) -> None:
    session = FakeSession(conversation(2), home=tmp_path)
    session.shell_gate = asyncio.Event()
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"!sleep 99", "enter")
        await until(pilot, lambda: "▸ $ sleep 99" in screen_text(pilot))
        assert "running …" in screen_text(pilot)
        assert "$ sleep 99, esc stops" in screen_text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "Stopped by the person." in screen_text(pilot))
        assert "running …" not in screen_text(pilot)


async def test_a_prompt_behind_a_command_goes_when_it_has_ended_even_badly(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.shell_gate = asyncio.Event()
    session.shell_prints.append(("1 failed\n", 1))
    session.replies.append(Reply(["I see."]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"!pytest", "enter")
        await until(pilot, lambda: "running …" in screen_text(pilot))
        await pilot.press(*"fix it", "enter")
        await until(pilot, lambda: "queued" in screen_text(pilot))
        session.shell_gate.set()
        await until(pilot, lambda: "I see." in screen_text(pilot))
        await settled(pilot)
        shown = screen_text(pilot)
        assert shown.index("1 failed") < shown.index("fix it") < shown.index("I see.")


async def test_a_command_during_a_reply_waits_for_its_end(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), asyncio.Event()
    session.replies.append(Reply(["one", held]))
    session.shell_prints.append(("beds\n", 0))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "one" in screen_text(pilot))
        await pilot.press(*"!ls", "enter")
        await until(pilot, lambda: "queued, press to take back: !ls" in screen_text(pilot))
        held.set()
        await until(pilot, lambda: "beds" in screen_text(pilot))


async def test_a_command_that_cannot_run_comes_back_with_the_reason(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.next_failure = OttoError("There is no shell on this machine.")
        await pilot.press(*"!ls", "enter")
        await until(pilot, lambda: "There is no shell on this machine." in screen_text(pilot))
        assert chat_of(pilot).prompt.text == "!ls"


async def test_the_mark_alone_runs_nothing(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"! ", "enter")
        await until(pilot, lambda: told(pilot))
        assert "Type a command after the !" in told(pilot)[-1]
        assert chat_of(pilot).prompt.text == "! "
        assert session.calls == [call for call in session.calls if call[0] == "transcript"]


async def test_a_space_before_it_sends_it_to_the_model(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("space", *"!important", "enter")
        await until(pilot, lambda: session.sent == [" !important"])


async def test_looking_at_another_session_leaves_the_command_running(tmp_path: Path) -> None:
    session = FakeSession(conversation(2), home=tmp_path)
    session.shell_gate = asyncio.Event()
    session.shell_prints.append(("slept\n", 0))
    other = FakeSession(conversation(1), id="0therf0r1111", title="Other", home=tmp_path)
    async with chatting(other, session, home=tmp_path) as pilot:
        chat = chat_of(pilot)
        assert chat.conversations is not None
        await pilot.press(*"!sleep 9", "enter")
        await until(pilot, lambda: "running …" in screen_text(pilot))
        await chat.show(await chat.conversations.open("0therf0r1111"))
        await settled(pilot)
        assert "sleep 9" not in screen_text(pilot)
        await chat.show(await chat.conversations.open(session.id))
        await until(pilot, lambda: "running …" in screen_text(pilot))
        session.shell_gate.set()
        await until(pilot, lambda: "slept" in screen_text(pilot))
        assert "running …" not in screen_text(pilot)
