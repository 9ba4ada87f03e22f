"""What may be dropped, how much of it, and in which order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.dropping import choose_drops, coverage_of, most_drops
from memory.ledger_fold import LedgerState, fold
from memory.observations import Observation
from memory.store import LedgerEntry
from tests.memory.ledgers import concluded, drops_entry, entries, observations_entry, observed, reflections_entry


def state_of(*made: Observation, covered: dict[str, int]) -> LedgerState:
    """These observations; ``covered`` says by how many reflections each is cited."""
    ledger = [observations_entry(1, *made)]
    for number in range(max(covered.values(), default=0)):
        cited = [one for one in made if covered.get(one.id, 0) > number]
        ledger.append(reflections_entry(2 + number, concluded(f"Rule {number}", *cited)))
    return fold(ledger)


def many(count: int) -> list[Observation]:
    return [observed(f"Observation number {number}", at=f"2026-03-02 09:{number:02d}") for number in range(count)]


def test_coverage_counts_the_reflections_that_cite_an_observation() -> None:
    a, b, c, d = many(4)
    state = state_of(a, b, c, d, covered={b.id: 1, c.id: 2, d.id: 5})
    assert coverage_of(state) == {a.id: "none", b.id: "partial", c.id: "strong", d.id: "strong"}


def test_nothing_goes_from_a_pool_at_its_target() -> None:
    made = many(5)
    state = state_of(*made, covered={one.id: 1 for one in made})
    assert most_drops(state, state.pool_tokens) == 0
    assert choose_drops(state, [one.id for one in made], state.pool_tokens) == ()


def test_what_goes_brings_the_pool_to_its_target_and_not_far_below() -> None:
    made = many(10)
    state = state_of(*made, covered={one.id: 1 for one in made})
    gone = choose_drops(state, [one.id for one in made], state.pool_tokens - state.pool_tokens // 2)
    assert len(gone) == 5
    assert most_drops(state, state.pool_tokens - 1) == 1
    assert most_drops(state, 0) == 10


def test_an_empty_pool_drops_nothing() -> None:
    assert most_drops(LedgerState(), 0) == 0
    assert choose_drops(LedgerState(), ["0" * 12], 0) == ()


def test_the_best_covered_go_first_then_the_least_relevant_then_the_oldest() -> None:
    old = observed("old", at="2026-03-02 09:00")
    new = observed("new", at="2026-03-02 10:00")
    low = observed("low", relevance="low", at="2026-03-02 11:00")
    high = observed("high", relevance="high", at="2026-03-02 08:00")
    strong = observed("strong", relevance="high", at="2026-03-02 12:00")
    made = [high, new, low, old, strong]
    state = state_of(*made, covered={**{one.id: 1 for one in made}, strong.id: 2})
    assert choose_drops(state, [one.id for one in made], 0) == (strong.id, low.id, old.id, new.id, high.id)


@pytest.mark.parametrize("relevance", ["low", "critical"])
def test_what_no_reflection_covers_and_what_is_critical_stays_whatever_is_proposed(relevance: str) -> None:
    one = observed("one", relevance=relevance)
    uncovered = relevance == "low"
    state = state_of(one, covered={} if uncovered else {one.id: 3})
    assert choose_drops(state, [one.id], 0) == ()


def test_unknown_dropped_and_repeated_ids_are_passed_over() -> None:
    a, b = many(2)
    ledger = [observations_entry(1, a, b), reflections_entry(2, concluded("R", a, b)), drops_entry(3, b.id)]
    assert choose_drops(fold(ledger), ["0" * 12, b.id, a.id, a.id], 0) == (a.id,)


@given(entries(), st.integers(0, 300), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_whatever_is_proposed_a_reflection_still_covers_what_goes(
    ledger: list[LedgerEntry], target: int, chance: random.Random
) -> None:
    state = fold(ledger)
    proposed = [*state.observations, *state.dropped, "0" * 12] * 2
    chance.shuffle(proposed)
    gone = choose_drops(state, proposed, target)
    cited = {id for made in state.reflections.values() for id in made.supports}
    assert set(gone) <= state.observations.keys() & cited
    assert not [id for id in gone if state.observations[id].relevance == "critical"]
    assert len(gone) <= most_drops(state, target)
