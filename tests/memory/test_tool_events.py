"""A model's tool calls in the tiers: whole while they are short, else one line, which is all that compaction reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.queue import TieredQueue
from memory.raw_tokens import raw_tokens
from memory.render import item_text
from memory.retrieval import recall, recall_chunks
from memory.store import CONVERSATION, MemoryStore
from memory.tool_events import ARGUMENTS_SHOWN, HELD_TOKENS, LONGEST_SUMMARY
from memory.values import Event, NewEvent
from memory.verify import verify

LONG = "".join(f"line {n}: the gauge of harbour {n} reads {n * 3} metres\n" for n in range(400))


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[TieredQueue]:
    with MemoryStore(tmp_path / "tape.db") as store:
        yield TieredQueue(store, x_budget=2_000, y_budget=20_000, auto_compact=False)


def say(queue: TieredQueue, text: str) -> Event:
    return queue.append(NewEvent(text=text, role="user", source="person"))


def call(
    queue: TieredQueue, text: str, *, arguments: str = "{}", summary: str = "read it", source: str = "read_file"
) -> Event:
    meta = {"call": "c1"}
    asked = queue.append(NewEvent(text=arguments, role="assistant", kind="tool", source=source, meta=meta))
    meta |= {"summary": summary}
    return queue.append(NewEvent(text=text, role="tool", kind="tool", source=source, refs=(asked.id,), meta=meta))


def test_short_output_stands_whole(queue: TieredQueue) -> None:
    call(queue, "port = 4000")
    assert [item_text(item) for item in queue.recent_items] == ["{}", "port = 4000"]
    assert all(item.spans is None for item in queue.recent_items)


def test_long_output_stands_as_its_line(queue: TieredQueue) -> None:
    event = call(queue, LONG, summary="read harbours.txt,\n400 lines")
    item = queue.recent_items[-1]
    assert item.spans == ()
    assert (
        item_text(item) == f"read harbours.txt, 400 lines [{len(LONG):,} characters, kept whole: recall_id {event.id}]"
    )
    assert item.tokens < 60


@pytest.mark.parametrize("words", [HELD_TOKENS // 2, HELD_TOKENS * 2])
def test_the_limit_is_in_tokens_and_never_above_x(tmp_path: Path, words: int) -> None:
    with MemoryStore(tmp_path / "tape.db") as store:
        for x, whole in ((2_000, words < HELD_TOKENS), (60, False)):
            queue = TieredQueue(store, f"q{x}", x_budget=x, y_budget=2_000, auto_compact=False)
            call(queue, "word " * words)
            assert (queue.recent_items[-1].spans is None) == whole


def test_long_arguments_are_cut_in_the_line(queue: TieredQueue) -> None:
    arguments = json.dumps({"text": "w" * 5_000})
    call(queue, "written", arguments=arguments)
    text = item_text(queue.recent_items[0])
    assert text.startswith(arguments[:ARGUMENTS_SHOWN])
    assert len(text) < ARGUMENTS_SHOWN + 100


@pytest.mark.parametrize("summary", ["", " ", None, 7, ["x"], "s" * 10_000, "a\x1b[31m\nb"])
def test_any_summary_makes_one_line(queue: TieredQueue, summary: object) -> None:
    meta = {"call": "c1", "summary": summary}
    queue.append(NewEvent(text=LONG, role="tool", kind="tool", source="read_file", meta=meta))
    text = item_text(queue.recent_items[-1])
    assert "\n" not in text
    assert len(text) < LONGEST_SUMMARY + 100
    if not isinstance(summary, str) or not summary.strip():
        assert text.startswith("line 0: the gauge of harbour 0")


def test_what_the_person_ran_stands_raw(queue: TieredQueue) -> None:
    meta = {"by": "person", "command": "cat harbours.txt", "summary": "ran it"}
    queue.append(NewEvent(text=LONG, role="tool", kind="tool", source="shell", meta=meta))
    assert item_text(queue.recent_items[-1]).startswith("[Excerpt of")


def test_a_compaction_reads_the_lines(queue: TieredQueue) -> None:
    say(queue, "Read it.")
    call(queue, LONG, summary="read harbours.txt, 400 lines")
    for number in range(2):
        say(queue, f"And {number}? " + "why " * 1_900)
    plan = queue.plan_compaction()
    assert plan is not None
    (prompt,) = plan.prompts
    assert "read_file was called with {}" in prompt
    assert "read harbours.txt, 400 lines" in prompt
    assert "gauge" not in prompt


def test_what_nobody_summarised_keeps_its_line(queue: TieredQueue) -> None:
    say(queue, "Read it.")
    event = call(queue, LONG, summary="read harbours.txt, 400 lines")
    for number in range(2):
        say(queue, f"And {number}? " + "why " * 1_900)
    queue.compact_by_excerpts("there is no model")
    texts = [bullet.text for bullet in queue.bullets if not bullet.protected]
    assert texts == ["read_file was called with {}", "read_file answered: read harbours.txt, 400 lines"]
    assert [bullet.seqs for bullet in queue.bullets if bullet.text.startswith("read_file answered")] == [(event.seq,)]
    assert verify(queue.store).ok


def test_only_tools_are_searched_for_what_tools_printed(queue: TieredQueue) -> None:
    event = call(queue, LONG)
    found = recall_chunks(queue.store, "tool", "What does the gauge of harbour 250 read?")
    assert any("harbour 250 reads 750" in item.text for item in found.items)
    assert not recall(queue.store, CONVERSATION, "What does the gauge of harbour 250 read?").items
    assert not recall_chunks(queue.store, "tool", "gauge of harbour 250", exclude=[event.seq]).items


def test_output_that_stands_whole_is_found_only_where_it_is_not_in_view(queue: TieredQueue) -> None:
    event = call(queue, "the gauge reads 7")
    assert not recall_chunks(queue.store, "tool", "gauge").items
    assert [item.seq for item in recall_chunks(queue.store, "tool", "gauge", left_out=[event.seq]).items] == [event.seq]


def test_what_was_recalled_is_neither_found_again_nor_counted(queue: TieredQueue) -> None:
    call(queue, LONG, source="recall_memory")
    assert not recall_chunks(queue.store, "tool", "What does the gauge of harbour 250 read?").items
    assert raw_tokens(queue.store, 0) == 0


def test_long_output_counts_no_more_than_its_line_may_cost(queue: TieredQueue) -> None:
    call(queue, LONG)
    assert raw_tokens(queue.store, 0) <= HELD_TOKENS + 5
    queue.append(NewEvent(text=LONG, role="tool", kind="tool", source="shell", meta={"by": "person"}))
    assert raw_tokens(queue.store, 0) > 4_000
