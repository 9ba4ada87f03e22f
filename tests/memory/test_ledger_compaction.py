"""Compaction by the ledger: what its bullets are, what it asks a model, and that nothing loses its way back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import tier_ledger
from memory.fitting import BULLETS_SHARE
from memory.ledger_compaction import LEDGER
from memory.ledger_fold import read_state
from memory.observations import (
    OBSERVATIONS,
    Observation,
    observation_text,
    record_drops,
    record_observations,
    record_reflections,
)
from memory.queue import TieredQueue
from memory.rebuild import fill_tiers, rebuild
from memory.render import line_of
from memory.store import CONVERSATION, MemoryStore
from memory.values import TIERED_KINDS, Bullet, Compaction, CompactionMode, NewEvent
from memory.verify import verify
from tests.memory.conversations import answered, said, turns
from tests.memory.ledgers import concluded, observed
from tests.memory.summarizers import Summarizer, honest, raises


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "tape.db") as opened:
        yield opened


def queue_of(store: MemoryStore, mode: CompactionMode = "ledger", **options: object) -> TieredQueue:
    defaults: dict[str, object] = {"x_budget": 200, "y_budget": 4_000, "auto_compact": False, "summarize": honest}
    return TieredQueue(store, mode=mode, **(defaults | options))  # type: ignore[arg-type]


def talk(queue: TieredQueue, count: int, *, first: int = 0) -> None:
    for event in turns(count, first=first):
        queue.append(event)


def observe_all(store: MemoryStore, *, relevance: str = "medium") -> list[Observation]:
    """One observation for each answer that is new."""
    events = store.events(after=read_state(store).observed_through, kinds=TIERED_KINDS)
    made = [
        observed(f"Service {event.id[1:]} was moved.", event.id, relevance=relevance)
        for event in events
        if event.role == "assistant"
    ]
    record_observations(store, made, covers=max((event.seq for event in events), default=1))
    return made


def compact(queue: TieredQueue, summarize: Summarizer = honest) -> Compaction:
    plan = queue.plan_compaction()
    assert plan is not None
    done = queue.apply_compaction(plan, [summarize(prompt) for prompt in plan.prompts], made_by="model")
    assert done is not None
    assert_sound(queue.store)
    return done


def assert_sound(store: MemoryStore) -> None:
    report = verify(store)
    assert report.ok, [check for check in report.checks if not check.ok]


def of_form(queue: TieredQueue, form: str) -> list[Bullet]:
    return [bullet for bullet in queue.bullets if bullet.form == form]


# -- the modes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ledger", "auto"])
def test_with_an_empty_ledger_every_mode_asks_the_summariser_as_ever(tmp_path: Path, mode: CompactionMode) -> None:
    views = []
    modes: list[CompactionMode] = ["summarize", mode]
    for one in modes:
        with MemoryStore(tmp_path / f"{one}.db") as store:
            queue = queue_of(store, one)
            talk(queue, 30)
            done = compact(queue)
            assert (done.mode, done.model_calls, done.full_fold) == ("summarize", 1, False)
            views.append([line_of(bullet) for bullet in queue.bullets])
    assert views[0] == views[1]


@pytest.mark.parametrize("mode", ["ledger", "auto"])
def test_a_ledger_that_covers_everything_is_folded_without_a_model(store: MemoryStore, mode: CompactionMode) -> None:
    queue = queue_of(store, mode, summarize=None)
    talk(queue, 30)
    made = {one.id: one for one in observe_all(store)}
    plan = queue.plan_compaction()
    assert plan is not None
    assert plan.prompts == ()
    done = queue.compact()
    assert done is not None
    assert (done.mode, done.made_by, done.model_calls, done.uncited) == (mode, LEDGER, 0, 0)
    bullets = of_form(queue, "observation")
    assert len(bullets) > 10
    for bullet in bullets:
        one = made[bullet.id]
        assert bullet.text == observation_text(one)
        assert bullet.seqs == tuple(store.numbers_of(one.sources).values())
        assert line_of(bullet).startswith(f"- [{one.id}] {one.timestamp} [medium] ")
    assert_sound(store)


def test_by_the_ledger_an_item_that_no_record_cites_keeps_an_excerpt_of_itself(store: MemoryStore) -> None:
    queue = queue_of(store)
    talk(queue, 30)
    record_observations(store, [observed("Service 2 was moved.", "a2")], covers=60)
    plan = queue.plan_compaction()
    assert plan is not None
    assert plan.prompts == ()
    done = compact(queue)
    excerpts = of_form(queue, "excerpt") + [b for b in queue.bullets if b.form == "whole" and not b.protected]
    compacted = {event.seq for event in store.events(before=done.through + 1) if event.role == "assistant"}
    cited = set(store.numbers_of(["a2"]).values())
    assert {bullet.seqs[0] for bullet in excerpts} == compacted - cited
    assert done.uncited == len(excerpts)
    assert (done.mode, done.made_by) == ("ledger", LEDGER)


def test_auto_asks_the_summariser_for_the_items_that_no_record_cites_and_for_nothing_else(store: MemoryStore) -> None:
    queue = queue_of(store, "auto", y_budget=40_000)
    talk(queue, 30)
    record_observations(store, [observed(f"Service {n} was moved.", f"a{n}") for n in range(10)], covers=60)
    first = queue.plan_compaction()
    assert first is not None
    asked = {item.source.event.id for batch in first.batches for item in batch.items if hasattr(item.source, "event")}
    assert asked
    assert not asked & {f"a{n}" for n in range(10)}
    done = compact(queue)
    assert (done.mode, done.made_by, done.model_calls) == ("auto", "model", 1)
    summaries = of_form(queue, "summary")
    assert summaries

    talk(queue, 30, first=30)
    second = queue.plan_compaction()
    assert second is not None
    read = [item.source for batch in second.batches for item in batch.items]
    assert not [source for source in read if isinstance(source, Bullet)]
    compact(queue)
    assert set(summaries) <= set(of_form(queue, "summary"))


def test_a_summariser_that_fails_in_auto_costs_the_uncovered_items_their_summary_and_nothing_else(
    store: MemoryStore,
) -> None:
    queue = queue_of(store, "auto", summarize=raises)
    talk(queue, 30)
    record_observations(store, [observed(f"Service {n} was moved.", f"a{n}") for n in range(10)], covers=60)
    done = queue.compact()
    assert done is not None
    assert done.made_by == LEDGER
    assert done.failure is not None
    assert "holiday" in done.failure
    assert len(of_form(queue, "observation")) == 10
    assert_sound(store)


def test_what_the_person_said_stays_word_for_word_beside_the_records(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=2_000)
    demand = "You must never deploy on a Friday, not even a hotfix."
    queue.append(said(900, demand))
    queue.append(answered(900, "Understood."))
    for start in range(0, 300, 30):
        talk(queue, 30, first=start)
        observe_all(store)
        compact(queue)
    assert any(bullet.protected and demand in bullet.text for bullet in queue.bullets)
    assert queue.generation == 10


def test_at_the_hard_ceiling_the_ledger_is_folded_too(store: MemoryStore) -> None:
    queue = queue_of(store, "auto", y_budget=600)
    done: list[Compaction] = []
    queue.on_compaction = done.append
    for number in range(60):
        talk(queue, 1, first=number)
        observe_all(store)
    assert {(one.made_by, one.mode) for one in done} == {(LEDGER, "auto")}
    assert of_form(queue, "observation")
    assert_sound(store)


# -- from generation to generation ---------------------------------------------------------------------------------


def test_between_full_folds_the_beginning_of_the_bullets_stays_as_it_was(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=40_000)
    before: list[str] = []
    folds: list[bool] = []
    for start in range(0, 200, 20):
        talk(queue, 20, first=start)
        made = observe_all(store)
        record_reflections(store, [concluded(f"Rule {start}.", *made)], covers=store.counts().events)
        folds.append(compact(queue).full_fold)
        lines = [line_of(bullet) for bullet in queue.bullets]
        assert lines[: len(before)] == before
        before = lines
    assert folds == [True, *[False] * 9]
    assert of_form(queue, "reflection")


def test_what_is_noted_while_a_compaction_is_made_waits_for_its_turn(store: MemoryStore) -> None:
    queue = queue_of(store, "auto", y_budget=40_000)
    talk(queue, 20)
    record_observations(store, [observed(f"Service {n} was moved.", f"a{n}") for n in (0, 1, 8)], covers=40)
    plan = queue.plan_compaction()
    assert plan is not None
    late = observed("Service 4 was moved.", "a4")
    record_observations(store, [late], covers=40)
    record_drops(store, [observed("Service 1 was moved.").id], covers=10)
    first = queue.apply_compaction(plan, [honest(prompt) for prompt in plan.prompts], made_by="model")
    assert first is not None
    assert (first.full_fold, late.id in {bullet.id for bullet in queue.bullets}) == (True, False)

    talk(queue, 20, first=20)
    observe_all(store)
    assert compact(queue).full_fold
    shown = {bullet.id for bullet in of_form(queue, "observation")}
    assert late.id in shown
    assert observed("Service 1 was moved.").id not in shown

    before = [line_of(bullet) for bullet in queue.bullets]
    talk(queue, 20, first=40)
    observe_all(store)
    plan = queue.plan_compaction()
    assert plan is not None
    record_drops(store, [late.id], covers=10)
    assert queue.apply_compaction(plan, (), made_by="model") is not None
    talk(queue, 20, first=60)
    observe_all(store)
    assert not compact(queue).full_fold
    assert [line_of(bullet) for bullet in queue.bullets][: len(before)] == before


def test_a_bullet_of_a_record_stays_the_same_from_generation_to_generation(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=40_000)
    talk(queue, 20)
    observe_all(store)
    compact(queue)
    first = of_form(queue, "observation")
    talk(queue, 20, first=20)
    observe_all(store)
    compact(queue)
    assert set(first) < set(of_form(queue, "observation"))


def test_the_pool_maximum_brings_a_full_fold_which_lets_drops_take_effect(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=40_000, pool_max_tokens=1_200)
    folded: list[bool] = []
    for start in range(0, 80, 20):
        talk(queue, 20, first=start)
        made = observe_all(store)
        rule = concluded(f"Rule {start}.", *made)
        record_reflections(store, [rule], covers=store.counts().events)
        record_drops(store, [one.id for one in made], covers=store.counts().events)
        folded.append(compact(queue).full_fold)
    assert True in folded[1:]
    pool = sum(bullet.tokens for bullet in of_form(queue, "observation"))
    assert pool < read_state(store).pool_tokens + 1_200
    assert of_form(queue, "reflection")


def test_what_only_a_dropped_observation_led_to_joins_a_counted_line(store: MemoryStore) -> None:
    queue = queue_of(store, pool_max_tokens=1, y_budget=40_000)
    talk(queue, 30)
    made = observe_all(store)
    compact(queue)
    shown = {bullet.id for bullet in of_form(queue, "observation")}
    gone = [one for one in made if one.id in shown][:5]
    # The arithmetic of drops would not let these go, but the ledger of an import may hold any drop.
    record_drops(store, [one.id for one in gone], covers=store.counts().events)
    talk(queue, 30, first=30)
    compact(queue)
    assert not {bullet.id for bullet in of_form(queue, "observation")} & {one.id for one in gone}
    (group,) = of_form(queue, "group")
    assert set(group.seqs) == {seq for one in gone for seq in store.numbers_of(one.sources).values()}


def test_an_excerpt_that_a_record_has_come_to_cover_goes_with_the_next_full_fold(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=40_000)
    queue.append(said(0, "Read it."))
    queue.append(answered(0, "The long report says: " + "all is well, " * 60))
    talk(queue, 20, first=1)
    record_observations(store, [observed("Service 5 was moved.", "a5")], covers=42)
    compact(queue)
    assert 2 in {bullet.seqs[0] for bullet in of_form(queue, "excerpt")}
    record_observations(store, [observed("The report is good.", "a0")], covers=42)
    talk(queue, 20, first=21)
    assert compact(queue).full_fold
    assert 2 not in {bullet.seqs[0] for bullet in of_form(queue, "excerpt")}
    assert [bullet.seqs for bullet in of_form(queue, "observation") if 2 in bullet.seqs] == [(2,)]


def test_bullets_of_a_record_that_the_ledger_does_not_know_are_carried_as_they_are(
    store: MemoryStore, tmp_path: Path
) -> None:
    queue = queue_of(store)
    talk(queue, 30)
    observe_all(store)
    compact(queue)
    with MemoryStore(tmp_path / "imported.db") as other:
        again = _without_its_ledger(store, other)
        foreign = of_form(again, "observation")
        assert foreign
        talk(again, 30, first=30)
        record_observations(other, [observed("Only this.", "a40")], covers=120)
        compact(again)
        assert set(foreign) < set(of_form(again, "observation"))


def _without_its_ledger(store: MemoryStore, other: MemoryStore) -> TieredQueue:
    """The tiers of ``store`` in ``other``, as an import without the tape leaves them."""
    through = max(bullet.seqs[-1] for bullet in store.bullets(CONVERSATION))
    pending = store.pending(CONVERSATION)
    with other.transaction():
        for event in store.events():
            other.append(
                NewEvent(text=event.text, role=event.role, source=event.source, id=event.id, t_event=event.t_event)
            )
        data = tier_ledger.imported(
            generation=store.generation(CONVERSATION),
            demoted_through=max([through, *(item.event.seq for item in pending if item.tier == "y")]),
            compacted_through=through,
            bullets=store.bullets(CONVERSATION),
            held={},
        )
        other.record(CONVERSATION, tier_ledger.IMPORTED, data)
        fill_tiers(other)
    return queue_of(other, restore=True, y_budget=40_000)


def test_changing_to_the_summariser_and_back_keeps_everything_reachable(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=40_000)
    modes: list[CompactionMode] = ["ledger", "summarize", "ledger", "auto", "summarize", "auto"]
    for number, mode in enumerate(modes):
        queue.mode = mode
        talk(queue, 20, first=20 * number)
        if number != 3:
            observe_all(store)
        done = compact(queue)
        assert done.mode == mode
        assert done.full_fold == (mode != "summarize" and (number == 0 or modes[number - 1] == "summarize"))


# -- fitting -------------------------------------------------------------------------------------------------------


def test_where_room_is_short_the_least_relevant_go_first_and_reflections_last(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=2_000, x_budget=100)
    talk(queue, 60)
    events = store.events(kinds=TIERED_KINDS)
    relevance = {0: "critical", 1: "low", 2: "high", 3: "medium"}
    made = [
        observed(f"In turn {event.seq // 2} service {event.id[1:]} was moved.", event.id, relevance=relevance[at % 4])
        for at, event in enumerate(event for event in events if event.role == "assistant")
    ]
    record_observations(store, made, covers=events[-1].seq)
    record_reflections(store, [concluded("Services move a lot.", *made[:20])], covers=events[-1].seq)
    compact(queue)
    told = [bullet.text.split("[")[1].split("]")[0] for bullet in of_form(queue, "observation")]
    assert of_form(queue, "group")
    assert of_form(queue, "reflection")
    assert "critical" in told
    assert "low" not in told
    assert sum(bullet.tokens for bullet in queue.bullets) <= BULLETS_SHARE * queue.y_budget
    folded = {seq for bullet in of_form(queue, "group") for seq in bullet.seqs}
    low = [one for one in made if one.relevance == "low"]
    compacted = max(bullet.seqs[-1] for bullet in queue.bullets)
    expected = {seq for one in low for seq in store.numbers_of(one.sources).values() if seq <= compacted}
    assert expected <= folded


def test_what_was_folded_for_want_of_room_comes_back_when_there_is_room(store: MemoryStore) -> None:
    queue = queue_of(store, y_budget=1_000, x_budget=100)
    talk(queue, 40)
    observe_all(store)
    compact(queue)
    few = len(of_form(queue, "observation"))
    queue.set_budgets(100, 8_000)
    talk(queue, 10, first=40)
    observe_all(store)
    compact(queue)
    assert len(of_form(queue, "observation")) > few + 20


# -- anything at all -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Round:
    """Some turns, notes on them, and a compaction."""

    mode: CompactionMode
    turns: int
    observed: bool
    passed_over: int
    reflects: bool
    drops: Sequence[int]
    pool_max: int


rounds = st.builds(
    Round,
    mode=st.sampled_from(["ledger", "ledger", "ledger", "auto", "auto", "summarize"]),
    turns=st.integers(1, 8),
    observed=st.sampled_from([True, True, True, False]),
    passed_over=st.integers(0, 4),
    reflects=st.booleans(),
    drops=st.lists(st.integers(0, 50), max_size=4),
    pool_max=st.sampled_from([20_000, 20_000, 20_000, 1]),
)


@given(st.lists(rounds, min_size=4, max_size=9), st.integers(60, 150), st.sampled_from([40_000, 4_000, 600, 200]))
@settings(deadline=None, max_examples=40)
def test_whatever_is_noted_dropped_and_compacted_everything_holds(
    played: list[Round], x_budget: int, y_budget: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, MemoryStore(Path(folder) / "tape.db") as store:
        queue = queue_of(store, x_budget=x_budget, y_budget=y_budget)
        first = 0
        for one in played:
            queue.mode, queue.pool_max_tokens = one.mode, one.pool_max
            talk(queue, one.turns, first=first)
            first += one.turns
            take_notes(store, one)
            plan = queue.plan_compaction()
            if plan is not None:
                queue.apply_compaction(plan, [honest(prompt) for prompt in plan.prompts], made_by="model")
            assert_sound(store)
        before = (store.pending(CONVERSATION), store.bullets(CONVERSATION))
        rebuild(store)
        assert (store.pending(CONVERSATION), store.bullets(CONVERSATION)) == before
        assert (
            queue_of(store, x_budget=x_budget, y_budget=y_budget, restore=True).current_view() == queue.current_view()
        )


def take_notes(store: MemoryStore, one: Round) -> None:
    covers = store.counts().events
    state = read_state(store)
    if one.observed:
        events = [event for event in store.events(after=state.observed_through) if event.seq % 5 != one.passed_over]
        also = {event.seq: [f"a{event.seq // 4}"] if event.seq % 3 == 0 else [] for event in events}
        made = [observed(f"About {event.id}", event.id, *also[event.seq]) for event in events]
        record_observations(store, made, covers=covers)
    state = read_state(store)
    live = list(state.observations.values())
    if one.reflects and live:
        record_reflections(store, [concluded(f"Rule {covers}.", *live[:: one.turns])], covers=covers)
    record_drops(store, [live[pick % len(live)].id for pick in one.drops if live], covers=covers)


def test_entries_that_are_not_sound_are_ignored_by_a_compaction_and_named_by_verify(store: MemoryStore) -> None:
    queue = queue_of(store)
    talk(queue, 30)
    observe_all(store)
    bad = store.record(CONVERSATION, OBSERVATIONS, {"observations": [{"id": "nonsense"}], "covers": 60})
    plan = queue.plan_compaction()
    assert plan is not None
    queue.apply_compaction(plan, (), made_by="model")
    assert of_form(queue, "observation")
    (failed,) = [check for check in verify(store).checks if not check.ok]
    assert failed.name == "the ledger's records are sound"
    assert failed.rows == (
        f"ledger entry {bad} (observations) counts for nothing: observations[0]: id is not 12 hex digits",
    )
