"""Compaction by what the ledger holds: without a model where it covers, with one for the rest, and never in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory.ledger_compaction import LEDGER
from memory.tokens import count_tokens
from memory.values import RECORD_FORMS, CompactionMode
from sessions import compactor
from sessions.events import Compacted, Compacting, ObservingProgress
from sessions.observing.status import full_view, view_diff
from tests.sessions.observing.conversations import Talk, options_for, sentence, talking
from tests.sessions.observing.note_takers import NoteTaker, Request, Step, call, dutiful, note
from tests.sessions.scripted_model import ScriptedModel


def compactions(talk: Talk) -> list[Compacted]:
    return [event for event in talk.heard if isinstance(event, Compacted)]


async def test_in_ledger_mode_the_seat_is_never_asked(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path, compaction="ledger")) as talk:
        await talk.say(120)
        assert talk.chat.prompts == []
        done = [event.compaction for event in compactions(talk)]
        assert len(done) >= 8
        assert {(each.made_by, each.model_calls, each.mode) for each in done} == {(LEDGER, 0, "ledger")}
        assert {event.made_by for event in talk.heard if isinstance(event, Compacting)} == {LEDGER}
        bullets = (await talk.session.snapshot()).bullets
        assert any(bullet.form in RECORD_FORMS for bullet in bullets)
        await talk.check()


async def test_with_an_empty_ledger_the_seat_is_asked(tmp_path: Path) -> None:
    modes: tuple[CompactionMode, ...] = ("ledger", "auto", "summarize")
    for mode in modes:
        options = options_for(tmp_path / mode, compaction=mode, ledger={"passive": True})
        async with talking(options) as talk:
            await talk.say(40)
            assert talk.chat.prompts
            assert {event.compaction.mode for event in compactions(talk)} == {"summarize"}
            await talk.check()


async def test_in_auto_mode_the_seat_reads_only_what_the_ledger_does_not_cover(tmp_path: Path) -> None:
    def replies_only(request: Request) -> Sequence[Step]:
        """Notes on every second entry: what the person says and every other reply stay uncovered."""
        if request.is_answered or request.stage != "observe":
            return [""] if request.is_answered else dutiful(request)
        return [
            call("record_observations", observations=[note(f"On {id}.", id) for id in request.entries[1::4]]),
        ]

    async with talking(options_for(tmp_path), NoteTaker(replies_only)) as talk:
        await talk.say(80)
        assert talk.chat.prompts
        state = await talk.state()
        noted = {id for made in (*state.observations.values(), *state.dropped.values()) for id in made.sources}
        texts = {event.text for event in await talk.session.transcript(limit=1_000) if event.id in noted}
        assert texts
        assert not any(text in prompt for text in texts for prompt in talk.chat.prompts[1:])
        assert not any("please keep port" in prompt for prompt in talk.chat.prompts)
        await talk.check()


async def test_a_compaction_waits_for_notes_that_are_being_taken_of_it(tmp_path: Path) -> None:
    gate = asyncio.Event()
    notes = NoteTaker(lambda request: [gate, *dutiful(request)])
    async with talking(options_for(tmp_path, compaction="ledger"), notes) as talk:
        while not (await talk.session.snapshot()).y_tokens > 600:
            await talk.say(1, settle=False)
        assert talk.chat.prompts == []
        assert compactions(talk) == []
        gate.set()
        await talk.session.drain()
        assert talk.chat.prompts == []
        assert compactions(talk)
        await talk.check()


async def test_it_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compactor.Compactor.__init__, "__kwdefaults__", {"patience": 0.01})
    notes = NoteTaker(lambda request: [asyncio.Event()])
    async with talking(options_for(tmp_path, compaction="ledger"), notes) as talk:
        while not compactions(talk):
            await talk.say(1, settle=False)
            await talk.session._background.compactor.drain()  # type: ignore[union-attr]
        assert talk.chat.prompts
        await talk.check()


async def test_a_compaction_by_hand_does_not_wait(tmp_path: Path) -> None:
    notes = NoteTaker(lambda request: [asyncio.Event()])
    async with talking(options_for(tmp_path), notes) as talk:
        while not notes.requests or not (await talk.session.snapshot()).overflow:
            await talk.say(1, settle=False)
        done = await talk.session.compact_now()
        assert done is not None
        assert done.mode == "summarize"


async def test_enough_raw_text_is_compacted_ahead_of_need_where_the_ledger_covers_it(tmp_path: Path) -> None:
    ledger = {"compact_after_tokens": 450}
    options = options_for(tmp_path, y_budget=20_000, ledger=ledger)
    async with talking(options) as talk:
        await talk.say(60)
        done = [event.compaction for event in compactions(talk)]
        assert len(done) > 2
        assert all(each.tokens_before < 20_000 for each in done)
        assert {each.mode for each in done} == {"auto"}
        assert talk.chat.prompts == []
        await talk.check()


async def test_nothing_is_compacted_ahead_of_need_that_would_take_a_model(tmp_path: Path) -> None:
    options = options_for(tmp_path, y_budget=20_000, ledger={"compact_after_tokens": 450, "passive": True})
    async with talking(options) as talk:
        await talk.say(40)
        assert compactions(talk) == []


async def test_the_view_is_told_apart_from_the_ledgers_truth(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path, compaction="ledger", x_budget=400, y_budget=4_000)) as talk:
        await talk.say(150)
        status = (await talk.session.status()).ledger
        drift = status.drift
        assert drift.observations_to_come
        lines = view_diff(status)
        signs = {line.id: line.sign for line in lines}
        assert [id for id, sign in signs.items() if sign == "-"] == list(drift.observations_gone)
        assert {id for id, sign in signs.items() if sign == "+"} == {
            *drift.observations_to_come,
            *drift.reflections_to_come,
        }
        assert {line.id for line in lines if line.sign != "-"} == {line.id for line in full_view(status.state)}
        assert status.pool.tokens > 0
        assert all("\n" not in line.text for line in lines)


# -- never in the way ------------------------------------------------------------------------------------------------


async def test_a_stuck_observer_never_delays_a_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()
    notes = NoteTaker(lambda request: [gate, *dutiful(request)])
    async with talking(options_for(tmp_path), notes) as talk:
        while not notes.requests:
            await talk.say(1, settle=False)
        asked = len(talk.chat.requests)
        for turn in range(1, 41):
            # The chat request leaves and its reply is on the tape while the observer has not got a word.
            await talk.say(1, settle=False)
            assert len(talk.chat.requests) == asked + turn
            assert not gate.is_set()
            assert len(notes.requests) == 1
        assert (await talk.session.ledger()).running == "observe"
        snapshot = await talk.session.snapshot()
        # Meanwhile the view stays within its budgets all the same.
        assert sum(len(str(message["content"])) for message in await talk.session.view()) < 8 * 800
        assert snapshot.x_tokens <= 200
        gate.set()
        await talk.session.drain()
        assert not (await talk.state()).empty
        await talk.check()


async def test_on_this_machine_an_observer_makes_way_for_the_reply(tmp_path: Path) -> None:
    gate = asyncio.Event()
    notes = NoteTaker(lambda request: [gate, *dutiful(request)], name="ollama/notes")
    chat = ScriptedModel(name="ollama/chat")
    seats: dict[str, Any] = {"chat": chat.name, "observe": notes.name, "reflect": notes.name, "drop": notes.name}
    async with talking(options_for(tmp_path, **seats), notes, chat) as talk:
        await talk.say(8, settle=False)
        while len(notes.requests) == notes.dropped:
            await talk.session.ledger()
        before = notes.dropped
        dropped_when_asked: list[int] = []
        chat.on_request = lambda: dropped_when_asked.append(notes.dropped)
        await talk.say(1, settle=False)
        assert dropped_when_asked == [before + 1]
        assert "stopped" in [event.state for event in talk.heard if isinstance(event, ObservingProgress)]
        gate.set()
        await talk.session.drain()
        assert not (await talk.state()).empty
        await talk.check()


async def test_elsewhere_an_observer_goes_on_beside_the_reply(tmp_path: Path) -> None:
    gate = asyncio.Event()
    notes = NoteTaker(lambda request: [gate, *dutiful(request)])
    async with talking(options_for(tmp_path), notes) as talk:
        while not notes.requests:
            await talk.say(1, settle=False)
        await talk.say(3, settle=False)
        assert notes.dropped == 0
        gate.set()


async def test_an_observer_that_is_stuck_at_the_end_does_not_keep_a_session_from_closing(tmp_path: Path) -> None:
    notes = NoteTaker(lambda request: [asyncio.Event()])
    async with talking(options_for(tmp_path), notes) as talk:
        while not notes.requests:
            await talk.say(1, settle=False)
        await talk.session.close()
    async with talking(options_for(tmp_path, ledger={"passive": True}), id=talk.session.id) as again:
        assert (await again.session.transcript())[-2].text == sentence((await again.session.snapshot()).turns)
        await again.check()


async def test_a_prompt_holds_only_so_much_however_large_the_memory_is(tmp_path: Path) -> None:
    options = options_for(
        tmp_path,
        ledger={
            "observations_pool_target_tokens": None,
            "observations_pool_max_tokens": 10**6,
            "observer_chunk_max_tokens": 600,
        },
    )
    chat = ScriptedModel()
    async with talking(options, chat=chat) as talk:
        await talk.say(150)
        assert (await talk.state()).pool_tokens > 3_000
        prompts = [request.messages[1]["content"] for request in talk.notes.requests]
        assert max(count_tokens(prompt) for prompt in prompts) <= 600 + 60
        assert any("more are not shown here" in prompt for prompt in prompts)
        await talk.check()
