"""A worker's exchange with its model, by a tool or by text, and what is kept when it goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from memory.ledger_fold import LedgerState
from sessions.chat_model import ErrorKind, ModelError, ReasoningDelta
from sessions.observing.agent import MOST_TEXT, Agent, Exchange, Task
from sessions.observing.record_tools import ObservationRecorder
from tests.sessions.observing.note_takers import NoteTaker, Request, Step, as_text, call, dutiful, note
from tests.sessions.observing.test_record_tools import ENTRIES

TASK = Task("Use record_observations.", "\n".join(f"[entry {id}] x" for id in ENTRIES))


async def run(
    behave: Callable[[Request], Sequence[Step]], *, max_turns: int = 16, agent: Agent | None = None
) -> tuple[NoteTaker, ObservationRecorder, Exchange]:
    model = NoteTaker(behave)
    recorder = ObservationRecorder(ENTRIES, LedgerState())
    exchange = await (agent or Agent(max_turns)).run(model, TASK, recorder.tool)
    return model, recorder, exchange


def contents(recorder: ObservationRecorder) -> list[str]:
    return [made.content for made in recorder.observations]


def scripted(*replies: Sequence[Step]) -> Callable[[Request], Sequence[Step]]:
    left = list(replies)
    return lambda request: left.pop(0)


async def test_a_model_that_calls_the_tool_gets_a_receipt_and_may_call_again() -> None:
    model, recorder, exchange = await run(
        scripted(
            [call("record_observations", observations=[note("One.", "e1"), note("Made up.", "e9")])],
            [call("record_observations", observations=[note("Two.", "e2")])],
            ["That is all."],
        )
    )
    assert contents(recorder) == ["One.", "Two."]
    assert "no entry has the id e9" in str(model.requests[1].messages[-1]["content"])
    assert model.requests[1].messages[2]["tool_calls"][0]["function"]["name"] == "record_observations"
    assert (exchange.requests, exchange.prompt_tokens, exchange.completion_tokens) == (3, 150, 30)
    assert (exchange.failure, exchange.by_text) == (None, False)


async def test_the_requests_of_a_run_are_limited() -> None:
    def endless(request: Request) -> Sequence[Step]:
        return [call("record_observations", observations=[note(f"Note {len(request.messages)}.", "e1")])]

    _, recorder, exchange = await run(endless, max_turns=4)
    assert exchange.requests == 4
    assert len(recorder.observations) == 4
    assert exchange.failure is None


async def test_another_tool_is_refused_and_the_run_goes_on() -> None:
    model, recorder, _ = await run(
        scripted([call("delete_everything", path="/")], [call("record_observations", observations=[])], [""])
    )
    assert "The only tool is record_observations" in str(model.requests[1].messages[-1]["content"])
    assert contents(recorder) == []


async def test_a_model_that_only_talks_is_asked_for_json_and_from_then_on_at_once() -> None:
    agent = Agent(16)
    model, recorder, exchange = await run(as_text, agent=agent)
    assert [request.tool for request in model.requests] == ["record_observations", None]
    assert '"required": ["observations"]' in model.requests[1].text
    assert len(recorder.observations) == len(ENTRIES)
    assert exchange.by_text
    again, _, _ = await run(as_text, agent=agent)
    assert [request.tool for request in again.requests] == [None]


@pytest.mark.parametrize("kind", ["other", "server", "no_model", "refused", "garbled"])
async def test_a_model_whose_server_refuses_tools_is_driven_by_text(kind: ErrorKind) -> None:
    def behave(request: Request) -> Sequence[Step]:
        return [ModelError("It does not support tools.", kind)] if request.tool else as_text(request)

    agent = Agent(16)
    _, recorder, exchange = await run(behave, agent=agent)
    assert len(recorder.observations) == len(ENTRIES)
    assert exchange.failure is None
    again, _, _ = await run(behave, agent=agent)
    assert [request.tool for request in again.requests] == [None]


@pytest.mark.parametrize("kind", ["auth", "rate", "unreachable", "timeout", "too_long", "cut"])
async def test_a_failure_that_has_nothing_to_do_with_tools_is_one(kind: ErrorKind) -> None:
    model, recorder, exchange = await run(lambda request: [ModelError("Not now.", kind)])
    assert len(model.requests) == 1
    assert str(exchange.failure) == "Not now."
    assert contents(recorder) == []


async def test_what_was_recorded_before_a_failure_is_kept() -> None:
    _, recorder, exchange = await run(
        scripted(
            [call("record_observations", observations=[note("One.", "e1")])],
            ["half a", ModelError("The connection broke.", "other")],
        )
    )
    assert contents(recorder) == ["One."]
    assert str(exchange.failure) == "The connection broke."


async def test_json_beside_the_tool_is_taken_at_once() -> None:
    model, recorder, exchange = await run(
        lambda request: ['<think>{"a": 1}</think> {"observations": [', _json("One.", "e1"), "]}"]
    )
    assert len(model.requests) == 1
    assert contents(recorder) == ["One."]
    assert exchange.by_text


async def test_a_reply_that_was_cut_short_gives_what_is_whole() -> None:
    cut = '{"observations": [' + _json("One.", "e1") + ", " + _json("Two.", "e2") + ', {"content": "Thr'
    _, recorder, _ = await run(lambda request: [] if request.tool else [cut])
    assert contents(recorder) == ["One.", "Two."]


async def test_wrong_json_is_told_and_tried_again_but_not_for_ever() -> None:
    model, recorder, exchange = await run(lambda request: ["I have no idea."])
    assert [request.tool for request in model.requests] == ["record_observations", None, None, None]
    assert "That could not be used: it is not JSON" in str(model.requests[-1].messages[-1]["content"])
    assert exchange.failure is not None
    assert exchange.failure.kind == "garbled"
    assert str(exchange.failure) == "test/notes answered with something else than the notes it was asked for."
    _, recorder, exchange = await run(
        scripted(["Hm."], ["Hm."], ['{"notes": 1}'], ['{"observations": [' + _json("One.", "e1") + "]}"])
    )
    assert contents(recorder) == ["One."]
    assert exchange.failure is None


async def test_after_garbage_the_tool_is_tried_again() -> None:
    agent = Agent(16)
    await run(lambda request: ["?"], agent=agent)
    model, recorder, _ = await run(dutiful, agent=agent)
    assert model.requests[0].tool == "record_observations"
    assert len(recorder.observations) == len(ENTRIES)


async def test_one_request_a_run_is_enough_for_a_model_that_only_talks() -> None:
    agent = Agent(1)
    _, _, first = await run(as_text, agent=agent)
    assert first.failure is not None
    _, recorder, second = await run(as_text, agent=agent)
    assert (first.requests, second.requests) == (1, 1)
    assert len(recorder.observations) == len(ENTRIES)


async def test_a_reply_without_end_is_not_listened_to() -> None:
    def endless(request: Request) -> Sequence[Step]:
        return [ReasoningDelta("hm " * 1_000)] * (2 * MOST_TEXT // 3_000)

    _, recorder, exchange = await run(endless)
    assert contents(recorder) == []
    assert exchange.failure is not None


def _json(content: str, source: str) -> str:
    return f'{{"content": "{content}", "relevance": "low", "timestamp": "2026-03-02 09:00", "sources": ["{source}"]}}'
