"""The ledger over real HTTP: each vendor's tool calls, what goes wrong on the wire, and a long session."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.ledger_compaction import LEDGER
from memory.values import TIERED_KINDS
from memory.verify import verify
from sessions.events import Compacted, Notice, SessionEvent
from sessions.library import Library
from sessions.observing.worker import FAILED
from sessions.options import LedgerSettings, Options, Provider
from sessions.session import Session
from tests.sessions.observing.conversations import LEDGER as SMALL
from tests.sessions.observing.conversations import sentence
from tests.vendors import Asked, Failure, LoopbackVendor, Reply, ToolUse
from tests.vendors.default_replies import Answer

ENTRY = re.compile(r"^\[entry (\S+)\]", re.MULTILINE)
NOTE = re.compile(r"^(?:\w+: )?\[([0-9a-f]{12})\] \d{4}-", re.MULTILINE)


def notes_on(asked: Asked) -> dict[str, Any]:
    """What a dutiful worker records: by the tool that it was offered, or by the schema in its prompt."""
    if "record_observations" in asked.system:
        return {"observations": [_note(id) for id in ENTRY.findall(asked.text)]}
    if "record_reflections" in asked.system:
        support = NOTE.findall(asked.text)[:2]
        return {"reflections": [{"content": f"On {' '.join(support)}.", "supports": support}]}
    return {"ids": NOTE.findall(asked.text)}


def _note(id: str) -> dict[str, Any]:
    return {"timestamp": "2026-03-02 09:00", "content": f"What {id} says.", "relevance": "medium", "sources": [id]}


def worker(asked: Asked) -> Reply:
    if asked.messages[-1].role == "tool":
        return Reply("That is all.")
    return (
        Reply(tools=(ToolUse(asked.tools[0], notes_on(asked)),)) if asked.tools else Reply(json.dumps(notes_on(asked)))
    )


def is_work(asked: Asked) -> bool:
    """For a seat of the ledger, and not a turn of the conversation."""
    return "quoted material" in asked.system and ("[entry" in asked.text or "# Remembered so far" in asked.text)


def both(asked: Asked) -> Answer:
    return worker(asked) if is_work(asked) else Reply(f"Noted, all {len(asked.prompt)} characters of it.")


async def said(session: Session, turns: int, *, first: int = 1) -> None:
    for number in range(first, first + turns):
        done = await session.send(sentence(number))
        assert done.error is None, done.error
        await session.drain()


async def test_each_vendors_tool_calls_keep_the_ledger(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.reply_with(both)
    options = vendor.options(tmp_path, x_budget=200, y_budget=600, embedding="none", ledger=SMALL)
    session = await Library(options).new("/")
    told: list[SessionEvent] = []
    session.subscribe(told.append)
    await said(session, 24)
    status = await session.ledger()
    assert len(status.state.observations) + len(status.state.dropped) >= 40
    assert status.state.reflections
    assert status.state.dropped
    assert [event for event in told if isinstance(event, Notice)] == []
    asked = [request.chat for request in vendor.chats if is_work(request.chat)]
    assert {tools for each in asked for tools in each.tools} == {
        "record_observations",
        "record_reflections",
        "drop_observations",
    }
    assert any(each.messages[-1].role == "tool" and "Added" in each.messages[-1].text for each in asked)
    await _is_whole(session)
    await session.close()


# -- what goes wrong on the wire ---------------------------------------------------------------------------------------


@pytest.fixture
def chat() -> Iterator[LoopbackVendor]:
    with LoopbackVendor("openai") as running:
        running.reply_with(both)
        yield running


@pytest.fixture
def notes() -> Iterator[LoopbackVendor]:
    with LoopbackVendor("openai") as running:
        yield running


def options_of(chat: LoopbackVendor, notes: LoopbackVendor, home: Path, **changes: Any) -> Options:
    """Chat with one server, and have the seats of the ledger at another."""
    seat = "notes/small"
    provider = Provider("notes", notes.api_base)
    fields: dict[str, Any] = {
        "x_budget": 200,
        "y_budget": 600,
        "embedding": "none",
        "ledger": SMALL,
        "providers": {"notes": provider},
        "observe": seat,
        "reflect": seat,
        "drop": seat,
        "idle_timeout": 1.0,
    }
    return chat.options(home, **(fields | changes))


def _refuses_tools(asked: Asked) -> Answer:
    return Failure(400, message="small does not support tools") if asked.tools else worker(asked)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda asked: Failure(401), "wants a key"),
        (lambda asked: Failure(404, "no_model"), "has no model"),
        (lambda asked: Failure(429, retry_after=7), "rate limit"),
        (lambda asked: Failure(500), "failed"),
        (lambda asked: Failure(400, "too_long"), "longer than"),
        (lambda asked: replace(worker(asked), ending="cut"), "before the reply was whole"),
        (lambda asked: replace(worker(asked), ending="garbled"), "not the JSON"),
        (lambda asked: Reply("I take no notes."), "something else than the notes"),
        (lambda asked: Reply("hm", hold_after=0), "has sent nothing"),
    ],
    ids=["401", "404", "429", "500", "too long", "cut", "garbled", "prose", "hangs"],
)
async def test_what_fails_on_the_wire_is_shown_once_and_costs_the_conversation_nothing(
    chat: LoopbackVendor, notes: LoopbackVendor, tmp_path: Path, answer: Callable[[Asked], Answer], reason: str
) -> None:
    notes.reply_with(answer)
    session = await Library(options_of(chat, notes, tmp_path)).new("/")
    told: list[SessionEvent] = []
    session.subscribe(told.append)
    await said(session, 12)
    notices = [event.text for event in told if isinstance(event, Notice)]
    assert len(notices) == 1
    assert notices[0].startswith(FAILED["observe"])
    assert reason in notices[0]
    assert (await session.ledger()).state.empty
    assert len(notes.chats) <= 9
    notes.reply_with(worker)
    number = 13
    while (await session.ledger()).state.empty:
        await said(session, 1, first=number)
        number += 1
    assert (await session.ledger()).errors == {}
    await _is_whole(session)
    await session.close()


async def test_a_server_that_refuses_tools_is_asked_in_text(
    chat: LoopbackVendor, notes: LoopbackVendor, tmp_path: Path
) -> None:
    notes.reply_with(_refuses_tools)
    session = await Library(options_of(chat, notes, tmp_path)).new("/")
    await said(session, 20)
    status = await session.ledger()
    assert len(status.state.observations) + len(status.state.dropped) >= 20
    assert status.errors == {}
    assert sum(bool(request.chat.tools) for request in notes.chats) == 1
    await session.close()


async def test_a_hanging_observer_costs_the_conversation_nothing(
    chat: LoopbackVendor, notes: LoopbackVendor, tmp_path: Path
) -> None:
    notes.reply_with(lambda asked: replace(worker(asked), hold_after=0))
    session = await Library(options_of(chat, notes, tmp_path, idle_timeout=60.0)).new("/")
    number = 0
    while not notes.chats:
        number += 1
        await session.send(sentence(number))
    held = await notes.holding()
    before = len(chat.chats)
    for more in range(1, 11):
        await session.send(sentence(number + more))
        assert len(chat.chats) == before + more
        assert held.holding.is_set()
    assert len(notes.chats) == 1
    notes.release()
    await session.drain()
    assert not (await session.ledger()).state.empty
    await _is_whole(session)
    await session.close()


# -- a long session ----------------------------------------------------------------------------------------------------

TURNS = 600


@pytest.mark.slow
async def test_six_hundred_turns_are_compacted_without_the_summarize_seat(
    chat: LoopbackVendor, notes: LoopbackVendor, tmp_path: Path
) -> None:
    notes.reply_with(worker)
    with LoopbackVendor("openai") as seat:
        changes: dict[str, Any] = {
            "compaction": "ledger",
            "summarize": "seat/large",
            "providers": {
                "notes": Provider("notes", notes.api_base),
                "seat": Provider("seat", seat.api_base),
            },
            "x_budget": 600,
            "y_budget": 2_400,
            "ledger": LedgerSettings(
                observe_after_tokens=400,
                reflect_after_tokens=1_500,
                observations_pool_max_tokens=1_200,
            ),
            "idle_timeout": 60.0,
        }
        session = await Library(options_of(chat, notes, tmp_path, **changes)).new("/")
        done: list[Compacted] = []
        session.subscribe(lambda event: done.append(event) if isinstance(event, Compacted) else None)
        for number in range(1, TURNS + 1):
            turn = await session.send(sentence(number))
            assert turn.error is None
        await session.drain()

        assert seat.requests == []
        assert len(done) >= 8
        assert {(each.compaction.mode, each.compaction.made_by) for each in done} == {("ledger", LEDGER)}
        assert sum(each.compaction.model_calls for each in done) == 0
        assert len([request for request in chat.chats if not is_work(request.chat)]) == TURNS
        status = await session.ledger()
        assert status.state.reflections
        assert status.state.dropped
        await _is_whole(session)
        for id in [bullet.id for bullet in status.shown]:
            assert (await session.recall_id(id)).events
        await session.close()


async def _is_whole(session: Session) -> None:
    """Every invariant holds, and every event stands raw or behind a live bullet."""
    memory = session._memory
    assert memory is not None
    report = await memory.run(verify, memory.store)
    assert report.ok, [check for check in report.checks if not check.ok]
    snapshot = await session.snapshot()
    reachable = {item.event.seq for item in (*snapshot.recent, *snapshot.overflow)}
    reachable.update(seq for bullet in snapshot.bullets for seq in bullet.seqs)
    assert reachable == {event.seq for event in await memory.run(memory.store.events, kinds=TIERED_KINDS)}
