"""The transcript: a window over a long tape that keeps its place, follows its end and costs the same at any length."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.events import MouseScrollUp
from textual.widget import Widget

from screens.blocks import SaidBlock
from screens.event_blocks import Block
from screens.reply_block import Code, ReplyBlock
from screens.reply_markdown import ReplyMarkdown
from screens.transcript import Transcript
from screens.transcript_window import FIRST, MOST, PAGE
from tests.screens.chat_stage import chat_of, chatting, screen_text, settled, until
from tests.screens.fakes import FakeSession, Reply, conversation, event


def seqs(transcript: Transcript) -> list[int]:
    return [child.seq for child in transcript.children if isinstance(child, Block) and child.seq is not None]


def top_seq(transcript: Transcript) -> int:
    """The event at the top of what is in sight."""
    top = transcript.scroll_y
    return next(
        child.seq
        for child in transcript.children
        if isinstance(child, Block) and child.seq is not None and child.virtual_region.bottom > top
    )


def wheel(widget: Widget) -> MouseScrollUp:
    """One turn of the wheel away from the person."""
    x, y = widget.region.offset
    return MouseScrollUp(widget, x, y, 0, -1, 0, False, False, False, screen_x=x, screen_y=y)


async def test_a_long_session_opens_at_its_end_with_thirty_turns(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(5_000), home=tmp_path), home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        assert seqs(transcript) == list(range(10_001 - FIRST, 10_001))
        assert "Answer 5000" in screen_text(pilot)
        assert transcript.is_vertical_scroll_end


async def test_page_up_at_the_top_loads_older_turns_and_keeps_the_place(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(5_000), home=tmp_path), home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        first = seqs(transcript)[0]
        block = next(child for child in transcript.children if isinstance(child, Block))
        transcript.scroll_to(y=2, animate=False, immediate=True)
        await settled(pilot)
        place = block.region.y
        await pilot.press("pageup")
        await until(pilot, lambda: seqs(transcript)[0] == first - PAGE)
        await settled(pilot)
        assert block.region.y == place + 2
        assert seqs(transcript) == list(range(first - PAGE, 10_001))


async def test_page_keys_scroll_the_transcript_while_the_prompt_has_the_focus(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(40), home=tmp_path), home=tmp_path) as pilot:
        chat = chat_of(pilot)
        end = chat.transcript.scroll_y
        await pilot.press("a", "pageup")
        await until(pilot, lambda: chat.transcript.scroll_y < end)
        assert chat.prompt.has_focus
        await pilot.press("pagedown", "pagedown")
        await until(pilot, lambda: chat.transcript.is_vertical_scroll_end)
        assert chat.prompt.text == "a"


async def test_ctrl_home_and_ctrl_end_reach_both_ends_of_the_tape(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(5_000), home=tmp_path), home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press("ctrl+home")
        await until(pilot, lambda: seqs(transcript)[:1] == [1])
        await settled(pilot)
        assert "Question 1:" in screen_text(pilot)
        assert "newer turns below" in screen_text(pilot)
        await pilot.press("ctrl+end")
        await until(pilot, lambda: seqs(transcript)[-1:] == [10_000])
        await settled(pilot)
        assert "Answer 5000" in screen_text(pilot)
        assert "newer turns below" not in screen_text(pilot)


async def test_the_wheel_over_the_prompt_scrolls_the_transcript(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(40), home=tmp_path), home=tmp_path) as pilot:
        chat = chat_of(pilot)
        end = chat.transcript.scroll_y
        chat.prompt.post_message(wheel(chat.prompt))
        await until(pilot, lambda: chat.transcript.scroll_y < end)


async def test_reading_further_and_further_back_never_holds_more_than_a_window(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(5_000), home=tmp_path), home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        for _ in range(6):
            first = seqs(transcript)[0]
            transcript.scroll_to(y=0, animate=False, immediate=True)
            transcript.page_up()
            await until(pilot, lambda first=first: seqs(transcript)[0] < first)  # type: ignore[misc]
            await settled(pilot)
            assert len(seqs(transcript)) <= MOST
            assert seqs(transcript) == list(range(seqs(transcript)[0], seqs(transcript)[-1] + 1))
        assert seqs(transcript)[-1] < 10_000
        assert not transcript.at_tail


async def test_scrolling_down_from_far_back_loads_newer_turns_up_to_the_end(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(100), home=tmp_path), home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        assert await transcript.jump(21)
        await settled(pilot)
        assert not transcript.at_tail
        while not transcript.at_tail:
            last = seqs(transcript)[-1]
            transcript.scroll_to(y=transcript.max_scroll_y, animate=False, immediate=True)
            transcript.page_down()
            await until(pilot, lambda last=last: seqs(transcript)[-1] > last or transcript.at_tail)  # type: ignore[misc]
            await settled(pilot)
        assert seqs(transcript)[-1] == 200
        assert seqs(transcript) == list(range(seqs(transcript)[0], 201))


async def test_a_jump_loads_around_an_event_far_away_and_marks_it(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(5_000), home=tmp_path), home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        assert await transcript.jump(4_001)
        await settled(pilot)
        assert "Question 2001:" in screen_text(pilot)
        assert [block.seq for block in transcript.query(".-found").results(SaidBlock)] == [4_001]
        assert len(seqs(transcript)) == 2 * PAGE


async def test_a_jump_to_nowhere_changes_nothing(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(20), home=tmp_path), home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        before = seqs(transcript)
        assert not await transcript.jump(9_999)
        assert seqs(transcript) == before


async def test_a_growing_reply_is_followed_while_the_end_is_in_sight(tmp_path: Path) -> None:
    session, held = FakeSession(conversation(20), home=tmp_path), asyncio.Event()
    session.replies.append(Reply(["line\n\n" * 40, held, "the end"]))
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: len(transcript.query(ReplyMarkdown)) and "line" in screen_text(pilot))
        assert transcript.is_vertical_scroll_end
        held.set()
        await until(pilot, lambda: "the end" in screen_text(pilot))
        assert transcript.is_vertical_scroll_end


async def test_a_growing_reply_does_not_drag_down_whoever_reads_above(tmp_path: Path) -> None:
    session, held = FakeSession(conversation(20), home=tmp_path), asyncio.Event()
    session.replies.append(Reply(["begun\n\n", held, "line\n\n" * 40]))
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "begun" in screen_text(pilot))
        await pilot.press("pageup", "pageup")
        await settled(pilot)
        place, text = transcript.scroll_y, top_seq(transcript)
        held.set()
        await until(pilot, lambda: "new lines below, ctrl+end" in screen_text(pilot))
        await until(pilot, lambda: not session.busy)
        await settled(pilot)
        assert transcript.scroll_y == place
        assert top_seq(transcript) == text
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "below, ctrl+end" not in screen_text(pilot))
        assert transcript.is_vertical_scroll_end


async def test_a_prompt_that_is_sent_goes_to_the_end_but_a_queued_one_does_not_drag_along(tmp_path: Path) -> None:
    session, held = FakeSession(conversation(40), home=tmp_path), asyncio.Event()
    session.replies += [Reply(["first", held]), Reply(["second"])]
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press("pageup", "pageup", *"go", "enter")
        await until(pilot, lambda: "first" in screen_text(pilot))
        assert transcript.is_vertical_scroll_end
        await pilot.press(*"queued", "enter", "pageup", "pageup")
        await settled(pilot)
        place = transcript.scroll_y
        held.set()
        await until(pilot, lambda: len(session.sent) == 2 and not session.busy)
        await settled(pilot)
        assert transcript.scroll_y == place
        await until(pilot, lambda: "new lines below" in screen_text(pilot))


async def test_a_reply_that_comes_in_while_reading_far_back_is_there_at_the_end(tmp_path: Path) -> None:
    session, held = FakeSession(conversation(500), home=tmp_path), asyncio.Event()
    session.replies.append(Reply(["begun ", held, "finished"]))
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "begun" in screen_text(pilot))
        assert await transcript.jump(101)
        await settled(pilot)
        held.set()
        await until(pilot, lambda: not session.busy)
        await settled(pilot)
        assert "Question 51:" in screen_text(pilot)
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "begun finished" in screen_text(pilot))


async def test_coming_back_to_the_end_shows_the_reply_that_still_comes_in(tmp_path: Path) -> None:
    session, held = FakeSession(conversation(500), home=tmp_path), asyncio.Event()
    session.replies.append(Reply(["begun ", held, "finished"]))
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "begun" in screen_text(pilot))
        assert await transcript.jump(101)
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "begun" in screen_text(pilot))
        held.set()
        await until(pilot, lambda: "begun finished" in screen_text(pilot))
        await settled(pilot)
        assert len(transcript.query(ReplyBlock).filter(".reply")) == len(
            {block.seq for block in transcript.query(ReplyBlock)}
        )


async def test_what_is_far_above_goes_while_the_end_is_followed(tmp_path: Path) -> None:
    session = FakeSession(conversation(80), home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        while len(seqs(transcript)) < MOST - 2:
            transcript.scroll_to(y=0, animate=False, immediate=True)
            transcript.page_up()
            await settled(pilot)
            if seqs(transcript)[0] == 1:
                break
        transcript.to_end()
        await settled(pilot)
        for number in range(6):
            await pilot.press(*str(number), "enter")
            await until(pilot, lambda n=number: len(session.sent) == n + 1 and not session.busy)  # type: ignore[misc]
            await settled(pilot)
        assert len(seqs(transcript)) <= MOST
        assert seqs(transcript)[-1] == session.tape[-1].seq
        assert transcript.is_vertical_scroll_end


async def test_an_open_fence_is_plain_text_and_ends_as_code(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), asyncio.Event()
    session.replies.append(Reply(["Look:\n\n```python\nx = 1\ny = 2\n", held, "```\n\nDone."]))
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: transcript.query(Code) and "y = 2" in screen_text(pilot))
        assert "```" not in screen_text(pilot)
        held.set()
        await until(pilot, lambda: "Done." in screen_text(pilot))
        await until(pilot, lambda: not transcript.query(Code))
        assert "y = 2" in screen_text(pilot)


async def test_a_long_reply_is_drawn_in_pieces_none_of_which_grows_beyond_a_bound(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), asyncio.Event()
    prose, code = "A sentence of a long reply.\n\n" * 300, "```\n" + "some code\n" * 3_000
    session.replies.append(Reply([prose, code, held, "```\n\nThe end."]))
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: len(transcript.query(Code)) == 38)
        assert max(len(part.source) for part in transcript.query(ReplyMarkdown)) < 3_000
        held.set()
        await until(pilot, lambda: not session.busy and "The end." in screen_text(pilot))


async def test_a_long_reply_of_the_past_shows_its_beginning_and_more_on_request(tmp_path: Path) -> None:
    said = "A sentence of a long reply.\n\n" * 3_000
    session = FakeSession([event(1, "user", "?"), event(2, "assistant", said)], home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        transcript = chat_of(pilot).transcript
        shown = len(transcript.query("MarkdownParagraph"))
        assert shown < 300
        assert "more lines: enter shows more" in screen_text(pilot)
        transcript.query(".reply PressLine").last().focus()
        await pilot.press("enter")
        await until(pilot, lambda: len(transcript.query("MarkdownParagraph")) > shown)


async def test_a_prompt_of_five_megabytes_shows_its_head_and_more_on_request(tmp_path: Path) -> None:
    session = FakeSession([event(1, "user", "a line of many\n" * 350_000)], home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        assert "349,880 more lines: enter shows more" in screen_text(pilot)
        chat_of(pilot).query(".said PressLine").first().focus()
        await pilot.press("enter")
        await until(pilot, lambda: "349,380 more lines" in screen_text(pilot))
