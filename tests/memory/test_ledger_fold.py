"""The fold: any prefix, any ledger; what is live, what is dropped, what counts for nothing."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.ledger_fold import LedgerState, fold
from memory.store import LedgerEntry
from tests.memory.ledgers import (
    broken,
    concluded,
    drops_entry,
    entries,
    observations_entry,
    observed,
    reflections_entry,
)

A, B, C = observed("A", "e1"), observed("B", "e2"), observed("C", "e3")


@given(entries(), st.data())
@settings(deadline=None)
def test_folding_any_prefix_twice_gives_the_same(ledger: list[LedgerEntry], data: st.DataObject) -> None:
    prefix = ledger[: data.draw(st.integers(0, len(ledger)))]
    once, again = fold(prefix), fold(list(prefix))
    assert once == again
    assert list(once.observations) == list(again.observations)


@given(entries())
@settings(deadline=None)
def test_an_id_is_live_or_dropped_and_never_both(ledger: list[LedgerEntry]) -> None:
    state = fold(ledger)
    assert not state.observations.keys() & state.dropped.keys()
    assert all(id == made.id for id, made in {**state.observations, **state.dropped}.items())
    assert all(id == made.id for id, made in state.reflections.items())


@given(entries())
@settings(deadline=None)
def test_entries_that_are_not_sound_change_nothing(ledger: list[LedgerEntry]) -> None:
    state = fold(ledger)
    sound = [entry for entry in ledger if entry.n not in state.ignored]
    assert fold(sound) == LedgerState(
        state.observations,
        state.dropped,
        state.reflections,
        state.observed_through,
        state.reflected_through,
        state.dropped_through,
    )


@given(entries(), st.integers(1, 12))
@settings(deadline=None)
def test_what_is_observed_last_is_live(ledger: list[LedgerEntry], covers: int) -> None:
    state = fold([*ledger, observations_entry(99, A, covers=covers)])
    assert A.id in state.observations
    assert A.id not in fold([*ledger, observations_entry(99, A), drops_entry(100, A.id)]).observations


@given(entries())
@settings(deadline=None)
def test_watermarks_only_rise(ledger: list[LedgerEntry]) -> None:
    states = [fold(ledger[:end]) for end in range(len(ledger) + 1)]
    for before, after in pairwise(states):
        assert before.observed_through <= after.observed_through
        assert before.reflected_through <= after.reflected_through
        assert before.dropped_through <= after.dropped_through


def test_the_first_record_of_an_id_counts() -> None:
    again = observed("A", "e9", relevance="critical")
    assert fold([observations_entry(1, A), observations_entry(2, again)]).observations == {A.id: A}


def test_a_text_that_is_observed_again_after_its_drop_is_live_again_with_its_new_sources() -> None:
    again = observed("A", "e9", relevance="critical")
    ledger = [observations_entry(1, A, B), drops_entry(2, A.id), observations_entry(3, again)]
    assert fold(ledger[:2]).dropped == {A.id: A}
    state = fold(ledger)
    assert state.observations == {B.id: B, A.id: again}
    assert state.dropped == {}


def test_a_drop_of_what_is_unknown_is_no_error() -> None:
    state = fold([drops_entry(1, "0" * 12, covers=4), observations_entry(2, A)])
    assert (list(state.observations), dict(state.dropped), state.dropped_through) == ([A.id], {}, 4)


def test_the_watermark_is_the_furthest_and_not_the_newest() -> None:
    state = fold([observations_entry(1, A, covers=9), observations_entry(2, B, covers=4)])
    assert state.observed_through == 9


def test_one_record_that_is_not_sound_takes_its_whole_entry_with_it() -> None:
    state = fold([broken(1, "observations", [A, B]), observations_entry(2, C)])
    assert list(state.observations) == [C.id]
    assert state.ignored == (1,)


def test_entries_of_the_tiers_are_passed_over() -> None:
    compacted = LedgerEntry(2, "message", "compacted", "", {"through": 5, "covers": 70, "at": 5})
    state = fold([observations_entry(1, A), compacted])
    assert (list(state.observations), state.ignored, state.observed_through) == ([A.id], (), 1)


def test_an_empty_ledger_is_empty_and_one_whose_records_were_dropped_is_not() -> None:
    assert fold([]).empty
    assert not fold([observations_entry(1, A), drops_entry(2, A.id)]).empty
    assert not fold([observations_entry(1, A), reflections_entry(2, concluded("R", A))]).empty
