"""Any id leads back to exact words, and says where they stand now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.errors import UnknownId
from memory.queue import TieredQueue
from memory.retrieval import recall_id
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from tests.memory.conversations import turns
from tests.memory.summarizers import honest


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "s.db") as opened:
        yield opened


@pytest.fixture
def queue(store: MemoryStore) -> TieredQueue:
    """Old turns behind bullets, some raw in Y, the newest in X."""
    queue = TieredQueue(store, summarize=honest, x_budget=100, y_budget=300)
    for event in turns(60):
        queue.append(event)
    return queue


def test_an_events_id_is_its_words(store: MemoryStore, queue: TieredQueue) -> None:
    found = recall_id(store, "q3")
    assert found.found_as == "event"
    assert found.id == "q3"
    assert [event.text for event in found.events] == ["Question 3: please keep port 4003 free for service 3."]


def test_where_an_event_stands_is_said(store: MemoryStore, queue: TieredQueue) -> None:
    in_x = queue.recent_items[-1].event.id
    assert recall_id(store, in_x).standing == "x"
    in_y = queue.overflow[0].event.id
    assert recall_id(store, in_y).standing == "y raw"
    behind = recall_id(store, "q3").standing
    bullets = {bullet.id for bullet in queue.bullets if 7 in bullet.seqs}
    assert bullets
    assert {part.removeprefix("behind bullet ") for part in behind.split(", ")} == bullets
    store.append(NewEvent(text="noted", role="system", kind="note", id="n"))
    assert recall_id(store, "n").standing == "on the tape only"


def test_a_chunks_hash_is_its_event_and_place(store: MemoryStore, queue: TieredQueue) -> None:
    (chunk,) = store.chunks_of([7])[7]
    found = recall_id(store, chunk.hash)
    assert (found.found_as, found.chunk, found.events) == ("chunk", chunk, (store.event(7),))


def test_a_bullets_id_is_every_event_behind_it_in_order(store: MemoryStore, queue: TieredQueue) -> None:
    for bullet in queue.bullets:
        found = recall_id(store, bullet.id)
        assert (found.found_as, found.bullet) == ("bullet", bullet)
        assert tuple(event.seq for event in found.events) == bullet.seqs
        assert bullet.id in found.standing


def test_a_citation_of_an_earlier_generation_still_leads_back(store: MemoryStore, queue: TieredQueue) -> None:
    before = [bullet for bullet in queue.bullets if not bullet.protected]
    generation = queue.generation
    for event in turns(60, first=60):
        queue.append(event)
    assert queue.generation > generation
    gone = [bullet for bullet in before if bullet.id not in {live.id for live in queue.bullets}]
    assert gone
    for bullet in gone:
        found = recall_id(store, bullet.id)
        assert found.bullet == bullet
        assert tuple(event.seq for event in found.events) == bullet.seqs


def test_blanks_around_an_id_do_not_matter(store: MemoryStore, queue: TieredQueue) -> None:
    assert recall_id(store, "  q3\n").id == "q3"


@pytest.mark.parametrize("id", ["", "nothing", "0" * 12, "q3' OR '1'='1", "%", "\x00", "\ud800", "x" * 1_000_000])
def test_an_unknown_id_is_one_sentence(store: MemoryStore, queue: TieredQueue, id: str) -> None:
    with pytest.raises(UnknownId) as caught:
        recall_id(store, id)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_ids_of_another_namespace_are_found_too(store: MemoryStore, queue: TieredQueue) -> None:
    scratch = TieredQueue(store, "scratch", summarize=honest, x_budget=100, y_budget=100)
    scratch.append(NewEvent(text="scratch words", role="user", id="s1"))
    assert recall_id(store, "s1").events[0].text == "scratch words"
    assert recall_id(store, "s1", "scratch").standing == "x"
    assert recall_id(store, "q3", CONVERSATION).events[0].thread == "main"


def test_the_same_id_in_two_threads_is_the_one_of_the_queue_that_asks(store: MemoryStore, queue: TieredQueue) -> None:
    scratch = TieredQueue(store, "scratch", summarize=honest, x_budget=100, y_budget=100)
    scratch.append(NewEvent(text="scratch words", role="user", id="q3"))
    assert recall_id(store, "q3", "scratch").events[0].text == "scratch words"
    assert recall_id(store, "q3").events[0].text.startswith("Question 3")
