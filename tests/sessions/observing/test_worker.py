"""Notes, conclusions and drops behind a conversation: when they are made, and what becomes of what goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from threading import Event as Flag

import pytest

from memory.errors import StoreUnavailable
from memory.observations import REFLECTIONS
from memory.values import RecallResult
from sessions.chat_model import ChatModel, ModelError
from sessions.events import LedgerChanged, ObservingProgress
from sessions.library import Library
from sessions.live import LiveMemory
from sessions.models import OpenModel, Recall, open_model
from sessions.observing.agent import Agent
from sessions.observing.worker import FAILED
from sessions.options import Options
from sessions.seats import Seats
from tests.sessions.observing.conversations import options_for, talking
from tests.sessions.observing.note_takers import NOTES, NoteTaker, Request, Step, as_text, call, dutiful, note
from tests.sessions.scripted_model import ScriptedModel


async def test_notes_are_taken_of_the_oldest_text_once_enough_has_come(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(1)
        assert talk.notes.requests == []
        while not talk.notes.requests:
            await talk.say(1)
        state = await talk.state()
        events = await talk.session.transcript(limit=1_000)
        assert [made.sources for made in state.observations.values()] == [(event.id,) for event in events]
        assert state.observed_through == events[-1].seq
        progress = [event.state for event in talk.heard if isinstance(event, ObservingProgress)]
        assert progress == ["running", "done"]
        (changed,) = [event for event in talk.heard if isinstance(event, LedgerChanged)]
        assert changed.observations == len(events)
        await talk.check()


async def test_the_three_work_one_after_the_other_and_the_ledger_stays_small(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(60)
        state = await talk.state()
        stages = [request.stage for request in talk.notes.requests if not request.is_answered]
        assert {"observe", "reflect", "drop"} == set(stages)
        assert all(stages[place - 1] == "reflect" for place, stage in enumerate(stages) if stage == "drop")
        assert len(state.observations) + len(state.dropped) > 100
        assert state.reflections
        assert state.dropped
        covered = {id for made in state.reflections.values() for id in made.supports}
        assert set(state.dropped) <= covered
        await talk.check()


async def test_what_the_workers_take_is_counted(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(20)
        spent = (await talk.session.ledger()).spent
        count = len(talk.notes.requests)
        assert count > 2
        assert (spent.requests, spent.prompt_tokens, spent.completion_tokens) == (count, 50 * count, 10 * count)
        assert spent.cost == 0.0


async def test_how_long_a_reply_may_be_does_not_cut_notes_short(tmp_path: Path) -> None:
    opened: list[Options] = []
    chat, notes = ScriptedModel(), NoteTaker()

    def open_model(name: str, options: Options, *, recall: Recall | None = None) -> ChatModel:
        opened.append(options)
        return notes if name == NOTES else chat

    options = options_for(tmp_path, observe=None, max_output_tokens=100, temperature=1.5)
    seats = Seats(options, open_model, recall=_nothing_to_recall)
    assert seats.of("observe") is chat
    assert seats.of("reflect") is notes
    assert [(made.max_output_tokens, made.temperature) for made in opened] == [(100, 1.5), (None, None), (None, None)]


async def _nothing_to_recall(question: str) -> RecallResult:
    return RecallResult("recency", 0, ())


async def test_what_was_dropped_is_recalled_with_its_exact_words(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(40)
        made = next(iter((await talk.state()).dropped.values()))
        found = await talk.session.recall_id(made.id)
        assert found.found_as == "observation"
        assert made.id in found.dropped
        assert [event.id for event in found.events] == list(made.sources)


async def test_a_model_without_tools_keeps_the_ledger_by_text(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path), NoteTaker(as_text)) as talk:
        await talk.say(30)
        state = await talk.state()
        assert len(state.observations) + len(state.dropped) > 40
        assert state.reflections
        assert [request.tool is not None for request in talk.notes.requests].count(True) == 1
        assert talk.notices == []
        await talk.check()


# -- what goes wrong -------------------------------------------------------------------------------------------------


async def test_a_failure_is_shown_once_until_it_works_again(tmp_path: Path) -> None:
    broken = True

    def behave(request: Request) -> Sequence[Step]:
        return [ModelError("The key was refused.", "auth")] if broken else dutiful(request)

    async with talking(options_for(tmp_path), NoteTaker(behave)) as talk:
        await talk.say(40)
        failed = len(talk.notes.requests)
        assert 2 <= failed < 10
        assert talk.notices == [f"{FAILED['observe']} The key was refused."]
        assert (await talk.session.ledger()).errors == {"observe": "The key was refused."}
        assert (await talk.state()).empty
        broken = False
        while (await talk.state()).empty:
            await talk.say(1)
        assert (await talk.session.ledger()).errors == {}
        broken = True
        while len(talk.notices) < 2:
            await talk.say(1)
        assert talk.notices[1] == talk.notices[0]
        await talk.check()


async def test_another_model_is_asked_at_once(tmp_path: Path) -> None:
    notes = NoteTaker(lambda request: [ModelError("Not now.", "rate")])
    async with talking(options_for(tmp_path), notes) as talk:
        while not notes.requests:
            await talk.say(1)
        notes.behave = dutiful
        asked = len(notes.requests)
        await talk.say(1)
        assert len(notes.requests) == asked
        await talk.session.set_model("test/scripted")
        await talk.session.drain()
        assert not (await talk.state()).empty


@pytest.mark.parametrize(
    "garbage",
    [
        ["I am a teapot."],
        [call("record_observations", observations="none")],
        [call("record_observations", observations=[{"content": "no source"}])],
        [call("record_observations", observations=[note("Made up.", "ffffffffffff", "0123456789ab")])],
        ['{"observations": [{"content": 5}]}'],
        ["[" * 50_000],
        [],
    ],
    ids=["prose", "no list", "no source", "hallucinated", "json of wrong types", "brackets", "silence"],
)
async def test_garbage_is_shown_once_and_changes_nothing(tmp_path: Path, garbage: list[Step]) -> None:
    def behave(request: Request) -> Sequence[Step]:
        return ["done"] if request.is_answered else garbage

    async with talking(options_for(tmp_path, ledger={"agent_max_turns": 3}), NoteTaker(behave)) as talk:
        await talk.say(30)
        assert len(talk.notices) == 1
        assert talk.notices[0].startswith(FAILED["observe"])
        assert len(talk.notes.requests) < 30
        assert (await talk.state()).empty
        await talk.check()


async def test_hallucinated_sources_cost_only_their_own_notes(tmp_path: Path) -> None:
    def behave(request: Request) -> Sequence[Step]:
        if request.is_answered:
            return [""]
        notes = [note(f"True of {id}.", id) for id in request.entries]
        return [call("record_observations", observations=[*notes, note("Made up.", "ffffffffffff")])]

    async with talking(options_for(tmp_path, ledger={"reflect_after_tokens": 10**6}), NoteTaker(behave)) as talk:
        await talk.say(20)
        state = await talk.state()
        ids = {event.id for event in await talk.session.transcript(limit=1_000)}
        assert state.observations
        assert all(set(made.sources) <= ids for made in state.observations.values())
        assert talk.notices == []
        await talk.check()


async def test_the_same_notes_again_are_recorded_once(tmp_path: Path) -> None:
    def behave(request: Request) -> Sequence[Step]:
        if request.is_answered:
            return [""]
        return [call("record_observations", observations=[note("The person moves services.", request.entries[0])] * 3)]

    async with talking(options_for(tmp_path, ledger={"reflect_after_tokens": 10**6}), NoteTaker(behave)) as talk:
        await talk.say(40)
        assert len((await talk.state()).observations) == 1
        assert talk.notices == []
        await talk.check()


async def test_a_reflection_that_cites_what_was_dropped_is_not_recorded(tmp_path: Path) -> None:
    gone: list[str] = []

    def behave(request: Request) -> Sequence[Step]:
        if request.stage == "reflect" and not request.is_answered and gone:
            return [call("record_reflections", reflections=[{"content": "On the gone.", "supports": gone[:1]}])]
        return dutiful(request)

    async with talking(options_for(tmp_path), NoteTaker(behave)) as talk:
        while not (await talk.state()).dropped:
            await talk.say(1)
        gone += (await talk.state()).dropped
        before = set((await talk.state()).reflections)
        await talk.say(30)
        assert set((await talk.state()).reflections) == before
        assert [notice.startswith(FAILED["reflect"]) for notice in talk.notices] == [True]
        receipts = [request.text for request in talk.notes.of("reflect") if request.is_answered]
        assert any("has been retired" in receipt for receipt in receipts)
        await talk.check()


async def test_an_empty_run_records_nothing_and_waits_for_more_text(tmp_path: Path) -> None:
    def behave(request: Request) -> Sequence[Step]:
        return ["done"] if request.is_answered else [call("record_observations", observations=[])]

    async with talking(options_for(tmp_path), NoteTaker(behave)) as talk:
        await talk.say(40)
        status = await talk.session.ledger()
        runs = len([request for request in talk.notes.requests if not request.is_answered])
        threshold = status.observe.threshold
        assert 2 <= runs <= status.observe.tokens // threshold
        assert status.state.empty
        assert status.state.observed_through == 0
        assert talk.notices == []
        progress = {event.state for event in talk.heard if isinstance(event, ObservingProgress)}
        assert progress == {"running", "nothing"}
        await talk.check()


async def test_text_without_anything_to_note_does_not_block_what_comes_after(tmp_path: Path) -> None:
    first: list[str] = []

    def behave(request: Request) -> Sequence[Step]:
        if request.is_answered:
            return ["done"]
        if not first:
            first.extend(request.entries)
        worthy = [id for id in request.entries if id not in first]
        return [call("record_observations", observations=[note(f"On {id}.", id) for id in worthy])]

    ledger = {"observer_chunk_max_tokens": 300, "observe_after_tokens": 300, "reflect_after_tokens": 10**6}
    async with talking(options_for(tmp_path, ledger=ledger), NoteTaker(behave)) as talk:
        while (await talk.state()).empty:
            await talk.say(1)
            assert len(talk.notes.requests) < 20
        sources = {id for made in (await talk.state()).observations.values() for id in made.sources}
        assert not sources.intersection(first)
        await talk.check()


async def test_what_was_noted_before_a_failure_is_kept_and_covers_no_more_than_it_speaks_of(tmp_path: Path) -> None:
    broken = True

    def behave(request: Request) -> Sequence[Step]:
        if not broken:
            return dutiful(request)
        if request.is_answered:
            return [ModelError("The connection broke.", "other")]
        return [call("record_observations", observations=[note("The first entry.", request.entries[0])])]

    async with talking(options_for(tmp_path), NoteTaker(behave)) as talk:
        while not talk.notices:
            await talk.say(1)
        state = await talk.state()
        events = await talk.session.transcript(limit=1_000)
        assert [made.content for made in state.observations.values()] == ["The first entry."]
        assert state.observed_through == events[0].seq
        assert talk.notices == [f"{FAILED['observe']} The connection broke."]
        broken = False
        while len((await talk.state()).observations) == 1:
            await talk.say(1)
        state = await talk.state()
        noted = {id for made in (*state.observations.values(), *state.dropped.values()) for id in made.sources}
        assert {event.id for event in events} <= noted
        await talk.check()


async def test_a_ledger_that_cannot_be_written_is_told_and_nothing_else_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(options_for(tmp_path)) as talk:
        memory = talk.session._memory
        assert memory is None

        def full(*_: object, **__: object) -> None:
            raise StoreUnavailable("The disk is full. Make room.")

        monkeypatch.setattr("sessions.observing.stages.record_observations", full)
        await talk.say(30)
        assert talk.notices == [f"{FAILED['observe']} The disk is full. Make room."]
        assert (await talk.state()).empty
        monkeypatch.undo()
        while (await talk.state()).empty:
            await talk.say(1)
        await talk.check()


async def test_a_model_that_breaks_in_its_own_way_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such thing")

    async with talking(options_for(tmp_path)) as talk:
        monkeypatch.setattr(Agent, "run", broken)
        await talk.say(20)
        assert talk.notices == [f"{FAILED['observe']} Its model failed: RuntimeError('no such thing')."]
        await talk.check()


async def test_a_seat_whose_name_makes_no_sense_is_told_once(tmp_path: Path) -> None:
    chat = ScriptedModel()

    def opened(name: str, options: object, *, recall: object = None) -> object:
        return chat if name == chat.name else open_model(name, options)  # type: ignore[arg-type]

    as_open_model: OpenModel = opened  # type: ignore[assignment]
    session = await Library(options_for(tmp_path, observe="nonsense/"), open_model=as_open_model).new("/")
    told: list[object] = []
    session.subscribe(told.append)
    for number in range(20):
        await session.send(f"Please remember that shelf {number} holds part {number * 7} of the kit.")
        await session.drain()
    assert sum("Notes of the conversation cannot be taken" in str(event) for event in told) == 1
    assert (await session.ledger()).asleep
    await session.close()


# -- cut short -------------------------------------------------------------------------------------------------------


async def test_a_worker_that_is_cancelled_leaves_nothing_and_begins_again(tmp_path: Path) -> None:
    gate = asyncio.Event()
    notes = NoteTaker(lambda request: [*dutiful(request), gate])
    async with talking(options_for(tmp_path), notes) as talk:
        while not notes.requests:
            await talk.say(1, settle=False)
            await asyncio.sleep(0)
        id, first = talk.session.id, notes.requests[0].entries
    async with talking(options_for(tmp_path), id=id) as again:
        await again.session.drain()
        state = await again.state()
        assert again.notes.requests[0].entries[: len(first)] == first
        assert len(state.observations) == len(again.notes.requests[0].entries)
        await again.check()


async def test_a_worker_that_is_cancelled_while_it_reads_the_tape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = Flag(), Flag()
    real = LiveMemory.read

    async def slow(self: LiveMemory, work: object, *args: object) -> object:
        def held() -> object:
            reading.set()
            go_on.wait(30)
            return work(*args)  # type: ignore[operator]

        return await real(self, held)

    async with talking(options_for(tmp_path)) as talk:
        await talk.say(1)
        monkeypatch.setattr(LiveMemory, "read", slow)
        await talk.say(1, settle=False)
        assert await asyncio.to_thread(reading.wait, 30)
        closing = asyncio.create_task(talk.session.close())
        await asyncio.sleep(0)
        go_on.set()
        await closing


# -- left alone ------------------------------------------------------------------------------------------------------


async def test_passive_stops_all_that_nobody_asked_for_but_recall_and_status_go_on(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(20)
        id, made = talk.session.id, next(iter((await talk.state()).observations.values()))
    async with talking(options_for(tmp_path, ledger={"passive": True, "compact_after_tokens": 1}), id=id) as talk:
        await talk.say(30)
        assert talk.notes.requests == []
        status = await talk.session.ledger()
        assert status.passive
        assert status.observe.due
        found = await talk.session.recall_id(made.id)
        assert [event.id for event in found.events] == list(made.sources)
        assert (await talk.session.recall("Which port does service 3 move to?")).items
        assert (await talk.session.snapshot()).y_tokens <= 600
        await talk.check()


async def test_the_offline_model_takes_no_notes(tmp_path: Path) -> None:
    options = options_for(tmp_path, chat="offline", observe=None, reflect=None, drop=None)
    session = await Library(options).new("/")
    for number in range(12):
        await session.send(f"Shelf {number} holds part {number * 7} of the kit, and the label is green.")
    await session.drain()
    status = await session.ledger()
    assert status.observe.due
    assert status.state.empty
    assert status.errors == {}
    assert status.asleep is not None
    await session.close()


async def test_a_session_that_is_only_looked_at_is_left_alone(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(20)
        async with talking(options_for(tmp_path), id=talk.session.id) as second:
            assert second.session.read_only
            await second.session.drain()
            status = await second.session.ledger()
            assert status.state == await talk.state()
            assert status.asleep is not None
            assert second.notes.requests == []
            # What the first one writes meanwhile is seen by the second.
            seen = len(status.state.observations)
            while len((await talk.state()).observations) == seen:
                await talk.say(1)
            assert await second.state() == await talk.state()


async def test_a_session_in_which_nothing_was_said_has_an_empty_ledger(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path, ledger={"passive": True})) as talk:
        status = (await talk.session.status()).ledger
        assert status.state.empty
        assert (status.observe.left, status.reflect.left, status.passive) == (150, 300, True)
        assert not tmp_path.joinpath("memory").exists()


async def test_progress_is_told_only_where_it_is_wanted(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path, ledger={"show_worker_notifications": False})) as talk:
        await talk.say(20)
        assert not any(isinstance(event, ObservingProgress) for event in talk.heard)
        assert any(isinstance(event, LedgerChanged) for event in talk.heard)


async def test_what_was_compacted_before_the_ledger_was_kept_is_not_read_again(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path, compaction="summarize", ledger={"passive": True})) as talk:
        await talk.say(40)
        assert (await talk.session.snapshot()).generation > 2
        id = talk.session.id
    async with talking(options_for(tmp_path), id=id) as talk:
        raw = [*(await talk.session.snapshot()).overflow, *(await talk.session.snapshot()).recent]
        await talk.session.drain()
        assert talk.notes.requests[0].entries[0] == raw[0].event.id
        await talk.check()


async def test_a_fork_takes_along_the_ledger_of_its_own_branch_only(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(20)
        before = await talk.state()
        cut = (await talk.session.transcript())[-1].seq
        await talk.say(20)
        row = await Library(options_for(tmp_path)).fork(talk.session.id, cut)
        after = await talk.state()
    async with talking(options_for(tmp_path, ledger={"passive": True}), id=row.id) as fork:
        assert await fork.state() == before != after
        await fork.check()


async def test_reflections_wait_for_observations_that_are_new_to_them(tmp_path: Path) -> None:
    def behave(request: Request) -> Sequence[Step]:
        if request.stage == "observe" and len(request.observations) > 10 and not request.is_answered:
            return [ModelError("Not now.", "rate")]
        return dutiful(request)

    async with talking(
        options_for(tmp_path, ledger={"observations_pool_target_tokens": 900}), NoteTaker(behave)
    ) as talk:
        await talk.say(60)
        memory = talk.session._memory
        assert memory is not None
        entries = await memory.run(memory.store.ledger, "message", REFLECTIONS)
        assert len(entries) >= 1
        assert len({entry.data["covers"] for entry in entries}) == len(entries)
        runs = [request for request in talk.notes.of("reflect") if not request.is_answered]
        assert len(runs) == len(entries)
