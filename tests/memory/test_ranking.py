"""Each ranking arm does what its name says, and arms combine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.candidates import Candidates, of_event_kind
from memory.dense_arms import Dense, NearDense, sum_lengths
from memory.fusion import Blend, LikenessAndAge, RankFusion, Spread, Weighted
from memory.ranking import Ranking, Recency, best_first, spread, standard
from memory.store import MemoryStore
from memory.values import NewEvent
from memory.word_arms import Keyword, NearWords
from memory.word_index import WordIndex
from tests.memory.embedders import TinyEmbedder

NAN = float("nan")


@dataclass(frozen=True)
class Fixed:
    """An arm with given scores."""

    values: tuple[float, ...]
    name: str = "fixed"

    def scores(self, question: str, candidates: Candidates) -> NDArray[np.float32]:
        return np.array(self.values, np.float32)


def some(count: int) -> Candidates:
    return Candidates(
        tuple(range(1, count + 1)), tuple(f"h{n}" for n in range(count)), tuple(range(count)), (1,) * count
    )


def dense(embedder: TinyEmbedder, texts: list[str | None]) -> Dense:
    rows = embedder.embed_passages([text or "" for text in texts])
    places = np.array([n if text is not None else -1 for n, text in enumerate(texts)], np.intp)
    return Dense(embedder, rows, places)


def test_dense_scores_by_likeness_and_knows_what_it_has_no_vector_of() -> None:
    scores = dense(TinyEmbedder(), ["harbour dawn", None, "other words"]).scores("dawn harbour", some(3))
    assert scores[0] > 0.9
    assert np.isnan(scores[1])
    assert scores[2] < 0.2


def test_keyword_scores_shared_words_only(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "s.db") as store:
        for text in ("the harbour", "nothing", "harbour harbour dawn"):
            store.append(NewEvent(text=text, role="tool", kind="tool"))
        candidates = of_event_kind(store, "tool")
        scores = Keyword(store).scores("harbour dawn", candidates)
        assert scores[2] > scores[0] > 0 == scores[1]
        assert not Keyword(store).scores("?!", candidates).any()


def test_recency_prefers_the_newest() -> None:
    assert list(best_first(Recency().scores("", some(4)))) == [3, 2, 1, 0]


def test_best_first_leaves_out_what_has_no_score_and_prefers_the_newer_of_equals() -> None:
    assert list(best_first(np.array([1.0, NAN, 3.0, 1.0], np.float32))) == [2, 3, 0]


def test_spreading_reaches_the_neighbours() -> None:
    scores = Spread(Fixed((0, 0, 1, 0, 0)), (0.5, 0.25)).scores("", some(5))
    assert list(scores) == [0.25, 0.5, 1, 0.5, 0.25]
    assert np.isnan(spread(np.array([NAN, 1.0], np.float32), (0.5,))[0])


@given(st.lists(st.floats(-9, 9, width=32), max_size=9), st.lists(st.floats(0, 1, width=32), max_size=12))
def test_spreading_is_the_sum_of_what_each_neighbour_gives(values: list[float], weights: list[float]) -> None:
    expected = [
        value
        + sum(
            weight * values[near]
            for distance, weight in enumerate(weights, 1)
            for near in (place - distance, place + distance)
            if 0 <= near < len(values)
        )
        for place, value in enumerate(values)
    ]
    assert np.allclose(spread(np.array(values, np.float32), tuple(weights)), expected, atol=1e-3)


def blend(*arms: Ranking, **more: int) -> Blend:
    return Blend(tuple(map(Weighted, arms)), **more)  # type: ignore[arg-type]


def test_a_blend_weighs_both_arms_alike_whatever_their_scale(tmp_path: Path) -> None:
    texts = ["harbour", "dawn", "filler", "filler two", "filler three"]
    with MemoryStore(tmp_path / "s.db") as store:
        for text in texts:
            store.append(NewEvent(text=text, role="tool", kind="tool"))
        candidates = of_event_kind(store, "tool")
        arm = blend(dense(TinyEmbedder(), [*texts[:4], None]), Keyword(store))
        assert arm.name == "dense+bm25"
        assert best_first(arm.scores("harbour", candidates))[0] == 0
        # What has no vector counts as average and can still be found by its words.
        assert best_first(arm.scores("three", candidates))[0] == 4


def test_a_boost_stands_as_it_is_beside_scores_that_are_measured() -> None:
    arm = Blend((Weighted(Fixed((9, 1, 1, 1))),), (Weighted(Fixed((0, 0, 1, NAN)), 2.0),))
    scores = arm.scores("", some(4))
    assert scores[2] - scores[1] == pytest.approx(2.0)
    assert scores[3] == scores[1]


def test_what_no_arm_ranks_high_does_not_change_how_the_others_compare() -> None:
    few, many = (9.0, 5.0, 4.0), (1.0, 6.0, 2.0)
    near = blend(Fixed(few), Fixed(many), pool=2).scores("", some(3))
    far = blend(Fixed((*few, *[0.0] * 500)), Fixed((*many, *[-7.0] * 500)), pool=2).scores("", some(503))
    assert np.allclose(near - near[0], far[:3] - far[0], atol=1e-4)


def test_scores_that_hardly_differ_say_nothing() -> None:
    scores = np.array([0.5, 0.5001, 0.4999], np.float32)
    assert np.abs(standard(scores)).max() > 1
    assert np.abs(standard(scores, least=0.02)).max() < 0.01
    assert not standard(np.full(3, 0.7, np.float32)).any()


def test_rank_fusion_prefers_what_several_arms_rank_high() -> None:
    fused = RankFusion((Weighted(Fixed((9, 8, 0, 0))), Weighted(Fixed((0, 8, 9, 0))))).scores("", some(4))
    assert best_first(fused)[0] == 1
    assert fused[0] == pytest.approx(1 / 21)


def test_no_arm_minds_having_no_candidates(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "s.db") as store:
        nothing = some(0)
        empty = Dense(TinyEmbedder(), np.empty((0, 0), np.float32), np.empty(0, np.intp))
        near = NearDense(empty, sum_lengths(np.empty((0, 0), np.float32), np.empty(0, np.intp)))
        both = blend(near, NearWords(WordIndex(store)))
        for arm in (empty, Keyword(store), Recency(), Spread(Recency(), (0.5,)), both, LikenessAndAge(empty)):
            assert arm.scores("anything", nothing).shape == (0,)
