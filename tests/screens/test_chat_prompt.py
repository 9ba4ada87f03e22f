"""The prompt: what sends, what makes a line, what a paste becomes, and how earlier prompts come back."""

from __future__ import annotations

import json
from pathlib import Path

from textual.events import Paste

from screens.history import FILE_NAME
from screens.prompt_box import HINT, HINT_CHIP
from tests.screens.chat_stage import chat_of, chatting, screen_text, told, until
from tests.screens.fakes import FakeSession, Reply


async def test_newline_keys_make_a_line_and_do_not_send(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("a", "ctrl+j", "b", "alt+enter", "c", "shift+enter", "d")
        assert chat_of(pilot).prompt.text == "a\nb\nc\nd"
        assert session.sent == []


async def test_a_backslash_before_enter_makes_a_line(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("a", "backslash", "enter", "b")
        assert chat_of(pilot).prompt.text == "a\nb"
        await pilot.press("enter")
        await until(pilot, lambda: session.sent == ["a\nb"])


async def test_the_line_under_the_prompt_says_which_keys(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        assert HINT in screen_text(pilot)
        assert "ctrl+j" in HINT


async def test_blank_prompts_are_not_sent(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("enter", "space", "enter", "ctrl+j", "enter")
        await pilot.pause()
        assert session.sent == []


async def test_the_prompt_grows_to_ten_lines_and_no_further(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        assert prompt.size.height == 1
        await pilot.press(*["ctrl+j"] * 4)
        await until(pilot, lambda: prompt.size.height == 5)
        await pilot.press(*["ctrl+j"] * 20)
        await until(pilot, lambda: prompt.size.height == 10)
        assert chat_of(pilot).transcript.size.height >= 5


async def test_a_paste_with_newlines_never_sends(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        chat_of(pilot).prompt.post_message(Paste("one\r\ntwo\rthree\n"))
        await until(pilot, lambda: chat_of(pilot).prompt.text == "one\ntwo\nthree\n")
        assert session.sent == []


async def test_a_large_paste_is_a_chip_and_is_sent_whole(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    text = "".join(f"{number}\tвход 入力 {'x' * 40}\n" for number in range(20_000))
    assert len(text.encode()) > 1_000_000
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"see ")
        chat_of(pilot).prompt.post_message(Paste(text))
        await until(pilot, lambda: chat_of(pilot).prompt.text == "see [Pasted #1: 20,000 lines]")
        await pilot.press(*" ok", "enter")
        await until(pilot, lambda: session.sent)
        assert session.sent == [f"see {text} ok"]


async def test_two_pastes_have_two_numbers(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        prompt.post_message(Paste("a\n" * 50))
        prompt.post_message(Paste("b" * 5_000))
        await until(pilot, lambda: prompt.text == "[Pasted #1: 50 lines][Pasted #2: 5,000 characters]")
        await pilot.press("enter")
        await until(pilot, lambda: session.sent == ["a\n" * 50 + "b" * 5_000])


async def test_tab_on_a_chip_expands_it(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        prompt.post_message(Paste("a\n" * 50))
        await until(pilot, lambda: HINT_CHIP in screen_text(pilot))
        await pilot.press("tab")
        assert prompt.text == "a\n" * 50
        assert prompt.has_focus


async def test_backspace_takes_the_whole_chip_and_undo_brings_it_back(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        prompt.post_message(Paste("a\n" * 50))
        await until(pilot, lambda: prompt.text != "")
        await pilot.press("backspace")
        assert prompt.text == ""
        await pilot.press("ctrl+z", "enter")
        await until(pilot, lambda: session.sent == ["a\n" * 50])


async def test_a_paste_with_terminal_commands_is_never_drawn_and_is_sent_as_it_is(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        prompt.post_message(Paste("a\x9b2J\x1b]0;x\x07b"))
        await until(pilot, lambda: prompt.text == "[Pasted #1: 11 characters]")
        await pilot.press("tab")
        assert prompt.text == "[Pasted #1: 11 characters]"
        await pilot.press("enter")
        await until(pilot, lambda: session.sent == ["a\x9b2J\x1b]0;x\x07b"])


async def test_a_chip_that_was_typed_by_hand_is_just_text(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        chat_of(pilot).prompt.post_message(Paste("[Pasted #1: 50 lines]"))
        await until(pilot, lambda: chat_of(pilot).prompt.text != "")
        await pilot.press("enter")
        await until(pilot, lambda: session.sent == ["[Pasted #1: 50 lines]"])


async def test_up_and_down_walk_through_what_was_sent(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        for word in ("one", "two"):
            await pilot.press(*word, "enter")
            await until(pilot, lambda word=word: word in session.sent and not session.busy)  # type: ignore[misc]
        await pilot.press(*"half", "up")
        assert prompt.text == "two"
        await pilot.press("up")
        assert prompt.text == "one"
        await pilot.press("up")
        assert prompt.text == "one"
        await pilot.press("down", "down")
        assert prompt.text == "half"


async def test_up_inside_a_prompt_of_several_lines_moves_the_cursor_first(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        await pilot.press(*"sent", "enter")
        await until(pilot, lambda: session.sent)
        await pilot.press("a", "ctrl+j", "b", "up")
        assert prompt.text == "a\nb"
        await pilot.press("up")
        assert prompt.text == "sent"


async def test_up_in_a_wrapped_line_moves_the_cursor_first(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        await pilot.press(*"sent", "enter")
        await until(pilot, lambda: session.sent)
        prompt.post_message(Paste("word " * 40))
        await until(pilot, lambda: prompt.size.height > 2)
        await pilot.press("up")
        assert prompt.text == "word " * 40


async def test_prompts_are_remembered_across_runs_in_a_private_file(tmp_path: Path) -> None:
    first = FakeSession(home=tmp_path)
    async with chatting(first, home=tmp_path) as pilot:
        await pilot.press(*"remember me", "enter")
        await until(pilot, lambda: (tmp_path / FILE_NAME).exists())
    assert json.loads((tmp_path / FILE_NAME).read_text())["text"] == "remember me"
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        await pilot.press("up")
        assert chat_of(pilot).prompt.text == "remember me"


async def test_a_history_that_cannot_be_read_is_said_and_nothing_else_suffers(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await until(pilot, lambda: any("history of prompts cannot be read" in said for said in told(pilot)))
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: session.sent == ["hello"])


async def test_ctrl_c_clears_then_asks_and_the_words_come_back(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        prompt = chat_of(pilot).prompt
        await pilot.press(*"precious", "ctrl+c")
        assert prompt.text == ""
        await pilot.press("up")
        assert prompt.text == "precious"
        await pilot.press("ctrl+c", "ctrl+c")
        await until(pilot, lambda: any("Press ctrl+c again to quit" in said for said in told(pilot)))
        assert pilot.app.is_running
        await pilot.press("ctrl+c")
        await until(pilot, lambda: session.closed)


async def test_ctrl_c_stops_a_reply_before_it_clears_anything(tmp_path: Path) -> None:
    import asyncio

    session = FakeSession(home=tmp_path)
    session.replies.append(Reply(["half", asyncio.Event()]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "half" in screen_text(pilot))
        await pilot.press(*"next", "ctrl+c")
        await until(pilot, lambda: "stopped here" in screen_text(pilot))
        assert chat_of(pilot).prompt.text == "next"


async def test_ctrl_c_copies_what_is_selected(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        await pilot.press(*"words", "shift+left", "shift+left", "ctrl+c")
        await pilot.pause()
        assert pilot.app.clipboard == "ds"
        assert chat_of(pilot).prompt.text == "words"


async def test_what_is_typed_while_the_transcript_has_the_focus_goes_to_the_prompt(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        chat = chat_of(pilot)
        chat.transcript.focus()
        await pilot.press(*"hi")
        assert chat.prompt.text == "hi"
        assert chat.prompt.has_focus
