"""The budget is spent on the best, and nothing comes along that no hit brought."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.candidates import Candidates
from memory.packing import pick


def some(tokens: list[int], seqs: list[int] | None = None) -> Candidates:
    count = len(tokens)
    return Candidates(
        tuple(range(1, count + 1)), tuple(f"h{n}" for n in range(count)), tuple(seqs or range(count)), tuple(tokens)
    )


def test_a_neighbour_goes_by_its_own_score_but_never_before_its_hit() -> None:
    scores = np.array([0, 9, 5, 0, 0, 0, 7, 6], np.float32)
    hits = np.array([False, False, True, False, False, False, True, False])
    # The neighbour at 1 is worth as much as the hit at 2 that brings it, and no more.
    assert pick(scores, hits, some([1] * 8), 9, 1, 1).hits == (6,)
    picked = pick(scores, hits, some([1] * 8), 9, 1, 4)
    assert (picked.hits, picked.neighbours) == ((6, 2), frozenset({7, 1}))


def test_what_does_not_fit_is_passed_over_and_brings_nothing() -> None:
    scores = np.array([0, 9, 0, 0, 0, 3], np.float32)
    hits = scores > 0
    picked = pick(scores, hits, some([1, 50, 1, 1, 1, 5]), 9, 1, 7)
    assert (picked.hits, picked.neighbours) == ((5,), frozenset({4}))
    assert pick(scores, hits, some([60] * 6), 9, 1, 7).hits == (1,)


def test_neighbours_of_one_event_only_where_that_is_asked() -> None:
    scores = np.array([0, 1, 0, 0], np.float32)
    picked = pick(scores, scores > 0, some([1] * 4, [1, 1, 1, 2]), 9, 2, 99, same_event=True)
    assert picked.neighbours == {0, 2}
    assert pick(scores, scores > 0, some([1] * 4, [1, 1, 1, 2]), 9, 2, 99).neighbours == {0, 2, 3}


def test_what_stands_right_beside_a_better_hit_leaves_its_place_to_another() -> None:
    scores = np.array([9, 8, 7, 0, 0, 0, 1, 0], np.float32)
    picked = pick(scores, scores > 0, some([1] * 8), 2, 1, 99)
    assert (picked.hits, picked.neighbours) == ((0, 2), frozenset({1, 3}))
    assert pick(scores, scores > 0, some([1] * 8), 2, 0, 99).hits == (0, 1)
    assert pick(scores, scores > 0, some([1] * 8, [1, 2, 3, 4, 5, 6, 7, 8]), 2, 1, 99, same_event=True).hits == (0, 1)


@given(
    st.lists(
        st.tuples(st.floats(-9, 9, width=32) | st.just(float("nan")), st.booleans(), st.integers(1, 30)), max_size=30
    ),
    st.integers(-1, 12),
    st.integers(0, 4),
    st.integers(-2, 200),
)
def test_the_knobs_always_hold(
    rows: list[tuple[float, bool, int]], max_chunks: int, window: int, token_budget: int
) -> None:
    scores = np.array([row[0] for row in rows], np.float32)
    hits = np.array([row[1] for row in rows], np.bool_)
    candidates = some([row[2] for row in rows])
    picked = pick(scores, hits, candidates, max_chunks, window, token_budget)
    assert len(picked.hits) <= max(0, max_chunks)
    assert all(hits[place] for place in picked.hits)
    assert len(set(picked.hits)) == len(picked.hits)
    assert not picked.neighbours & set(picked.hits)
    assert all(any(abs(place - hit) <= window for hit in picked.hits) for place in picked.neighbours)
    spent = sum(candidates.tokens[place] for place in (*picked.hits, *picked.neighbours))
    # One hit larger than the budget is returned in part.
    assert spent <= max(0, token_budget) or (len(picked.hits), len(picked.neighbours)) == (1, 0)
    if token_budget >= sum(candidates.tokens) and max_chunks >= len(rows):
        assert set(np.flatnonzero(hits).tolist()) <= {*picked.hits, *picked.neighbours}
