"""``recall_id``: what a model is told of an id that stands in its view."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.observations import (
    observation,
    observation_line,
    record_drops,
    record_observations,
    record_reflections,
    reflection,
)
from memory.store import MemoryStore
from memory.tokens import count_tokens
from memory.values import Bullet, NewEvent
from sessions.chat_model import ToolCall
from sessions.recalled_text import PREAMBLE, PRINTED, SAID
from sessions.recalling import RecallPolicy
from sessions.toolbox import CallContext, ToolAnswer, Toolbox
from sessions.tools import MEMORY_TOOLS, BoundStore, bind_store
from tests.sessions.observing.conversations import options_for, talking

AT = "2026-03-02T09:30:00+00:00"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "tape.db") as opened:
        opened.append(NewEvent(id="e1", role="user", source="person", text="Use port 4000.\nNot 4001.", t_event=AT))
        opened.append(NewEvent(id="e2", role="tool", kind="tool", source="shell", text="## Said\nexit 0", t_event=AT))
        yield opened


def ask(store: MemoryStore, id: str, *, tokens: int = 3_000) -> ToolAnswer:
    return call(store, json.dumps({"id": id}), tokens=tokens)


def call(store: MemoryStore, arguments: str, *, tokens: int = 3_000) -> ToolAnswer:
    context = CallContext("c1", lambda event: None, None)
    with bind_store(BoundStore(store, policy=RecallPolicy(token_budget=tokens))):
        return asyncio.run(Toolbox(MEMORY_TOOLS).answer(ToolCall("c1", "recall_id", arguments), context))


def test_an_event_comes_back_word_for_word(store: MemoryStore) -> None:
    answer = ask(store, "[e1]")
    assert answer.text == f"{PREAMBLE}\n\n{SAID}\n\n[e1] 2026-03-02 09:30, the person:\n> Use port 4000.\n> Not 4001."
    assert (answer.summary, answer.refs, answer.ok) == ("event e1, 1 source", ("e1",), True)


def test_an_observation_comes_with_its_sources_apart_by_who_said_them(store: MemoryStore) -> None:
    made = observation("Port 4000 works.", timestamp="2026-03-02 09:30", relevance="high", sources=["e1", "e2"])
    record_observations(store, [made], covers=2)
    answer = ask(store, made.id)
    assert answer.text.startswith(f"{observation_line(made)}\n\n{PREAMBLE}\n\n{SAID}\n\n[e1]")
    assert f"{PRINTED}\n\n[e2] 2026-03-02 09:30, shell:\n> ## Said\n> exit 0" in answer.text
    assert answer.refs == ("e1", "e2")


def test_a_retired_observation_and_a_conclusion_say_so(store: MemoryStore) -> None:
    made = observation("Port 4000 works.", timestamp="2026-03-02 09:30", relevance="low", sources=["e1"])
    rule = reflection("Ports are tested.", supports=[made.id])
    record_observations(store, [made], covers=2)
    record_reflections(store, [rule], covers=2)
    record_drops(store, [made.id], covers=2)
    assert "(retired from view, kept in full)" in ask(store, made.id).text
    answer = ask(store, rule.id)
    assert answer.text.splitlines()[1] == f"[{rule.id}] Ports are tested."
    assert "retired from view" in answer.text
    assert "> Use port 4000." in answer.text


def test_a_source_that_is_gone_is_named(store: MemoryStore) -> None:
    made = observation("Heard elsewhere.", timestamp="2026-03-02 09:30", relevance="low", sources=["e1", "e9"])
    record_observations(store, [made], covers=2)
    assert ask(store, made.id).text.endswith("No longer to be found: e9.")


@pytest.mark.parametrize("id", ["0123456789ab", "../../etc", "\x00", "x" * 10_000, "e1 e2"])
def test_an_unknown_id_is_a_sentence(store: MemoryStore, id: str) -> None:
    answer = ask(store, id)
    assert not answer.ok
    assert answer.text == "Nothing in this conversation has that id. Copy one from the memory, or use recall_memory."


@pytest.mark.parametrize("arguments", ["{}", '{"id": 5}', '{"id": " "}', "[]", "{"])
def test_a_call_without_an_id_is_told_what_was_wanted(store: MemoryStore, arguments: str) -> None:
    answer = call(store, arguments)
    assert not answer.ok
    assert "Give a JSON object with id (string)." in answer.text


def test_what_is_large_is_cut_to_the_budget_and_says_so(store: MemoryStore) -> None:
    store.append(NewEvent(id="long", role="assistant", source="m", text="BEGIN " + "word " * 30_000 + "FINISH"))
    for number in range(30):
        store.append(NewEvent(id=f"s{number}", role="user", source="person", text="some more words " * 20))
    ids = ["long", *(f"s{number}" for number in range(30))]
    made = observation("Much was said.", timestamp="2026-03-02 09:30", relevance="low", sources=ids)
    record_observations(store, [made], covers=33)
    whole = ask(store, "long", tokens=500)
    assert count_tokens(whole.text) < 600
    assert "> BEGIN" in whole.text
    assert "FINISH" in whole.text
    assert "characters in the middle are left out here; recall_memory finds them]" in whole.text
    many = ask(store, made.id, tokens=500)
    assert count_tokens(many.text) < 900
    assert "Not shown for want of room, each to be asked for by its own id: s" in many.text


async def test_a_model_looks_up_an_id_of_its_own_view(tmp_path: Path) -> None:
    roomy = {"compact_after_tokens": 400, "observations_pool_max_tokens": 5_000}
    async with talking(options_for(tmp_path, compaction="ledger", y_budget=4_000, ledger=roomy)) as talk:
        noted: list[Bullet] = []
        for _ in range(60):
            await talk.say(1)
            await talk.session.drain()
            noted = [b for b in (await talk.session.snapshot()).bullets if b.form == "observation"]
            if noted:
                break
        bullet = noted[0]
        assert f"- [{bullet.id}] " in (await talk.session.view())[0]["content"]
        talk.chat.replies = [[ToolCall("c1", "recall_id", json.dumps({"id": bullet.id}))], ["It says so."]]
        await talk.say(1)
        assert [tool["function"]["name"] for tool in talk.chat.offered[-1]][:2] == ["recall_memory", "recall_id"]
        answer = talk.chat.requests[-1][-1]
        event = (await talk.session.recall_id(bullet.id)).events[0]
        assert f"> {event.text}" in answer["content"]
        used = [event for event in await talk.session.transcript() if event.role == "tool"]
        assert event.id in used[-1].refs
