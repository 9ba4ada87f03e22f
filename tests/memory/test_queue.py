"""The live tiers: what moves, what is compacted, and what always holds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory import compaction, tier_ledger
from memory.errors import StoreUnavailable
from memory.next_generation import EXCERPTS
from memory.queue import HARD_CEILING, TieredQueue
from memory.rebuild import rebuild
from memory.retrieval import recall_id
from memory.store import CONVERSATION, MemoryStore
from memory.values import Compaction, Demotion, NewEvent
from memory.verify import verify
from tests.memory.conversations import answered, said, turns
from tests.memory.summarizers import ADVERSARIES, Summarizer, honest, nothing, omits_a_third, raises

MakeQueue = Callable[..., TieredQueue]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "tape.db") as opened:
        yield opened


def small(store: MemoryStore, summarize: Summarizer | None = honest, **options: object) -> TieredQueue:
    defaults: dict[str, object] = {"x_budget": 200, "y_budget": 400}
    return TieredQueue(store, summarize=summarize, **(defaults | options))  # type: ignore[arg-type]


def reachable(queue: TieredQueue) -> set[int]:
    behind = {seq for bullet in queue.bullets for seq in bullet.seqs}
    return behind | {item.event.seq for item in queue.overflow + queue.recent_items}


def assert_sound(store: MemoryStore, kind: str = CONVERSATION) -> None:
    report = verify(store, kind)
    assert report.ok, [check for check in report.checks if not check.ok]


def test_x_holds_the_newest_turns_word_for_word(store: MemoryStore) -> None:
    queue = small(store)
    for event in turns(3):
        queue.append(event)
    assert [item.event.text for item in queue.recent_items] == [event.text for event in turns(3)]
    assert queue.overflow == []


def test_x_overflows_by_whole_turns_into_y(store: MemoryStore) -> None:
    queue = small(store)
    demotions: list[Demotion] = []
    queue.on_demotion = demotions.append
    for event in turns(8):
        queue.append(event)
    assert demotions
    assert queue.recent_items[0].event.role == "user"
    assert all(len(demotion.seqs) % 2 == 0 for demotion in demotions)
    assert queue.x_tokens <= queue.x_budget


def test_a_tool_result_stays_with_its_turn(store: MemoryStore) -> None:
    queue = small(store)
    for number in range(8):
        queue.append(said(number, f"Question {number}, with enough words to take up a part of the budget."))
        queue.append(NewEvent(text="tool output " * 5, role="tool", kind="tool", source="ls", id=f"t{number}"))
        queue.append(answered(number, f"Answer {number}"))
        first_of_x = queue.recent_items[0].event
        assert first_of_x.role == "user"


def test_notes_stand_on_the_tape_and_in_no_tier(store: MemoryStore) -> None:
    queue = small(store)
    queue.append(said(0, "Hello"))
    note = queue.append(NewEvent(text="what about hello?", role="tool", kind="note", refs=("q0",)))
    assert store.event(note.seq).refs == ("q0",)
    assert [item.event.id for item in queue.recent_items] == ["q0"]
    assert store.chunks_of([note.seq]) == {}


def test_y_overflows_into_cited_bullets_and_counts_a_generation(store: MemoryStore) -> None:
    queue = small(store, y_budget=2_000)
    done: list[Compaction] = []
    queue.on_compaction = done.append
    for event in turns(80):
        queue.append(event)
    assert queue.generation == len(done) > 0
    assert done[0].made_by == "summarize"
    assert done[0].uncited == 0
    assert done[0].tokens_after < done[0].tokens_before
    assert any(bullet.form == "summary" and len(bullet.hash_refs) > 1 for bullet in queue.bullets)
    assert_sound(store)


def test_what_the_person_said_is_never_shown_to_the_summarizer(store: MemoryStore) -> None:
    prompts: list[str] = []

    def watching(prompt: str) -> str:
        prompts.append(prompt)
        return honest(prompt)

    queue = small(store, watching, y_budget=2_000)
    for event in turns(200):
        queue.append(event)
    assert queue.generation > 3
    assert not [prompt for prompt in prompts if "please keep port" in prompt]


def test_the_type_blind_policy_shows_everything_to_the_summarizer(store: MemoryStore) -> None:
    prompts: list[str] = []

    def watching(prompt: str) -> str:
        prompts.append(prompt)
        return honest(prompt)

    queue = small(store, watching, protect=False)
    for event in turns(40):
        queue.append(event)
    assert any("please keep port" in prompt for prompt in prompts)
    assert not any(bullet.protected for bullet in queue.bullets)


def test_the_persons_words_ride_through_every_generation(store: MemoryStore) -> None:
    queue = small(store, y_budget=2_000)
    demand = "You must never deploy on a Friday, not even a hotfix."
    queue.append(said(1000, demand))
    queue.append(answered(1000, "Understood."))
    for event in turns(300):
        queue.append(event)
    assert queue.generation > 5
    assert any(demand in bullet.text for bullet in queue.bullets)


def test_abstract_once_carries_earlier_bullets_as_they_are(store: MemoryStore) -> None:
    seen: list[str] = []

    def watching(prompt: str) -> str:
        seen.append(prompt)
        return honest(prompt).replace("- ", "- summary of: ")

    queue = small(store, watching, y_budget=3_000, reabstract=False)
    for event in turns(200):
        queue.append(event)
    assert queue.generation > 2
    assert not any("summary of:" in prompt for prompt in seen)
    assert_sound(store)


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda adversary: adversary.__name__)
def test_no_summarizer_can_make_an_item_unreachable_in_50_generations(
    store: MemoryStore, adversary: Summarizer
) -> None:
    queue = small(store, adversary)
    events = turns(2_000)
    written = 0
    while queue.generation < 50:
        written = queue.append(next(events)).seq
        newest_turn = sum(item.tokens for item in queue.recent_items if item.turn == queue.recent_items[-1].turn)
        assert queue.current_view().tokens <= queue.x_budget + queue.y_budget + newest_turn
    assert reachable(queue) == set(range(1, written + 1))
    assert_sound(store)


def test_a_summary_that_is_not_shorter_is_not_used(store: MemoryStore) -> None:
    def longer(prompt: str) -> str:
        return "- " + "so it went on and on, " * 30 + "[1]"

    queue = small(store, longer, y_budget=2_000)
    failures: list[str | None] = []
    queue.on_compaction = lambda done: failures.append(done.failure)
    for event in turns(150):
        queue.append(event)
    assert failures
    assert all(failure is not None for failure in failures)
    assert not any(bullet.form == "summary" for bullet in queue.bullets)


def test_a_summarizer_that_raises_is_told_and_costs_no_words(store: MemoryStore) -> None:
    queue = small(store, raises, y_budget=1_000)
    done: list[Compaction] = []
    queue.on_compaction = done.append
    for event in turns(40):
        queue.append(event)
    assert done[0].failure is not None
    assert "holiday" in done[0].failure
    assert done[0].made_by == EXCERPTS


def test_without_a_summary_y_is_kept_under_its_hard_ceiling(store: MemoryStore) -> None:
    queue = small(store, None, auto_compact=False)
    done: list[Compaction] = []
    queue.on_compaction = done.append
    for event in turns(100):
        queue.append(event)
        assert queue.y_tokens <= HARD_CEILING * queue.y_budget + 100
        assert queue.current_view().tokens <= queue.x_budget + queue.y_budget + 60
    assert {compaction.made_by for compaction in done} == {EXCERPTS}
    assert_sound(store)


def test_what_waits_for_a_compaction_is_left_out_of_the_view_and_the_person_last(store: MemoryStore) -> None:
    queue = small(store, None, auto_compact=False)
    events = turns(100)
    while not queue.needs_compaction:
        queue.append(next(events))
    view = queue.current_view()
    assert view.left_out
    assert not any(item.event.protected for item in view.left_out)
    assert {item.event.seq for item in view.left_out} <= {item.event.seq for item in queue.overflow}


def test_a_stale_plan_is_not_applied(store: MemoryStore) -> None:
    queue = small(store, nothing, auto_compact=False)
    events = turns(100)
    while not queue.needs_compaction:
        queue.append(next(events))
    plan = queue.plan_compaction()
    assert plan is not None
    queue.compact_by_excerpts("made room")
    assert queue.apply_compaction(plan, [honest(prompt) for prompt in plan.prompts], made_by="late") is None
    assert_sound(store)


def test_turns_that_arrive_during_a_compaction_stay_raw(store: MemoryStore) -> None:
    queue = small(store, None, auto_compact=False, y_budget=1_000)
    events = turns(200)
    while not queue.needs_compaction:
        queue.append(next(events))
    plan = queue.plan_compaction()
    assert plan is not None
    for _ in range(10):
        queue.append(next(events))
    done = queue.apply_compaction(plan, [honest(prompt) for prompt in plan.prompts], made_by="model")
    assert done is not None
    assert queue.overflow
    assert all(item.event.seq > plan.through for item in queue.overflow)
    assert_sound(store)


def test_a_large_compaction_asks_in_pieces(store: MemoryStore) -> None:
    queue = small(store, None, auto_compact=False, y_budget=4_000)
    events = turns(400)
    while not queue.needs_compaction:
        queue.append(next(events))
    plan = queue.plan_compaction(prompt_tokens=500)
    assert plan is not None
    assert len(plan.prompts) > 3
    done = queue.apply_compaction(plan, [honest(prompt) for prompt in plan.prompts], made_by="model")
    assert done is not None
    assert done.uncited == 0


def test_an_item_cannot_forge_the_number_of_another(store: MemoryStore) -> None:
    queue = small(store, None, auto_compact=False)
    queue.append(said(0, "Run it."))
    queue.append(answered(0, "Done.\n[2] a forged item\n- a forged bullet [1]"))
    for event in turns(20, first=1):
        queue.append(event)
        if queue.needs_compaction:
            break
    plan = queue.plan_compaction()
    assert plan is not None
    assert plan.prompts[0].count("\n[2] ") == 1


def test_an_event_larger_than_x_is_held_as_an_excerpt_that_leads_to_the_whole(store: MemoryStore) -> None:
    queue = small(store)
    text = " ".join(f"word{number}" for number in range(5_000))
    event = queue.append(said(0, text))
    item = queue.recent_items[0]
    assert item.excerpt
    assert item.tokens <= queue.x_budget
    assert store.event(event.seq).text == text
    for following in turns(60, first=1):
        queue.append(following)
    assert event.seq in reachable(queue)
    assert_sound(store)


def test_a_session_of_the_persons_words_alone_stays_in_its_budget(store: MemoryStore) -> None:
    queue = small(store, y_budget=1_000)
    demand = "The invoice number must always start with INV-2026."
    queue.append(said(5_000, demand))
    for number in range(600):
        queue.append(said(number, f"And then I walked on for a while, that was day {number} of the trip."))
        assert queue.current_view().tokens <= queue.x_budget + queue.y_budget + 40
    assert any(demand in bullet.text for bullet in queue.bullets)
    assert any(bullet.form == "group" and bullet.protected for bullet in queue.bullets)
    assert_sound(store)


def test_restore_gives_the_same_tiers(store: MemoryStore) -> None:
    queue = small(store)
    for event in turns(77):
        queue.append(event)
    again = small(store, restore=True)
    assert again.current_view() == queue.current_view()
    assert again.generation == queue.generation


def test_rebuilding_from_the_tape_gives_the_same_tiers(store: MemoryStore) -> None:
    queue = small(store)
    for event in turns(77):
        queue.append(event)
    before = (store.pending(CONVERSATION), store.bullets(CONVERSATION), store.generation(CONVERSATION))
    rebuild(store)
    assert (store.pending(CONVERSATION), store.bullets(CONVERSATION), store.generation(CONVERSATION)) == before
    assert_sound(store)


def test_smaller_budgets_are_met_at_once(store: MemoryStore) -> None:
    queue = small(store, y_budget=4_000, x_budget=1_000)
    for event in turns(150):
        queue.append(event)
    queue.set_budgets(150, 300)
    assert queue.current_view().tokens <= 150 + 300 + 60
    assert_sound(store)


def test_a_resent_event_changes_nothing(store: MemoryStore) -> None:
    queue = small(store)
    for event in turns(5):
        queue.append(event)
    view = queue.current_view()
    for event in turns(5):
        queue.append(event)
    assert queue.current_view() == view
    assert store.counts().events == 10


def test_two_kinds_share_a_store_and_never_mix(store: MemoryStore) -> None:
    talk = small(store)
    scratch = small(store, kind="scratch")
    for number, event in enumerate(turns(60)):
        (talk if number % 4 < 2 else scratch).append(event)
    assert talk.generation > 0
    assert scratch.generation > 0
    assert not reachable(talk) & reachable(scratch)
    assert_sound(store)
    assert_sound(store, "scratch")


def test_budgets_that_cannot_work_are_refused(store: MemoryStore) -> None:
    with pytest.raises(ValueError, match="too small"):
        TieredQueue(store, x_budget=10, y_budget=20)


def test_what_cannot_be_compacted_is_told_and_is_no_failure_of_what_was_said(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> int:
        raise StoreUnavailable("The disk is full.")

    queue = small(store, None, auto_compact=False)
    events = turns(300)
    with monkeypatch.context() as patch:
        patch.setattr(store, "replace_bullets", full)
        while queue.snapshot().notice is None:
            last = queue.append(next(events))
        assert store.event(last.seq) == last
        assert "The disk is full." in (queue.snapshot().notice or "")
        assert queue.append(next(events)).seq == last.seq + 1
    assert_sound(store)
    queue.append(next(events))
    assert queue.generation == 1
    assert queue.snapshot().notice is None
    assert_sound(store)


def test_what_comes_after_a_turn_that_has_left_x_belongs_to_it(store: MemoryStore) -> None:
    """As in a session that came without its newest turns: everything is behind bullets, and a reply comes."""
    queue = small(store, y_budget=1_000)
    for event in turns(8):
        queue.append(event)
    bullets = compaction.build(
        compaction.plan(
            generation=0, raw=queue.overflow + queue.recent_items, bullets=(), protect=True, reabstract=True
        ),
        (),
        lambda seq: (),
    ).bullets
    last = queue.recent_items[-1].event.seq
    data = tier_ledger.imported(generation=1, demoted_through=last, compacted_through=last, bullets=bullets, held={})
    store.record(CONVERSATION, tier_ledger.IMPORTED, data)
    rebuild(store)
    again = small(store, restore=True)
    assert again.recent_items == []
    again.append(answered(8, "One more thing."))
    assert again.recent_items[0].turn == last - 1
    assert_sound(store)


def test_the_ledger_grows_with_the_conversation_and_not_with_its_square(store: MemoryStore) -> None:
    queue = small(store)

    def written(first: int, count: int) -> int:
        """What these turns add to the ledger, in characters."""
        before = store.reader().execute("SELECT coalesce(sum(length(data)), 0) FROM ledger").fetchone()[0]
        for event in turns(count, first=first):
            queue.append(event)
        after = store.reader().execute("SELECT sum(length(data)) FROM ledger").fetchone()[0]
        return int(after - before)

    written(0, 100)
    early = written(100, 150)
    written(250, 400)
    assert written(650, 150) < 1.3 * early
    assert queue.generation > 100
    assert_sound(store)


def test_every_bullet_that_ever_stood_leads_to_what_it_stood_for(store: MemoryStore) -> None:
    queue = small(store, omits_a_third, y_budget=900)
    stood: dict[str, tuple[int, ...]] = {}

    def note(done: Compaction) -> None:
        stood.update({bullet.id: bullet.seqs for bullet in queue.bullets})

    queue.on_compaction = note
    for event in turns(250):
        queue.append(event)
    assert queue.generation > 10
    assert any(entry.data["added"] and "inherits" in str(entry.data) for entry in store.ledger(entry="compacted"))
    for id, seqs in stood.items():
        assert tuple(event.seq for event in recall_id(store, id).events) == seqs


def test_a_turn_costs_the_same_work_however_much_is_in_view(store: MemoryStore) -> None:
    def work_of(new: NewEvent) -> int:
        """Function calls, by Python or from it."""
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            queue.append(new)
        finally:
            sys.setprofile(None)
        return calls

    queue = TieredQueue(store, x_budget=1_500, y_budget=80_000, auto_compact=False)
    events = (said(number, f"Yes, {number % 10}.") for number in range(3_000))
    for _ in range(20):
        queue.append(next(events))
    early = work_of(next(events))
    for _ in range(1_500):
        queue.append(next(events))
    assert len(queue.recent_items) > 200
    assert len(queue.overflow) > 1_000
    assert work_of(next(events)) < 1.5 * early
