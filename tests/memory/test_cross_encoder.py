"""Reading question and text together: the cross-encoder itself, and the order in which recall puts its best by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory import model_files
from memory.arms import RERANKED, WITH_EMBEDDER
from memory.candidates import Candidates, of_event_kind
from memory.cross_encoder import CrossEncoder, named_cross_encoder
from memory.errors import RerankerUnavailable
from memory.local_embeddings import RETRY_SECONDS
from memory.ranking import best_first
from memory.rerank_arm import Reranked
from memory.retrieval import recall, recall_chunks
from memory.store import CONVERSATION, MemoryStore
from memory.values import Bullet, NewEvent
from memory.vectors import embed_waiting
from tests.memory.embedders import BrokenEmbedder, TinyEmbedder
from tests.memory.model_hub import model_hub
from tests.memory.test_local_embeddings import closed_port, point_at
from tests.memory.tiny_onnx import write_cross_encoder, write_model

WORTH = {"cat": 3.0, "dog": 1.0, "mat": -2.0, "budget": 10.0}
MS_MARCO = "Xenova/ms-marco-MiniLM-L-6-v2"
SAID = ["the meeting and the dog", "the meeting and the cat", "the meeting on the mat", "the meeting", "the weather"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("models") / "tiny-cross-encoder", WORTH)


@pytest.fixture(scope="module")
def cross_encoder(folder: Path) -> CrossEncoder:
    return CrossEncoder(None, folder=folder, environ={})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """A conversation of a few things said, which recall may return."""
    with MemoryStore(tmp_path / "s.db") as opened:
        said = [opened.append(NewEvent(text=text, role="assistant", source="model")).seq for text in SAID]
        opened.replace_bullets(CONVERSATION, (), [Bullet("b", "b", (), tuple(said), 1, False, "summary", 1)])
        yield opened


@dataclass(frozen=True)
class Fixed:
    """An arm with these scores."""

    each: NDArray[np.float32]
    name: str = "fixed"

    def scores(self, question: str, candidates: Candidates) -> NDArray[np.float32]:
        return self.each


@dataclass(frozen=True)
class NeverAsked:
    name: str = "never asked"

    def scores(self, question: str, candidates: Candidates) -> NDArray[np.float32]:
        raise AssertionError("ranked for nothing")


def test_question_and_text_are_read_together(cross_encoder: CrossEncoder) -> None:
    texts = ["cat", "dog dog dog dog", "the", "", "\ud800\x00 mat"]
    assert cross_encoder.scores("the", texts).tolist() == [3, 4, 0, 0, -2]
    assert cross_encoder.scores("budget " + "x" * 100_000, texts).tolist() == [13, 14, 10, 10, 8]
    assert cross_encoder.scores("the", []).tolist() == []
    assert cross_encoder.scores("the", ["cat " * (n % 7) for n in range(50)]).tolist() == [
        3 * (n % 7) for n in range(50)
    ]


def test_a_setting_names_a_folder_or_a_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert named_cross_encoder(None, {}) is None
    assert named_cross_encoder("", {}) is None
    monkeypatch.chdir(folder.parent)
    for named in (str(folder), folder.name, f"./{folder.name}"):
        found = named_cross_encoder(named, {})
        assert found is not None
        assert (found.name, found.scores("the", ["cat"]).tolist()) == (folder.name, [3])


def test_a_named_model_comes_from_the_cache_and_is_never_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = write_cross_encoder(tmp_path / "m", WORTH, model_file="onnx/model.onnx")
    environ = {"FASTEMBED_CACHE_PATH": str(tmp_path / "cache")}
    with model_hub(weights) as hub:
        point_at(monkeypatch, hub.url)
        with pytest.raises(RerankerUnavailable, match="is not on this machine, and Otto fetches none by itself"):
            CrossEncoder(MS_MARCO, environ=environ).load()
        assert hub.requests == []
        model_files.fetch(MS_MARCO, ["onnx/model.onnx"], tmp_path / "cache")
    point_at(monkeypatch, closed_port())
    assert CrossEncoder(MS_MARCO.lower(), environ=environ).scores("the", ["cat", "dog"]).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "is not a cross-encoder: it has no tokenizer.json"),
        (lambda folder: (folder / "model.onnx").unlink(), "is not a cross-encoder: it has none of model.onnx"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"not a model"), "cannot be loaded"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "cannot be loaded"),
        (write_model, "The cross-encoder m failed"),
        (lambda folder: write_cross_encoder(folder, {"yes": float("nan"), "[UNK]": float("nan")}), "with no number"),
    ],
)
def test_a_spoilt_folder_and_another_kind_of_model_are_one_sentence(tmp_path: Path, spoil: object, says: str) -> None:
    folder = write_cross_encoder(tmp_path / "m", WORTH)
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(RerankerUnavailable, match=says) as caught:
        CrossEncoder(None, folder=folder, environ={}).scores("cat", ["dog"])
    assert "\n" not in str(caught.value)


def test_a_missing_folder_and_an_unknown_name_are_one_sentence(tmp_path: Path) -> None:
    for named, says in (
        (str(tmp_path / "nowhere"), "is not a cross-encoder"),
        ("made/up", "There is no folder made/up"),
    ):
        missing = named_cross_encoder(named, {})
        assert missing is not None
        with pytest.raises(RerankerUnavailable, match=says):
            missing.load()


def test_a_failure_is_remembered_for_a_while_then_tried_again(tmp_path: Path) -> None:
    now = [0.0]
    cross_encoder = CrossEncoder(None, folder=tmp_path / "m", environ={}, now=lambda: now[0])
    for seconds, there in ((0.0, False), (RETRY_SECONDS - 1, True)):
        now[0] = seconds
        if there:
            write_cross_encoder(tmp_path / "m", WORTH)
        with pytest.raises(RerankerUnavailable):
            cross_encoder.load()
    now[0] = RETRY_SECONDS + 1
    # What the folder lacked is looked up anew, not remembered.
    assert cross_encoder.scores("the", ["cat"]).tolist() == [3]


def test_who_said_it_is_read_as_well(tmp_path: Path, cross_encoder: CrossEncoder) -> None:
    with MemoryStore(tmp_path / "v.db") as store:
        for source, text in (("mat", "the cat"), ("budget", "the dog"), ("model", "the mat")):
            store.append(NewEvent(text=text, role="assistant", source=source))
        candidates = of_event_kind(store, "message")
        arm = Reranked(Fixed(np.zeros(3, np.float32)), cross_encoder, store)
        assert best_first(arm.scores("the", candidates)).tolist() == [1, 0, 2]


@given(
    scores=st.lists(st.one_of(st.just(float("nan")), st.floats(-50, 50, width=32)), min_size=5, max_size=5),
    count=st.integers(0, 6),
)
def test_the_best_are_put_in_order_and_the_rest_stays(
    five: tuple[MemoryStore, Candidates], cross_encoder: CrossEncoder, scores: list[float], count: int
) -> None:
    store, candidates = five
    given_scores = np.array(scores, np.float32)
    before = best_first(given_scores).tolist()
    found = Reranked(Fixed(given_scores.copy()), cross_encoder, store, count).scores("the", candidates)
    after = best_first(found).tolist()
    fits = cross_encoder.scores("the", SAID).tolist()
    assert after[:count] == sorted(before[:count], key=lambda place: -fits[place])
    assert after[count:] == before[count:]
    assert np.array_equal(np.isnan(found), np.isnan(given_scores))


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[MemoryStore, Candidates]]:
    with MemoryStore(tmp_path_factory.mktemp("five") / "s.db") as store:
        for text in SAID:
            store.append(NewEvent(text=text, role="assistant", source="model"))
        yield store, of_event_kind(store, "message")


def test_recall_puts_what_it_finds_in_that_order(store: MemoryStore, cross_encoder: CrossEncoder) -> None:
    embed_waiting(store, TinyEmbedder())
    for embedder, by in ((None, "recency"), (TinyEmbedder(), "dense"), (BrokenEmbedder(), "recency")):
        result = recall(store, CONVERSATION, "meeting", embedder=embedder, reranker=cross_encoder, window=0)
        best = sorted(result.items, key=lambda item: -item.score)
        assert [item.text for item in best if "meeting" in item.text] == [SAID[1], SAID[0], SAID[3], SAID[2]]
        assert "reranked" in result.ranked_by
        assert by in result.ranked_by
    # What is no hit stays none, and where nothing is one the newest come back.
    assert "reranked" not in recall(store, CONVERSATION, "zebra", reranker=cross_encoder).ranked_by
    assert recall(store, CONVERSATION, " ", reranker=cross_encoder).ranked_by == "recency"


def test_a_reranker_that_cannot_be_had_changes_nothing_and_it_is_said(store: MemoryStore, tmp_path: Path) -> None:
    embedder = TinyEmbedder()
    embed_waiting(store, embedder)
    missing = named_cross_encoder(str(tmp_path / "nowhere"), {})
    for given_embedder in (embedder, None):
        without = recall(store, CONVERSATION, "meeting", embedder=given_embedder)
        with_missing = recall(store, CONVERSATION, "meeting", embedder=given_embedder, reranker=missing)
        assert (with_missing.items, with_missing.ranked_by) == (without.items, without.ranked_by)
        assert (with_missing.warning or "").startswith(without.warning or "The folder")
        assert (with_missing.warning or "").endswith("This was ranked without a cross-encoder.")
    assert recall_chunks(store, "message", "meeting", reranker=missing).items
    with pytest.raises(RerankerUnavailable, match="nowhere is not a cross-encoder"):
        recall(store, CONVERSATION, "meeting", embedder=embedder, reranker=missing, arm=RERANKED)


def test_the_named_arm_says_what_to_set(store: MemoryStore, cross_encoder: CrossEncoder) -> None:
    with pytest.raises(RerankerUnavailable, match=r"No cross-encoder is set\. Set \[embedding\] reranker to a folder"):
        recall(store, CONVERSATION, "meeting", arm=RERANKED)
    assert recall(store, CONVERSATION, "meeting", arm=RERANKED, reranker=cross_encoder).items
    # An arm that was named otherwise is that arm.
    embedder = TinyEmbedder()
    embed_waiting(store, embedder)
    named = recall(store, CONVERSATION, "meeting", arm=WITH_EMBEDDER, embedder=embedder, reranker=cross_encoder)
    assert named == recall(store, CONVERSATION, "meeting", embedder=embedder)


def test_nothing_is_ranked_before_the_cross_encoder_is_there(store: MemoryStore, tmp_path: Path) -> None:
    missing = CrossEncoder(None, folder=tmp_path / "nowhere", environ={})
    with pytest.raises(RerankerUnavailable):
        Reranked(NeverAsked(), missing, store).scores("the", of_event_kind(store, "message"))
