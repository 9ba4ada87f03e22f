"""Uses of tools in the transcript: one line each, open on demand, the same while they run and from the tape."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memory.values import Event
from screens.event_blocks import Block
from screens.tool_block import ToolBlock, ToolLine
from screens.tool_use import asked_in_short
from screens.transcript_window import MOST, PAGE
from sessions.events import ToolCalled, ToolUsed
from tests.screens.chat_stage import chat_of, chatting, screen_text, settled, until
from tests.screens.fakes import FakeSession, Reply, conversation, event
from tests.screens.stage import HOSTILE, is_safe

READ = ToolCalled("c1", "read_file", '{"path": "notes.txt"}')
READ_ENDED = ToolUsed("read_file", READ.arguments, "3 lines of notes.txt", "c1", True, 20, "beans\nkale\nradishes\n")


def call(seq: int, id: str, name: str = "read_file", arguments: str = '{"path": "notes.txt"}') -> Event:
    return event(seq, "assistant", arguments, kind="tool", source=name, meta={"call": id, "round": 1})


def result(seq: int, of: Event, text: str = "beans\nkale\n", **meta: Any) -> Event:
    given = {"call": of.meta["call"], "summary": "2 lines of notes.txt", "ok": True, "seconds": 0.2, **meta}
    return event(seq, "tool", text, kind="tool", source=of.source, refs=(of.id,), meta=given)


def lines(pilot: Pilot[Any]) -> list[str]:
    return [line.text for line in chat_of(pilot).transcript.query(ToolLine)]


async def opened(pilot: Pilot[Any], number: int = 0) -> None:
    chat_of(pilot).transcript.query(ToolLine)[number].focus()
    await pilot.press("enter")
    await pilot.pause()


async def test_a_call_shows_while_it_runs_and_then_what_came_of_it(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), asyncio.Event()
    session.replies.append(Reply([READ, held, READ_ENDED, "Three crops."]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: lines(pilot) == ["▸ read_file  notes.txt  running …"])
        assert "read_file works" in screen_text(pilot)
        held.set()
        await until(pilot, lambda: "Three crops." in screen_text(pilot))
        await settled(pilot)
        assert lines(pilot) == ["▸ read_file  3 lines of notes.txt  20 chars"]


async def test_a_line_opens_to_what_was_asked_and_answered_and_closes_again(tmp_path: Path) -> None:
    made = call(2, "c1")
    session = FakeSession([event(1, "user", "go"), made, result(3, made)], home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        assert "kale" not in screen_text(pilot)
        await opened(pilot)
        shown = screen_text(pilot)
        assert shown.index('{"path": "notes.txt"}') < shown.index("answered, 11 characters, 0.2 s")
        assert "kale" in shown
        await pilot.press("enter")
        await until(pilot, lambda: "kale" not in screen_text(pilot))


async def test_a_call_and_its_result_are_one_block_in_any_order_of_parallel_calls(tmp_path: Path) -> None:
    one, two = call(2, "c1"), call(3, "c2", "list_files", "{}")
    tape = [event(1, "user", "go"), one, two, result(4, two, summary="7 files"), result(5, one)]
    async with chatting(FakeSession(tape, home=tmp_path), home=tmp_path) as pilot:
        assert lines(pilot) == ["▸ read_file  2 lines of notes.txt  11 chars", "▸ list_files  7 files  11 chars"]
        assert [block.seqs for block in chat_of(pilot).transcript.query(ToolBlock)] == [{2, 5}, {3, 4}]


async def test_calls_of_two_turns_with_the_same_id_are_two_blocks(tmp_path: Path) -> None:
    """Some vendors number the calls of each reply from 0."""
    first, second = call(2, "call_0"), call(5, "call_0")
    tape = [event(1, "user", "go"), first, result(3, first, summary="one"), event(4, "user", "again"), second]
    tape.append(result(6, second, summary="two"))
    async with chatting(FakeSession(tape, home=tmp_path), home=tmp_path) as pilot:
        assert [line.split("  ")[1] for line in lines(pilot)] == ["one", "two"]


async def test_a_call_without_a_result_says_that_it_was_interrupted(tmp_path: Path) -> None:
    tape = [event(1, "user", "go"), call(2, "c1")]
    async with chatting(FakeSession(tape, home=tmp_path), home=tmp_path) as pilot:
        assert lines(pilot) == ["▸ read_file  notes.txt  interrupted"]


async def test_a_failure_is_said_in_words(tmp_path: Path) -> None:
    made = call(2, "c1")
    failed = result(3, made, "There is no file notes.txt.", ok=False, summary="There is no file notes.txt.")
    async with chatting(FakeSession([event(1, "user", "go"), made, failed], home=tmp_path), home=tmp_path) as pilot:
        assert lines(pilot) == ["▸ read_file  There is no file notes.txt.  failed · 27 chars"]


async def test_a_note_of_an_earlier_version_still_draws(tmp_path: Path) -> None:
    found = {"summary": "4 passages about bed 3"}
    note = event(2, "tool", '{"question": "bed 3"}', kind="note", source="recall_memory", meta=found)
    async with chatting(FakeSession([event(1, "user", "go"), note], home=tmp_path), home=tmp_path) as pilot:
        assert lines(pilot) == ["▸ recall_memory  4 passages about bed 3"]
        await opened(pilot)
        assert '{"question": "bed 3"}' in screen_text(pilot)


async def test_a_stopped_turn_leaves_what_ran_as_interrupted(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply([READ, asyncio.Event()]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: lines(pilot) and lines(pilot)[0].endswith("running …"))
        await pilot.press("escape")
        await until(pilot, lambda: lines(pilot) == ["▸ read_file  notes.txt  interrupted"])


async def test_a_running_turn_is_drawn_once_after_looking_at_another_session(tmp_path: Path) -> None:
    session, held = FakeSession(conversation(2), home=tmp_path), asyncio.Event()
    session.replies.append(Reply([READ, READ_ENDED, ToolCalled("c2", "list_files", "{}"), held, "Done."]))
    other = FakeSession(conversation(1), id="0therf0r1111", title="Other", home=tmp_path)
    async with chatting(other, session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: len(lines(pilot)) == 2)
        chat = chat_of(pilot)
        assert chat.conversations is not None
        await chat.show(await chat.conversations.open("0therf0r1111"))
        await settled(pilot)
        await chat.show(await chat.conversations.open(session.id))
        await until(pilot, lambda: len(lines(pilot)) == 2)
        assert lines(pilot)[1].endswith("running …")
        held.set()
        await until(pilot, lambda: "Done." in screen_text(pilot))
        await settled(pilot)
        assert lines(pilot) == ["▸ read_file  3 lines of notes.txt  20 chars", "▸ list_files  {}  interrupted"]


async def test_words_between_tools_become_one_reply_and_what_was_open_stays_open(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), asyncio.Event()
    session.replies.append(Reply(["I look. ", READ, READ_ENDED, "Three crops.", held]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "Three crops." in screen_text(pilot))
        await opened(pilot)
        await until(pilot, lambda: "radishes" in screen_text(pilot))
        block = chat_of(pilot).query_one(ToolBlock)
        held.set()
        await until(pilot, lambda: "I look. Three crops." in screen_text(pilot))
        await settled(pilot)
        assert chat_of(pilot).query_one(ToolBlock) is block
        assert block.seqs == {2, 3}
        shown = screen_text(pilot)
        assert shown.count("I look.") == 1
        assert shown.index("radishes") < shown.index("I look. Three crops.")


async def test_the_turn_of_many_calls_becomes_what_is_on_the_tape(tmp_path: Path) -> None:
    steps: list[Any] = []
    for number in range(100):
        called = ToolCalled(f"c{number}", "read_file", f'{{"path": "{number}.txt"}}')
        steps += [called, ToolUsed("read_file", called.arguments, f"{number} read", called.call, True, 4, "text")]
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply([*steps, "All read."]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "All read." in screen_text(pilot))
        transcript = chat_of(pilot).transcript
        await until(pilot, lambda: not chat_of(pilot).conversation.busy)  # type: ignore[union-attr]
        await settled(pilot)
        # What is far above the end has gone from the screen again, call and result together.
        assert len(lines(pilot)) < MOST
        await pilot.press("ctrl+home")
        await until(pilot, lambda: lines(pilot)[:1] == ["▸ read_file  0 read  4 chars"])
        seqs = [child.seq for child in transcript.children if isinstance(child, Block)]
        assert seqs == sorted(seqs, key=lambda seq: seq or 0)


async def test_a_call_and_its_result_find_each_other_wherever_the_window_begins_and_ends(tmp_path: Path) -> None:
    made = [call(seq, f"c{seq}") for seq in range(2, 2 + PAGE)]
    results = [result(2 + PAGE + number, made[number]) for number in range(PAGE)]
    tape = [event(1, "user", "go"), *made, *results]
    async with chatting(FakeSession(tape, home=tmp_path), home=tmp_path) as pilot:
        whole = "▸ read_file  2 lines of notes.txt  11 chars"
        assert lines(pilot) == [whole] * PAGE
        await pilot.press("ctrl+home")
        await until(pilot, lambda: chat_of(pilot).transcript.query(".said"))
        await settled(pilot)
        # The last result is not loaded now, so nothing is said of how that call ended.
        assert lines(pilot) == [*[whole] * (PAGE - 1), "▸ read_file  notes.txt"]
        await pilot.press("ctrl+end")
        await until(pilot, lambda: lines(pilot)[-1] == whole)


async def test_nothing_of_a_tool_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    made = call(2, "c1", HOSTILE, HOSTILE)
    tape = [event(1, "user", "go"), made, result(3, made, HOSTILE, summary=HOSTILE)]
    ran = {"by": "person", "command": HOSTILE, "exit": 0, "ok": True}
    tape.append(event(4, "tool", HOSTILE, kind="tool", source="shell", meta=ran))
    tape.append(event(5, "user", HOSTILE, kind="document", source=HOSTILE))
    async with chatting(FakeSession(tape, home=tmp_path), home=tmp_path) as pilot:
        await opened(pilot)
        assert "[bold]x[/]" in screen_text(pilot)
        assert is_safe(screen_text(pilot))


async def test_a_long_output_costs_what_its_beginning_costs(tmp_path: Path) -> None:
    made = call(2, "c1")
    tape = [event(1, "user", "go"), made, result(3, made, "line\n" * 40_000)]
    async with chatting(FakeSession(tape, home=tmp_path), home=tmp_path) as pilot:
        await opened(pilot)
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "more lines: enter shows more" in screen_text(pilot))


async def test_a_file_that_was_attached_is_one_line_under_the_words(tmp_path: Path) -> None:
    tape = [event(1, "user", "look at @notes.txt"), event(2, "user", "beans", kind="document", source="notes.txt")]
    async with chatting(FakeSession(tape, home=tmp_path), home=tmp_path) as pilot:
        assert lines(pilot) == ["▸ attached  notes.txt  5 chars"]
        await opened(pilot)
        assert "beans" in screen_text(pilot)


@pytest.mark.parametrize(
    ("arguments", "short"),
    [
        ('{"path": "a.py"}', "a.py"),
        ('{"path": "a.py", "start": 3}', "path: a.py, start: 3"),
        ("{}", "{}"),
        ("", ""),
        ('{"path": ', '{"path":'),
        ("[1]", "[1]"),
        ('{"deep": {"a": [1, null]}}', '{"a": [1, null]}'),
    ],
)
def test_arguments_in_short(arguments: str, short: str) -> None:
    assert asked_in_short(arguments) == short
