"""Recall by the id of a record: live or dropped, with everything that it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.errors import UnknownId
from memory.observations import record_drops, record_observations, record_reflections
from memory.queue import TieredQueue
from memory.retrieval import recall, recall_id
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from tests.memory.conversations import turns
from tests.memory.ledgers import concluded, observed

MOVED = observed("Service 1 was moved.", "a1", "q1")
TESTED = observed("Service 2 was tested.", "a2")
RULE = concluded("Services are tested after a move.", MOVED, TESTED)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "tape.db") as opened:
        queue = TieredQueue(opened, x_budget=200, y_budget=4_000, auto_compact=False, mode="ledger")
        for event in turns(20):
            queue.append(event)
        record_observations(opened, [MOVED, TESTED], covers=40)
        record_reflections(opened, [RULE], covers=40)
        yield opened


def compacted(store: MemoryStore) -> TieredQueue:
    queue = TieredQueue(
        store, x_budget=200, y_budget=4_000, auto_compact=False, mode="ledger", restore=True, pool_max_tokens=1
    )
    queue.compact()
    return queue


def test_an_observation_is_found_with_its_exact_sources_before_anything_shows_it(store: MemoryStore) -> None:
    found = recall_id(store, MOVED.id)
    assert (found.found_as, found.observations, found.reflections) == ("observation", (MOVED,), ())
    assert [event.id for event in found.events] == ["q1", "a1"]
    assert found.events[1].text == "Answer 1: I moved service 1 and ran all 4 of its tests."
    assert (found.dropped, found.missing, found.collision, found.bullet) == (frozenset(), (), None, None)
    assert found.standing == "y raw"


def test_an_observation_that_is_shown_says_where_it_stands(store: MemoryStore) -> None:
    compacted(store)
    found = recall_id(store, TESTED.id)
    assert found.found_as == "observation"
    assert found.bullet is not None
    assert (found.bullet.id, found.bullet.form) == (TESTED.id, "observation")
    assert f"behind bullet {TESTED.id}" in found.standing


def test_a_dropped_observation_is_found_and_said_to_be_dropped(store: MemoryStore) -> None:
    record_drops(store, [MOVED.id], covers=40)
    found = recall_id(store, MOVED.id)
    assert (found.found_as, set(found.dropped)) == ("observation", {MOVED.id})
    assert [event.id for event in found.events] == ["q1", "a1"]


def test_a_reflection_brings_its_observations_and_their_events(store: MemoryStore) -> None:
    record_drops(store, [TESTED.id], covers=40)
    found = recall_id(store, RULE.id)
    assert (found.found_as, found.reflections, found.observations) == ("reflection", (RULE,), (MOVED, TESTED))
    assert [event.id for event in found.events] == ["q1", "a1", "a2"]
    assert found.dropped == {TESTED.id}
    assert found.collision is None


def test_what_leads_to_nothing_is_named(store: MemoryStore) -> None:
    lost = observed("Half of it is gone.", "a3", "nowhere")
    record_observations(store, [lost], covers=40)
    rule = concluded("So it goes.", lost, observed("never recorded"))
    record_reflections(store, [rule], covers=40)
    assert recall_id(store, lost.id).missing == ("nowhere",)
    found = recall_id(store, rule.id)
    assert found.missing == (observed("never recorded").id, "nowhere")
    assert [event.id for event in found.events] == ["a3"]


def test_a_text_that_is_both_is_found_as_both_and_said_to_be(store: MemoryStore) -> None:
    same = concluded(TESTED.content, MOVED)
    record_reflections(store, [same], covers=40)
    found = recall_id(store, TESTED.id)
    assert (found.found_as, found.reflections, found.observations) == ("reflection", (same,), (TESTED, MOVED))
    assert found.collision == "More than one thing has this id: 1 observation, 1 reflection."


def test_a_text_that_was_observed_again_is_found_with_all_its_sources(store: MemoryStore) -> None:
    again = observed(MOVED.content, "a9")
    record_drops(store, [MOVED.id], covers=40)
    record_observations(store, [again], covers=40)
    found = recall_id(store, MOVED.id)
    assert found.observations == (MOVED, again)
    assert [event.id for event in found.events] == ["q1", "a1", "a9"]
    assert found.dropped == frozenset()
    assert found.collision == "More than one thing has this id: 2 observations."


def test_an_event_with_the_id_of_a_record_is_returned_and_the_record_named(store: MemoryStore) -> None:
    store.append(NewEvent(text="I took that id.", role="user", id=MOVED.id))
    found = recall_id(store, MOVED.id)
    assert (found.found_as, found.events[0].text) == ("event", "I took that id.")
    assert found.collision == "More than one thing has this id: 1 event, 1 observation."


def test_ids_of_events_and_unknown_ids_are_as_they_were(store: MemoryStore) -> None:
    assert recall_id(store, "a1").collision is None
    with pytest.raises(UnknownId, match="Nothing in this session has the id"):
        recall_id(store, "0" * 12)


def test_every_id_in_a_view_leads_to_every_event_behind_its_line(store: MemoryStore) -> None:
    queue = compacted(store)
    assert {bullet.form for bullet in queue.bullets} >= {"observation", "reflection", "whole"}
    for bullet in queue.bullets:
        found = recall_id(store, bullet.id)
        assert tuple(event.seq for event in found.events) == bullet.seqs


def test_recall_by_question_finds_what_stands_behind_a_record_and_names_the_record(store: MemoryStore) -> None:
    compacted(store)
    result = recall(store, CONVERSATION, "was service 2 tested?")
    assert "a2" in {item.id for item in result.items}
    assert TESTED.id in {bullet.id for bullet in result.bullets}
