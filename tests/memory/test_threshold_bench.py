"""The labelled pairs are whole, and the thresholds that come of them follow their rules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.box_embeddings import BoxEmbedder
from memory.embeddings import Embedder
from memory.local_embeddings import LocalEmbedder
from memory.threshold_bench import KEPT, LET_IN, Measured, Pair, Pairs, Report, format_report, load_pairs, measure
from memory.thresholds import Thresholds, bar_of, with_thresholds
from tests.memory.embedders import MINILM, BrokenEmbedder, TinyEmbedder, minilm

LIKENESSES = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=200)


def report(related: list[float], unrelated: list[float]) -> Report:
    def measured(likenesses: list[float]) -> list[Measured]:
        return [Measured(Pair("?", "a-1"), likeness) for likeness in sorted(likenesses)]

    return Report("tiny:a", (None, None), tuple(measured(related)), tuple(reversed(measured(unrelated))))


def test_the_set_is_large_and_varied() -> None:
    pairs = load_pairs()
    assert len(pairs.related) >= 60
    assert len(pairs.unrelated) >= 600
    assert {"code", "names", "dates", "errors", "paths", "lang"} < set(pairs.domains)
    assert len(pairs.domains) >= 12
    assert max(Counter(id.partition("-")[0] for id in pairs.memories).values()) < len(pairs.memories) / 4


def test_every_pair_leads_to_something_that_was_said_and_stands_on_one_side_only() -> None:
    pairs = load_pairs()
    both = [*pairs.related, *pairs.unrelated]
    assert {pair.memory for pair in both} == set(pairs.memories)
    assert len(set(both)) == len(both)
    assert {pair.asks for pair in pairs.related} == {pair.asks for pair in pairs.unrelated}


def test_each_question_has_unrelated_pairs_of_its_own_domain() -> None:
    pairs = load_pairs()
    domain = {pair.asks: pair.memory.partition("-")[0] for pair in pairs.related}
    near = Counter(pair.asks for pair in pairs.unrelated if pair.memory.startswith(f"{domain[pair.asks]}-"))
    assert all(near[question] >= 3 for question in domain)


@given(LIKENESSES, LIKENESSES)
def test_the_threshold_keeps_what_it_promises_and_is_the_highest_that_does(
    related: list[float], unrelated: list[float]
) -> None:
    measured = report(related, unrelated)
    assert measured.at(measured.threshold).recall >= KEPT
    assert measured.at(round(measured.threshold + 0.01, 2)).recall < KEPT or measured.threshold >= min(related)
    assert len(measured.hidden) <= len(related) * (1 - KEPT)


@given(LIKENESSES, LIKENESSES)
def test_sure_lets_in_what_it_may_and_is_never_below_the_threshold(
    related: list[float], unrelated: list[float]
) -> None:
    measured = report(related, unrelated)
    assert measured.at(measured.sure).let_in <= LET_IN
    assert measured.sure >= measured.threshold
    lower = round(measured.sure - 0.02, 2)
    assert lower < measured.threshold or measured.at(lower).let_in > LET_IN


def test_shares_are_counted() -> None:
    measured = report([0.2, 0.5, 0.9], [0.1, 0.3, 0.6, 0.6])
    assert measured.threshold == 0.2
    assert measured.sure == 0.61
    at = measured.at(0.5)
    assert (at.recall, at.precision, at.let_in) == (2 / 3, 2 / 4, 2 / 4)
    assert measured.at(1.0).precision == 1.0
    printed = format_report(measured)
    assert "0.20         100.0%" in printed
    assert "<- threshold" in printed
    assert "<- sure" in printed


def test_related_pairs_that_are_hidden_are_named() -> None:
    related = [0.1, *[0.5] * 60]
    measured = report(related, [0.0])
    assert [each.likeness for each in measured.hidden] == [0.1]
    assert "hidden, 0.100: ? (a-1)" in format_report(measured)


def test_an_embedder_is_asked_for_each_text_once() -> None:
    pairs = Pairs(
        {"a-1": "the cat sat", "b-1": "a dog ran"},
        (Pair("cat?", "a-1"), Pair("dog?", "b-1")),
        (Pair("cat?", "b-1"), Pair("dog?", "a-1")),
    )
    embedder = TinyEmbedder(threshold=0.5, sure=0.75)
    counts: list[tuple[int, int]] = []
    measured = measure(embedder, pairs, lambda done, total: counts.append((done, total)))
    assert embedder.passages == 2
    assert counts == [(1, 2), (2, 2)]
    assert measured.carried == (0.5, 0.75)
    assert min(each.likeness for each in measured.related) > max(each.likeness for each in measured.unrelated)


@pytest.mark.parametrize("name", ["box", *(["minilm"] if MINILM.is_dir() else [])])
def test_an_embedder_carries_what_is_measured(name: str, tmp_path: Path) -> None:
    embedder: Embedder = BoxEmbedder() if name == "box" else minilm(tmp_path)
    measured = measure(embedder, load_pairs())
    assert (embedder.threshold, embedder.sure) == (measured.threshold, measured.sure)


def test_models_that_were_not_measured_carry_nothing(tmp_path: Path) -> None:
    from memory.hosted_embeddings import HostedEmbedder

    bge = LocalEmbedder("BAAI/bge-small-en-v1.5", cache_dir=tmp_path, may_fetch=False)
    hosted = HostedEmbedder.named("openai:text-embedding-3-small", environ={}, servers={})
    assert (bge.threshold, bge.sure, hosted.threshold, hosted.sure) == (None, None, None, None)


def test_what_was_measured_goes_before_what_an_embedder_carries() -> None:
    tiny = TinyEmbedder(threshold=0.1, sure=0.2)
    assert with_thresholds(tiny, {}) is tiny
    other = with_thresholds(tiny, {"another": Thresholds(0.5, 0.6)})
    assert (other.threshold, other.sure) == (0.1, 0.2)
    known = with_thresholds(tiny, {tiny.stamp: Thresholds(0.5, 0.6)})
    assert (known.threshold, known.sure, known.stamp, known.dimensions) == (0.5, 0.6, tiny.stamp, tiny.dimensions)
    assert (known.embed_passages(["cat"])[0] == tiny.embed_query("cat")).all()
    assert (known.embed_query("cat") == tiny.embed_query("cat")).all()


def test_a_question_of_which_no_word_was_said_needs_a_likeness_that_is_sure() -> None:
    assert bar_of(TinyEmbedder(threshold=0.1, sure=0.2), any_word=True) == 0.1
    assert bar_of(TinyEmbedder(threshold=0.1, sure=0.2), any_word=False) == 0.2
    assert bar_of(TinyEmbedder(threshold=0.1), any_word=False) == 0.1
    assert bar_of(TinyEmbedder(), any_word=False) is None


def test_a_model_that_is_away_says_so() -> None:
    from memory.errors import EmbeddingUnavailable

    with pytest.raises(EmbeddingUnavailable, match="The model is away"):
        measure(BrokenEmbedder(), load_pairs())
