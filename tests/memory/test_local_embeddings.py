"""Embedding on this machine: from a folder, from the cache, from a hub, and without any of them."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from memory import local_embeddings
from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.local_embeddings import RETRY_SECONDS, LocalEmbedder
from tests.memory.embedders import MINILM, minilm
from tests.memory.model_hub import ModelHub, model_hub
from tests.memory.tiny_onnx import write_model

BGE = "BAAI/bge-small-en-v1.5"


def point_at(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def check_is_an_embedder(embedder: Embedder) -> None:
    rows = embedder.embed_passages(
        ["the cat sat on the mat", "the dog ran", "budget meeting", "", "  \n", "\ud800\x00"]
    )
    assert rows.shape == (6, embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    query = embedder.embed_query("cat mat")
    assert query.shape == (embedder.dimensions,)
    assert int(np.argmax(rows[:3] @ query)) == 0
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)


def test_a_folder_with_a_model_embeds(tmp_path: Path) -> None:
    check_is_an_embedder(LocalEmbedder(None, folder=write_model(tmp_path / "m"), cache_dir=tmp_path))


@pytest.mark.skipif(not MINILM.is_dir(), reason="the real weights are not beside this clone")
def test_the_real_model_embeds_by_meaning(tmp_path: Path) -> None:
    embedder = minilm(tmp_path)
    check_is_an_embedder(embedder)
    rows = embedder.embed_passages(["A feline rests on a rug.", "Stocks fell sharply."])
    assert int(np.argmax(rows @ embedder.embed_query("Where is the cat?"))) == 0
    assert embedder.threshold is not None


def test_order_and_batching_do_not_change_a_vector(tmp_path: Path) -> None:
    embedder = LocalEmbedder(None, folder=write_model(tmp_path / "m"), cache_dir=tmp_path)
    texts = [" ".join(["cat", "dog", "budget"][n % 3 :] * (n % 7 + 1)) for n in range(50)]
    together = embedder.embed_passages(texts)
    alone = np.stack([embedder.embed_passages([text])[0] for text in texts])
    assert np.allclose(together, alone, atol=1e-5)


def test_a_question_of_a_megabyte_is_embedded(tmp_path: Path) -> None:
    embedder = LocalEmbedder(None, folder=write_model(tmp_path / "m"), cache_dir=tmp_path)
    assert embedder.embed_query("cat " * 250_000).shape == (384,)


def test_many_threads_share_one_model(tmp_path: Path) -> None:
    embedder = LocalEmbedder(None, folder=write_model(tmp_path / "m"), cache_dir=tmp_path)
    with ThreadPoolExecutor(8) as threads:
        rows = list(threads.map(lambda _: embedder.embed_query("cat"), range(32)))
    assert all(np.array_equal(rows[0], row) for row in rows)


def test_the_stamp_names_the_weights_not_the_place(tmp_path: Path) -> None:
    here = LocalEmbedder(None, folder=write_model(tmp_path / "a" / "m"), cache_dir=tmp_path)
    there = LocalEmbedder(None, folder=write_model(tmp_path / "b" / "m"), cache_dir=tmp_path)
    other = LocalEmbedder(None, folder=write_model(tmp_path / "c" / "m", dimensions=32), cache_dir=tmp_path)
    assert here.stamp == there.stamp != other.stamp
    assert here.stamp.startswith("fastembed:m@")
    assert LocalEmbedder(BGE, cache_dir=tmp_path).stamp == f"fastembed:{BGE}"


def test_pooling_is_what_the_folder_says(tmp_path: Path) -> None:
    mean = LocalEmbedder(None, folder=write_model(tmp_path / "mean"), cache_dir=tmp_path)
    cls = LocalEmbedder(None, folder=write_model(tmp_path / "cls", cls=True), cache_dir=tmp_path)
    texts = ["cat", "dog ran"]
    # The first token is the same in every text, so CLS pooling cannot tell them apart.
    assert np.ptp(cls.embed_passages(texts), axis=0).max() < 1e-5
    assert np.ptp(mean.embed_passages(texts), axis=0).max() > 1e-2


def test_the_query_prefix_is_the_models_own(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    plain = LocalEmbedder(None, folder=folder, cache_dir=tmp_path)
    expected = plain.embed_query("budget meeting cat"), plain.embed_passages(["cat"])
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "budget meeting "}}))
    prompted = LocalEmbedder(None, folder=folder, cache_dir=tmp_path)
    assert np.allclose(prompted.embed_query("cat"), expected[0], atol=1e-5)
    assert np.allclose(prompted.embed_passages(["cat"]), expected[1], atol=1e-5)


def test_bge_asks_with_its_own_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path / "m", model_file="model_optimized.onnx")
    embedder = LocalEmbedder(BGE, folder=folder, cache_dir=tmp_path)
    seen: list[str] = []

    def note(texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        seen.extend(texts)
        return np.ones((len(texts), 384), np.float32)

    monkeypatch.setattr(embedder, "_embed", note)
    embedder.embed_query("where?")
    embedder.embed_passages(["here"])
    assert seen == ["Represent this sentence for searching relevant passages: where?", "here"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer.json"),
        (lambda folder: (folder / "model.onnx").unlink(), "none of model.onnx"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"not a model"), "cannot be loaded"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be (read|loaded)"),
        (lambda folder: (folder / "config.json").write_text("{}"), "hidden_size"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "cannot be loaded"),
    ],
)
def test_a_spoilt_folder_is_one_sentence(tmp_path: Path, spoil: object, says: str) -> None:
    folder = write_model(tmp_path / "m")
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(EmbeddingUnavailable, match=says) as caught:
        LocalEmbedder(None, folder=folder, cache_dir=tmp_path).embed_query("cat")
    assert "\n" not in str(caught.value)


def test_a_missing_folder_and_an_unknown_model_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="is not an embedding model"):
        LocalEmbedder(None, folder=tmp_path / "nowhere", cache_dir=tmp_path).embed_query("cat")
    with pytest.raises(EmbeddingUnavailable, match="no embedding model named made/up"):
        LocalEmbedder("made/up", cache_dir=tmp_path).embed_query("cat")


def test_without_weights_or_network_it_is_known_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(monkeypatch, closed_port())
    embedder = LocalEmbedder(BGE, cache_dir=tmp_path)
    with pytest.raises(EmbeddingUnavailable, match="not on this machine and the model hub cannot be reached"):
        embedder.embed_query("cat")


def test_a_hub_that_never_answers_holds_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_hub(tmp_path, "silent") as hub:
        point_at(monkeypatch, hub.url)
        with pytest.raises(EmbeddingUnavailable, match="being fetched in the background"):
            LocalEmbedder(BGE, cache_dir=tmp_path / "cache").embed_query("cat")
        with pytest.raises(EmbeddingUnavailable, match="the model hub cannot be reached"):
            LocalEmbedder(BGE, cache_dir=tmp_path / "cache", wait=True).embed_query("cat")


def test_nothing_is_fetched_where_that_is_forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_hub(tmp_path) as hub:
        point_at(monkeypatch, hub.url)
        with pytest.raises(EmbeddingUnavailable, match="not on this machine"):
            LocalEmbedder(BGE, cache_dir=tmp_path / "cache", may_fetch=False).embed_query("cat")
        assert hub.requests == []


@pytest.mark.parametrize("wait", [True, False])
def test_weights_are_fetched_once_and_then_need_no_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: bool
) -> None:
    folder = write_model(tmp_path / "m", model_file="model_optimized.onnx")
    cache = tmp_path / "cache"
    with model_hub(folder) as hub:
        point_at(monkeypatch, hub.url)
        monkeypatch.setattr(local_embeddings, "FETCH_PATIENCE", 60.0)
        assert LocalEmbedder(BGE, cache_dir=cache, wait=wait).embed_query("cat").shape == (384,)
        assert any("model_optimized.onnx" in request for request in hub.requests)
    point_at(monkeypatch, closed_port())
    assert LocalEmbedder(BGE, cache_dir=cache).embed_query("cat").shape == (384,)


def test_a_fetch_goes_on_behind_and_is_used_when_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path / "m", model_file="model_optimized.onnx")
    monkeypatch.setattr(local_embeddings, "FETCH_PATIENCE", 0.0)
    with model_hub(folder) as hub:
        point_at(monkeypatch, hub.url)
        embedder = LocalEmbedder(BGE, cache_dir=tmp_path / "cache")
        with pytest.raises(EmbeddingUnavailable, match="being fetched in the background"):
            embedder.embed_query("cat")
        (fetching,) = [thread for thread in threading.enumerate() if thread.name == "otto-fetch-weights"]
        assert fetching.daemon
        fetching.join()
        assert embedder.embed_query("cat").shape == (384,)


def test_a_fetch_that_breaks_off_leaves_nothing_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path / "m", model_file="model_optimized.onnx")
    cache = tmp_path / "cache"
    with model_hub(folder, "cut") as hub:
        point_at(monkeypatch, hub.url)
        with pytest.raises(EmbeddingUnavailable, match="fetching it failed"):
            LocalEmbedder(BGE, cache_dir=cache, wait=True).embed_query("cat")
        hub.mood = "fine"
        assert LocalEmbedder(BGE, cache_dir=cache, wait=True).embed_query("cat").shape == (384,)


def test_a_hub_without_the_weights_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path / "m", model_file="other.onnx")
    with model_hub(folder) as hub:
        point_at(monkeypatch, hub.url)
        with pytest.raises(EmbeddingUnavailable, match=r"the hub has no model_optimized\.onnx"):
            LocalEmbedder(BGE, cache_dir=tmp_path / "cache", wait=True).embed_query("cat")


def test_a_failure_is_remembered_for_a_while_then_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path / "m", model_file="model_optimized.onnx")
    now = [0.0]
    with model_hub(folder) as hub:
        embedder = LocalEmbedder(BGE, cache_dir=tmp_path / "cache", wait=True, now=lambda: now[0])
        point_at(monkeypatch, closed_port())
        _fails(embedder)
        point_at(monkeypatch, hub.url)
        now[0] = RETRY_SECONDS - 1
        _fails(embedder)
        assert _asked(hub) == []
        now[0] = RETRY_SECONDS + 1
        assert embedder.embed_query("cat").shape == (384,)


def _fails(embedder: LocalEmbedder) -> None:
    with pytest.raises(EmbeddingUnavailable):
        embedder.embed_query("cat")


def _asked(hub: ModelHub) -> list[str]:
    return list(hub.requests)
