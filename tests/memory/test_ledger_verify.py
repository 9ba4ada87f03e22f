"""What verify says of a ledger that is not as it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.observations import DROPS, OBSERVATIONS, REFLECTIONS, record_observations, record_reflections
from memory.queue import TieredQueue
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from memory.verify import verify
from tests.memory.conversations import turns
from tests.memory.ledgers import concluded, observed

MOVED = observed("Service 1 was moved.", "a1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "tape.db") as opened:
        queue = TieredQueue(opened, x_budget=200, y_budget=4_000, auto_compact=False, mode="ledger")
        for event in turns(20):
            queue.append(event)
        record_observations(opened, [MOVED], covers=40)
        queue.compact()
        yield opened


def failing(store: MemoryStore) -> dict[str, tuple[str, ...]]:
    return {check.name: check.rows for check in verify(store).checks if not check.ok}


def test_a_sound_ledger_has_nothing_said_of_it(store: MemoryStore) -> None:
    record_reflections(store, [concluded("It moves.", MOVED)], covers=40)
    store.record(CONVERSATION, DROPS, {"ids": [MOVED.id, "0" * 12], "covers": 40})
    assert failing(store) == {}


def _observed(**changes: Any) -> dict[str, Any]:
    made = observed("Fine", "a2")
    record = {name: getattr(made, name) for name in made.__dataclass_fields__}
    return {"observations": [{**record, "sources": list(made.sources), **changes}], "covers": 40}


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "another text under the id": (OBSERVATIONS, _observed(content="Other"), "id does not derive from the content"),
    "no source": (OBSERVATIONS, _observed(sources=[]), "sources does not name an event"),
    "a source that is not there": (OBSERVATIONS, _observed(sources=["nowhere"]), "names event 'nowhere', which never"),
    "a source that is a note": (OBSERVATIONS, _observed(sources=["n"]), "names event 'n', which never stood"),
    "too far a watermark": (OBSERVATIONS, {**_observed(), "covers": 99}, "covers event 99, which came after it"),
    "an unknown support": (
        REFLECTIONS,
        {
            "reflections": [
                {"id": observed("R").id, "content": "R", "supports": [observed("never").id], "tokens": 1},
            ],
            "covers": 40,
        },
        f"rests on {observed('never').id}, which was not observed before",
    ),
    "a drop of nothing": (DROPS, {"ids": [], "covers": 40}, "ids is not a list with at least one entry"),
    "no records at all": (OBSERVATIONS, {}, "covers is not the number of an event"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_an_entry_is_named(store: MemoryStore, name: str) -> None:
    store.append(NewEvent(text="noted", role="tool", kind="note", id="n"))
    entry, data, why = WRONG[name]
    number = store.record(CONVERSATION, entry, data)
    found = failing(store)
    assert list(found) == ["the ledger's records are sound"]
    (row,) = found["the ledger's records are sound"]
    assert row.startswith(f"ledger entry {number}")
    assert why in row


SPOILED: dict[str, tuple[Callable[[MemoryStore], None], str]] = {
    "words": (
        lambda store: _alter(store, "UPDATE bullets SET text = 'Anything' WHERE id = ?"),
        f"bullet {MOVED.id} does not say what the ledger recorded under its id, or leads elsewhere",
    ),
    "events": (
        lambda store: _alter(store, "UPDATE bullet_refs SET seq = 6 WHERE bullet = ?"),
        f"bullet {MOVED.id} does not say what the ledger recorded under its id, or leads elsewhere",
    ),
    "id": (
        lambda store: _alter(store, "UPDATE bullets SET form = 'observation', id = 'ffffffffffff' WHERE id = ?"),
        "bullet ffffffffffff stands for a record that the ledger does not have",
    ),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_bullet_that_says_something_else_than_its_record_is_named(store: MemoryStore, what: str) -> None:
    spoil, row = SPOILED[what]
    if what == "id":
        _alter(store, "UPDATE bullet_refs SET bullet = 'ffffffffffff' WHERE bullet = ?")
    spoil(store)
    assert failing(store)["bullets say what was recorded"] == (row,)


def _alter(store: MemoryStore, statement: str) -> None:
    with store.transaction() as db:
        db.execute(statement, (MOVED.id,))
