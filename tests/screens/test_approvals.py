"""Asking before something runs: what is shown, what counts as an answer, and what never does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from screens.approval_modal import ApprovalModal, revealed
from sessions.approvals import Approval
from sessions.events import ApprovalWanted
from tests.screens.chat_stage import chat_of, chatting, screen_text, settled, told, until
from tests.screens.fakes import FakeSession, Reply, conversation
from tests.screens.stage import HOSTILE, is_safe


def wanted(id: str = "q1", command: str = "git status --short", prefix: str = "git status") -> Approval:
    return Approval(id, "run_command", command, prefix, "/home/sam/garden")


def asks(pilot: Pilot[Any]) -> ApprovalModal | None:
    screen = pilot.app.screen
    return screen if isinstance(screen, ApprovalModal) else None


async def asked(pilot: Pilot[Any]) -> ApprovalModal:
    """The question, once an answer counts."""
    await until(pilot, lambda: (modal := asks(pilot)) is not None and modal.armed)
    modal = asks(pilot)
    assert modal is not None
    return modal


async def test_the_exact_command_its_folder_and_the_prefix_are_shown(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        assert session.can_ask
        answer = session.ask(wanted())
        await asked(pilot)
        shown = screen_text(pilot)
        assert "May run_command run this?" in shown
        assert "git status --short" in shown
        assert "in /home/sam/garden" in shown
        assert 'Always: "git status ..." runs here without a question.' in shown
        assert 'No: "git status ..." is not asked for again in this session.' in shown
        await pilot.press("y")
        await until(pilot, answer.done)
        assert session.decided == [("q1", "once")]
        await until(pilot, lambda: asks(pilot) is None)


async def test_a_is_always_and_n_and_escape_are_no(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        for number, key in enumerate(("a", "n", "escape")):
            session.ask(wanted(f"q{number}"))
            await asked(pilot)
            await pilot.press(key)
            await until(pilot, lambda: asks(pilot) is None)
        assert session.decided == [("q0", "always"), ("q1", "never"), ("q2", "never")]


async def test_enter_and_space_are_no_answer(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        answer = session.ask(wanted())
        await asked(pilot)
        await pilot.press("enter", "space", "tab", "enter")
        await settled(pilot)
        assert asks(pilot) is not None
        assert not answer.done()
        assert session.decided == []


async def test_what_was_being_typed_is_no_answer_and_is_not_lost(tmp_path: Path) -> None:
    """The person writes ``yay`` while the question appears in the middle of it."""
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("y")
        session.ask(wanted())
        await pilot.press(*"ay and n")
        await until(pilot, lambda: asks(pilot) is not None)
        await pilot.press(*"o more", "enter")
        await until(pilot, lambda: session.sent == ["yay and no more"])
        assert session.decided == []
        await asked(pilot)


async def test_several_questions_come_one_after_the_other(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        for number in range(3):
            session.ask(wanted(f"q{number}", f"make part{number}"))
        await asked(pilot)
        assert "(2 more questions after this one)" in screen_text(pilot)
        for key in "yny":
            modal = await asked(pilot)
            assert modal.approval.command in screen_text(pilot)
            await pilot.press(key)
            await until(pilot, lambda: asks(pilot) is not modal)  # noqa: B023
        assert session.decided == [("q0", "once"), ("q1", "never"), ("q2", "once")]
        await until(pilot, lambda: asks(pilot) is None)


async def test_a_key_that_is_held_down_answers_one_question_only(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.ask(wanted("q0"))
        session.ask(wanted("q1"))
        await asked(pilot)
        await pilot.press(*"yyyy")
        await settled(pilot)
        assert session.decided == [("q0", "once")]


async def test_a_question_that_is_taken_back_goes_away(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.ask(wanted())
        await asked(pilot)
        session.take_back("q1")
        await until(pilot, lambda: asks(pilot) is None)
        assert session.decided == []


async def test_without_a_prefix_there_is_no_always(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.ask(wanted(prefix=""))
        await asked(pilot)
        assert "Always" not in screen_text(pilot)
        assert "No: this command is not asked for again in this session." in screen_text(pilot)
        await pilot.press("a")
        await settled(pilot)
        assert session.decided == []


async def test_the_answers_are_in_sight_on_a_very_small_terminal(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path, size=(40, 12)) as pilot:
        session.ask(wanted(command="echo one two three\n" * 40))
        await asked(pilot)
        shown = screen_text(pilot)
        assert all(part in shown for part in ("echo one", "Once (y)", "Always (a)", "No (n)"))


async def test_the_mouse_answers_too(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.ask(wanted())
        await asked(pilot)
        await pilot.click("#never")
        await until(pilot, lambda: session.decided == [("q1", "never")])


async def test_a_session_behind_the_screen_says_that_it_waits_and_asks_once_it_is_shown(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), asyncio.Event()
    session.replies.append(Reply([held, ApprovalWanted(wanted()), "Done."]))
    other = FakeSession(conversation(1), id="0therf0r1111", title="Other", home=tmp_path)
    async with chatting(other, session, home=tmp_path) as pilot:
        chat = chat_of(pilot)
        assert chat.conversations is not None
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: session.busy)
        await chat.show(await chat.conversations.open("0therf0r1111"))
        held.set()
        await until(pilot, lambda: told(pilot))
        assert told(pilot) == ["Planning the garden waits for your word: F4 leads there."]
        assert asks(pilot) is None
        await chat.show(await chat.conversations.open(session.id))
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "Done." in screen_text(pilot))


async def test_stopping_the_turn_takes_its_question_back(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply([ApprovalWanted(wanted()), "Done."]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await asked(pilot)
        session.stop()
        await until(pilot, lambda: asks(pilot) is None)
        assert session.decided == []


async def test_a_hostile_command_is_shown_whole_and_safe(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.ask(Approval("q1", HOSTILE, f"{HOSTILE}\n{'x ' * 3_000}\nthe end", HOSTILE, HOSTILE))
        await asked(pilot)
        assert is_safe(screen_text(pilot))
        assert "\\u202e" in screen_text(pilot)
        await pilot.press("end")
        await until(pilot, lambda: "the end" in screen_text(pilot))


def test_what_is_not_seen_in_a_command_is_written_out() -> None:
    assert revealed("rm -rf\u00a0/tmp/\u200bx\u202e") == "rm -rf\\u00a0/tmp/\\u200bx\\u202e"
    assert revealed("ls -l\n\tß 家") == "ls -l\n\tß 家"
