"""What makes ranking quick changes nothing of what it says."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.candidates import Candidates
from memory.ranking import best_first, spread
from memory.word_arms import BM25_B, BM25_K1, EASE, NEAR_WORDS, nearby
from memory.word_index import Posting

SCORES = st.lists(
    st.one_of(st.just(float("nan")), st.floats(-3, 3, width=16), st.sampled_from([0.0, 1.0])), max_size=30
)


@given(SCORES, st.integers(-2, 40))
def test_the_best_of_many_are_the_first_of_all_in_order(values: list[float], count: int) -> None:
    scores = np.array(values, np.float32)
    assert list(best_first(scores, count)) == list(best_first(scores))[: max(0, count)]


@given(SCORES, st.lists(st.floats(0, 1, width=16), max_size=4))
def test_spreading_what_is_known_in_part_leaves_the_rest_unknown(values: list[float], weights: list[float]) -> None:
    scores = np.array(values, np.float32)
    before = scores.copy()
    total = spread(scores, weights)
    assert list(np.isnan(total)) == list(np.isnan(scores))
    assert np.array_equal(scores, before, equal_nan=True)


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=40),
    st.lists(st.tuples(st.floats(0.125, 9, width=16), st.sets(st.integers(0, 39), max_size=12)), max_size=4),
    st.sampled_from([NEAR_WORDS, (), (0.5,), (0.25,) * 50]),
)
def test_words_near_are_what_spreading_each_word_over_all_candidates_comes_to(
    tokens: list[int], words: list[tuple[float, set[int]]], weights: tuple[float, ...]
) -> None:
    size = len(tokens)
    candidates = Candidates(tuple(range(size)), tuple(map(str, range(size))), tuple(range(size)), tuple(tokens))
    postings = [
        Posting(weight, np.array(sorted(place for place in places if place < size), np.intp))
        for weight, places in words
    ]
    lengths = np.maximum(np.array(tokens, np.float32), 1.0)
    lengths /= lengths.mean()
    once = ((BM25_K1 + 1) / (1 + BM25_K1 * (1 - BM25_B + BM25_B * lengths))).astype(np.float32)
    expected = np.zeros(size, np.float32)
    for posting in postings:
        held = np.zeros(size, np.float32)
        held[posting.places] = once[posting.places]
        held = spread(held, weights)
        expected += np.float32(posting.weight) * held * np.float32(1 + EASE) / (held + np.float32(EASE))
    assert np.array_equal(nearby(postings, candidates, weights), expected)
