"""A conversation from its first word to its resumption, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.errors import StoreReadOnly, UnknownId
from memory.verify import verify
from sessions.chat_model import ModelError, ReasoningDelta, ToolCall
from sessions.errors import SessionBusy
from sessions.events import (
    Compacted,
    Compacting,
    Delta,
    Demoted,
    Notice,
    Said,
    Thinking,
    ToolUsed,
    TurnDone,
    Waiting,
)
from sessions.library import Library
from sessions.options import Options, ToolSettings
from sessions.session import Session
from tests.memory.summarizers import nothing
from tests.sessions.listening import heard, talk
from tests.sessions.scripted_model import ScriptedModel
from tests.sessions.unprivileged import as_nobody

CHAT = "test/scripted"


async def test_an_abandoned_prompt_leaves_nothing_behind(library: Library, session: Session) -> None:
    assert await session.transcript() == []
    assert (await session.snapshot()).events == 0
    assert not library.options.home.exists()


async def test_a_turn_is_told_in_order_and_kept(session: Session, model: ScriptedModel) -> None:
    model.replies = [[ReasoningDelta("hm"), "Hello ", "there."]]
    events = heard(session)
    done = await session.send("Hi [bold]you[/bold]")
    kinds = [type(event) for event in events]
    assert kinds.index(Said) < kinds.index(Waiting) < kinds.index(Thinking) < kinds.index(Delta) < kinds.index(TurnDone)
    assert done.event is not None
    assert done.event.text == "Hello there."
    assert (done.prompt_tokens, done.completion_tokens, done.cost) == (100, 20, 0.001)
    assert [event.text for event in await session.transcript()] == ["Hi [bold]you[/bold]", "Hello there."]
    assert session.title == "Hi [bold]you[/bold]"


async def test_what_was_said_is_on_disk_before_the_model_sees_it(session: Session, model: ScriptedModel) -> None:
    on_disk: list[int] = []
    gate = asyncio.Event()
    model.replies = [[gate, "ok"]]
    turn = asyncio.create_task(session.send("Hello"))
    while not model.requests:
        await asyncio.sleep(0)
    on_disk.append(len(await session.transcript()))
    gate.set()
    await turn
    assert on_disk == [1]


async def test_the_request_is_the_view_and_only_grows_at_its_end(session: Session, model: ScriptedModel) -> None:
    await talk(session, 2)
    before = await session.view()
    await session.send("And now?")
    assert model.requests[-1][: len(before)] == before
    assert model.requests[-1][-1] == {"role": "user", "content": "And now?"}
    assert before[0]["role"] == "system"


async def test_the_session_is_in_the_list_after_its_first_finished_turn(library: Library, session: Session) -> None:
    await session.send("Plan the garden\nwith beans")
    (row,) = await library.list()
    assert (row.id, row.title, row.workspace, row.turns) == (session.id, "Plan the garden", "/work/garden", 1)


async def test_memory_compacts_behind_the_conversation(session: Session, model: ScriptedModel) -> None:
    events = heard(session)
    await talk(session, 40)
    await session.drain()
    assert any(isinstance(event, Demoted) for event in events)
    assert any(isinstance(event, Compacting) for event in events)
    assert sum(isinstance(event, Compacted) for event in events) > 2
    snapshot = await session.snapshot()
    assert snapshot.generation == len(await session.compactions()) > 2
    assert model.prompts
    assert not any("please keep port" in prompt for prompt in model.prompts)


async def test_a_turn_never_waits_for_a_compaction(session: Session, model: ScriptedModel) -> None:
    model.summary_gate = asyncio.Event()
    events = heard(session)
    number = 0
    while not any(isinstance(event, Compacting) for event in events):
        await talk(session, 1, first=number)
        number += 1
    await talk(session, 3, first=number)
    assert (await session.snapshot()).compacting
    view = await session.view()
    assert "being compacted" in view[0]["content"]
    model.summary_gate.set()
    await session.drain()


async def test_a_summarizer_that_keeps_failing_is_given_up_with_the_reason(
    session: Session, model: ScriptedModel
) -> None:
    def failing(prompt: str) -> str:
        raise ModelError("The key was refused.", "auth")

    model.summarize = failing
    events = heard(session)
    await talk(session, 60)
    await session.drain()
    asked = len(model.prompts)
    await talk(session, 20, first=60)
    await session.drain()
    assert len(model.prompts) == asked
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert any("The key was refused." in text and "excerpts" in text for text in notices)
    snapshot = await session.snapshot()
    assert snapshot.notice is not None
    assert snapshot.y_tokens <= snapshot.y_budget
    model.summarize = lambda prompt: "- fine [1-999]"
    number = 80
    while not (await session.snapshot()).overflow:
        await talk(session, 1, first=number)
        await session.drain()
        number += 1
    await session.compact_now()
    assert len(model.prompts) > asked


async def test_a_summarizer_that_says_nothing_is_given_up_too(session: Session, model: ScriptedModel) -> None:
    model.summarize = nothing
    await talk(session, 80)
    await session.drain()
    assert len(model.prompts) < 20
    assert (await session.snapshot()).notice is not None


async def test_a_failure_is_one_sentence_and_retry_answers(session: Session, model: ScriptedModel) -> None:
    model.replies = [[ModelError("Too many requests. Wait 7 s and retry.", "rate", 7.0)]]
    done = await session.send("Hello")
    assert done.error == "Too many requests. Wait 7 s and retry."
    assert done.event is None
    assert session.can_retry
    again = await session.retry()
    assert again.event is not None
    assert not session.can_retry
    assert [event.role for event in await session.transcript()] == ["user", "assistant"]
    assert model.requests[0] == model.requests[1]


async def test_a_cut_reply_is_kept_and_marked_and_retry_takes_its_place(session: Session, model: ScriptedModel) -> None:
    model.replies = [["Half a ", ModelError("The connection broke.", "cut")]]
    done = await session.send("Hello")
    assert done.event is not None
    assert done.event.meta["partial"] == "failed"
    assert "cut off" in (await session.view())[-1]["content"]
    await session.retry()
    assert "cut off" not in json.dumps(model.requests[-1])
    texts = [event.text for event in await session.transcript()]
    assert texts[1] == "Half a "
    assert len(texts) == 3
    assert not any("Half a" in message["content"] for message in await session.view())


async def test_stopping_keeps_what_has_come(session: Session, model: ScriptedModel) -> None:
    model.replies = [["This much ", asyncio.Event(), "and no more"]]
    events = heard(session)
    turn = asyncio.create_task(session.send("Hello"))
    while not any(isinstance(event, Delta) for event in events):
        await asyncio.sleep(0)
    session.stop()
    done = await turn
    assert done.stopped
    assert done.event is not None
    assert (done.event.text, done.event.meta["partial"]) == ("This much ", "stopped")
    assert session.can_retry
    assert not session.busy


async def test_an_empty_reply_is_said_to_be_one(session: Session, model: ScriptedModel) -> None:
    model.replies = [[]]
    done = await session.send("Hello")
    assert done.error is not None
    assert "empty reply" in done.error
    assert session.can_retry


async def test_two_prompts_at_once_are_refused(session: Session, model: ScriptedModel) -> None:
    gate = asyncio.Event()
    model.replies = [[gate, "ok"]]
    turn = asyncio.create_task(session.send("Hello"))
    while not session.busy:
        await asyncio.sleep(0)
    with pytest.raises(SessionBusy):
        await session.send("Me too")
    gate.set()
    await turn


async def test_nothing_to_retry_is_a_sentence(session: Session) -> None:
    with pytest.raises(UnknownId, match="say something first"):
        await session.retry()
    assert not session.busy


async def test_recall_memory_is_offered_answered_and_noted(session: Session, model: ScriptedModel) -> None:
    await session.send("The launch code is ORCHID-77.")
    await talk(session, 40)
    await session.drain()
    call = ToolCall("c1", "recall_memory", json.dumps({"question": "What is the launch code?"}))
    model.replies = [["Let me look. ", call], ["It is ORCHID-77."]]
    events = heard(session)
    done = await session.send("What was the code again?")
    assert done.event is not None
    assert done.event.text == "Let me look. It is ORCHID-77."
    assert model.offered[-1][0]["function"]["name"] == "recall_memory"
    answer = model.requests[-1][-1]
    assert answer["role"] == "tool"
    assert "> The launch code is ORCHID-77." in answer["content"]
    assert "Said in this conversation" in answer["content"]
    used = [event for event in events if isinstance(event, ToolUsed)]
    assert used[0].name == "recall_memory"
    asked, answered = [event for event in await session.transcript() if event.kind == "tool"]
    assert (asked.role, asked.text, answered.text) == ("assistant", call.arguments, answer["content"])
    assert answered.refs[0] == asked.id
    assert len(answered.refs) > 1
    assert "ORCHID" not in json.dumps([message for message in await session.view() if message["role"] == "tool"])


async def test_what_comes_after_a_tool_call_is_a_paragraph_of_its_own(session: Session, model: ScriptedModel) -> None:
    call = ToolCall("c1", "recall_memory", json.dumps({"question": "code"}))
    model.replies = [["Let me look.", call], ["It is ", "here."]]
    events = heard(session)
    done = await session.send("Where is it?")
    assert done.event is not None
    assert done.event.text == "Let me look.\n\nIt is here."
    assert "".join(event.text for event in events if isinstance(event, Delta)) == done.event.text


async def test_what_recall_returned_is_never_remembered_again(session: Session, model: ScriptedModel) -> None:
    await session.send("The launch code is ORCHID-77.")
    await talk(session, 40)
    call = ToolCall("c1", "recall_memory", json.dumps({"question": "launch code"}))
    model.replies = [[call], ["Found it."]]
    await session.send("Look it up.")
    result = await session.recall("launch code ORCHID-77")
    assert sum("ORCHID-77" in item.text for item in result.items) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("rm_rf", "{}", "no tool named rm_rf"),
        ("recall_memory", "{not json", "not valid JSON"),
        ("recall_memory", "[]", "not a JSON object"),
        ("recall_memory", "{}", "'question' is a required property"),
        ("recall_memory", '{"question": 7}', "question: 7 is not of type 'string'"),
        ("recall_memory", "[" * 100_000, "not valid JSON"),
    ],
)
async def test_a_call_that_makes_no_sense_is_answered_with_what_was_wrong(
    session: Session, model: ScriptedModel, name: str, arguments: str, said: str
) -> None:
    model.replies = [[ToolCall("c1", name, arguments)], ["All right."]]
    done = await session.send("Go on")
    assert done.error is None
    assert said in model.requests[-1][-1]["content"]


async def test_a_model_that_only_calls_tools_must_answer_in_the_end(options: Options, model: ScriptedModel) -> None:
    few = replace(options, tools=ToolSettings(max_calls=7))
    session = await Library(few, open_model=model.opened).new("/work/garden")
    call = ToolCall("c1", "recall_memory", '{"question": "x"}')
    model.replies = [[call] for _ in range(7)] + [["Enough."]]
    done = await session.send("Go on")
    assert done.event is not None
    assert done.event.text == "Enough."
    assert model.offered[-1] == []
    assert "You have called 7 tools" in model.requests[-1][-1]["content"]
    assert not any(message["role"] == "tool" for message in model.requests[-1])
    await session.close()


async def test_a_session_resumes_exactly(library: Library, session: Session, model: ScriptedModel) -> None:
    await talk(session, 30)
    await session.drain()
    view, snapshot, totals = await session.view(), await session.snapshot(), session.totals
    await session.close()
    again = await library.open("last")
    try:
        assert await again.view() == view
        assert (await again.snapshot()).bullets == snapshot.bullets
        assert again.totals.prompt_tokens == totals.prompt_tokens
        assert again.totals.cost == pytest.approx(totals.cost)
        assert again.title == session.title
        await again.send("And on we go")
    finally:
        await again.close()


async def test_a_reply_that_was_streaming_when_the_process_died_is_kept_and_marked(
    library: Library, session: Session, model: ScriptedModel
) -> None:
    await session.send("Hello")
    memory = session._memory
    assert memory is not None
    await memory.run(memory.store.save_draft, "d1", CHAT, "Once upon a")
    await session.close()
    again = await library.open("last")
    try:
        last = (await again.transcript())[-1]
        assert (last.text, last.meta["partial"]) == ("Once upon a", "interrupted")
        assert again.can_retry
    finally:
        await again.close()


async def test_a_second_opener_reads_only_and_is_told_so(library: Library, session: Session) -> None:
    await session.send("Hello")
    second = await library.open(session.id)
    try:
        assert second.read_only
        told = heard(second)
        await asyncio.sleep(0)
        assert any("open in" in event.text for event in told if isinstance(event, Notice))
        assert (await second.transcript())[0].text == "Hello"
        with pytest.raises(StoreReadOnly):
            await second.send("Me too")
    finally:
        await second.close()
    await session.send("Still mine")


async def test_a_small_window_scales_the_budgets_down(library: Library, model: ScriptedModel) -> None:
    model.context_window = 1_000
    session = await library.new("/")
    await session.send("Hello")
    snapshot = await session.snapshot()
    assert snapshot.x_budget + snapshot.y_budget <= 400
    model.context_window = None
    await session.set_model("test/larger")
    snapshot = await session.snapshot()
    assert (snapshot.x_budget, snapshot.y_budget) == (200, 400)
    await session.close()


async def test_the_model_chosen_in_a_session_is_still_there_on_resume(library: Library, session: Session) -> None:
    await session.send("Hello")
    await session.set_model("test/other")
    await session.close()
    again = await library.open("last")
    assert again.model_name == "test/other"
    await again.close()


async def test_a_price_that_is_not_known_makes_the_total_unknown(session: Session, model: ScriptedModel) -> None:
    await session.send("Hello")
    assert session.totals.cost == pytest.approx(0.001)
    model.cost = None
    await session.send("Hello again")
    assert session.totals.cost is None


async def test_every_invariant_holds_on_the_file(session: Session) -> None:
    await talk(session, 50)
    await session.drain()
    memory = session._memory
    assert memory is not None
    report = await memory.run(verify, memory.store)
    assert report.ok, [check for check in report.checks if not check.ok]


async def test_a_session_in_a_home_that_cannot_be_written_is_read_only_and_says_why(
    library: Library, session: Session, options: Options
) -> None:
    await session.send("Hello")
    await session.close()

    async def look() -> str:
        opened = await library.open("last")
        told = heard(opened)
        await asyncio.sleep(0)
        texts = [event.text for event in await opened.transcript()]
        notices = [event.text for event in told if isinstance(event, Notice)]
        await opened.close()
        return f"{opened.read_only}|{texts[0]}|{notices}"

    memory = options.home / "memory"
    for file in (*options.home.iterdir(), *memory.iterdir()):
        file.chmod(0o644)
    for folder in (options.home, memory):
        folder.chmod(0o555)
    try:
        seen = as_nobody_in_a_loop_of_its_own(options.home, look)
    finally:
        for folder in (options.home, memory):
            folder.chmod(0o700)
    assert seen.startswith("True|Hello|")
    assert "cannot be written" in seen


def as_nobody_in_a_loop_of_its_own(folder: Path, look: Callable[[], Coroutine[Any, Any, str]]) -> str:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(as_nobody, folder, lambda: asyncio.run(look())).result()
