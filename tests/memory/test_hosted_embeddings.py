"""Embedding by a vendor, over real HTTP: right vectors, and one sentence for each way to fail."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memory import hosted_embeddings
from memory.embeddings import EmbeddingServer
from memory.errors import EmbeddingUnavailable
from memory.hosted_embeddings import MOST_TEXTS, HostedEmbedder
from tests.memory.embedding_server import KEY, EmbeddingService, embedding_service, openai_reply


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with embedding_service() as running:
        yield running


def openai(service: EmbeddingService, **environ: str) -> HostedEmbedder:
    known = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": service.api_base, **environ}
    return HostedEmbedder.named("openai:some-model", environ=known, servers={})


def test_vectors_come_back_in_the_order_of_the_texts(service: EmbeddingService) -> None:
    texts = [f"text number {n} about {n * 7}" for n in range(10)]
    rows = openai(service).embed_passages(texts)
    expected = np.stack([service.model.vector(text) for text in texts])
    assert rows.dtype == np.float32
    assert np.allclose(rows, expected, atol=1e-5)
    assert service.texts == texts
    assert service.keys == [f"Bearer {KEY}"]
    assert service.requests[0]["body"]["model"] == "some-model"


def test_a_question_is_one_vector_and_dimensions_are_learnt(service: EmbeddingService) -> None:
    embedder = openai(service)
    assert embedder.dimensions is None
    assert np.allclose(embedder.embed_query("where?"), service.model.vector("where?"), atol=1e-5)
    assert embedder.dimensions == service.model.dimensions
    assert embedder.stamp == "openai:some-model"


def test_many_texts_go_in_several_requests(service: EmbeddingService) -> None:
    texts = [f"text {n}" for n in range(MOST_TEXTS * 2 + 1)]
    rows = openai(service).embed_passages(texts)
    assert rows.shape[0] == len(texts)
    assert [len(request["texts"]) for request in service.requests] == [MOST_TEXTS, MOST_TEXTS, 1]
    assert np.allclose(rows[-1], service.model.vector(texts[-1]), atol=1e-5)


def test_texts_that_vendors_refuse_are_made_acceptable(service: EmbeddingService) -> None:
    openai(service).embed_passages(["", "  \n", "a\ud800b\x00"])
    assert all(text.strip() for text in service.texts)
    assert openai(service).embed_passages([]).shape[0] == 0
    openai(service).embed_query("long " * 500_000)
    assert len(service.texts[-1]) <= 6_000


def test_gemini_is_told_questions_from_passages(service: EmbeddingService) -> None:
    environ = {"GEMINI_API_KEY": KEY, "GEMINI_API_BASE": service.url}
    embedder = HostedEmbedder.named("gemini:some-embedding", environ=environ, servers={})
    rows = embedder.embed_passages(["one passage", "another"])
    embedder.embed_query("a question")
    assert np.allclose(rows[1], service.model.vector("another"), atol=1e-5)
    assert [request["tasks"] for request in service.requests] == [["RETRIEVAL_DOCUMENT"] * 2, ["RETRIEVAL_QUERY"]]


def test_a_server_of_the_persons_own_needs_no_key(service: EmbeddingService) -> None:
    servers = {"mine": EmbeddingServer(service.api_base)}
    embedder = HostedEmbedder.named("mine:bge-m3", environ={}, servers=servers)
    assert embedder.embed_query("x").shape == (service.model.dimensions,)
    assert embedder.stamp == "mine:bge-m3"
    assert not embedder.leaves_machine


@pytest.mark.parametrize(
    ("name", "environ", "leaves"),
    [
        ("openai:m", {"OPENAI_API_KEY": "k"}, True),
        ("openai:m", {"OPENAI_BASE_URL": "http://localhost:8080/v1"}, False),
        ("openai:m", {"OPENAI_BASE_URL": "http://[::1]:8080/v1"}, False),
        ("openai:m", {"OPENAI_BASE_URL": "http://127.0.0.1.example.org/v1"}, True),
        ("gemini:m", {}, True),
        ("ollama:m", {}, False),
        ("ollama:m", {"OLLAMA_HOST": "127.0.0.1:11434"}, False),
        ("ollama:m", {"OLLAMA_HOST": "gpu.example.org:11434"}, True),
        ("ollama:m", {"OLLAMA_HOST": "0.0.0.0"}, True),
    ],
)
def test_it_is_known_whether_text_leaves_the_machine(name: str, environ: dict[str, str], leaves: bool) -> None:
    assert HostedEmbedder.named(name, environ=environ, servers={}).leaves_machine is leaves


def test_without_a_key_nothing_is_sent() -> None:
    for name, variable in (("openai:m", "OPENAI_API_KEY"), ("gemini:m", "GEMINI_API_KEY"), ("x-y:m", "X_Y_API_KEY")):
        with pytest.raises(EmbeddingUnavailable, match=f"needs a key. Set {variable}"):
            HostedEmbedder.named(name, environ={}, servers={}).embed_query("x")


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (401, {"error": {"message": f"bad key {KEY}", "code": "invalid_api_key"}}, "refused the key. Check OPENAI_API"),
        (403, {"error": {"message": "no"}}, "refused the key"),
        (404, {"error": {"message": "no such model", "code": "model_not_found"}}, "has no embedding model some-model"),
        (429, {"error": {"message": "slow down"}}, "limiting requests"),
        (500, {"error": {"message": "boom"}}, "openai:some-model"),
        (503, b"<html>busy</html>", "openai:some-model"),
        (400, {"error": {"message": "bad request\nwith two lines"}}, "failed"),
        (200, b"not json", "openai:some-model"),
        (200, {"data": []}, "did not answer with embeddings"),
        (200, openai_reply([[1.0, 2.0], [3.0, 4.0]]), "1 vectors were asked for and 2 came"),
        (200, openai_reply([[]]), "did not answer with embeddings"),
        (200, openai_reply([[0.0, 0.0]]), "no number"),
        (200, {"object": "list", "data": [{"index": 0, "embedding": ["a"]}]}, "openai:some-model"),
        (200, {"object": "list", "data": [{"index": 0, "embedding": [math.nan]}]}, "openai:some-model"),
    ],
)
def test_each_failure_is_one_sentence_without_the_key(
    service: EmbeddingService, status: int, body: Any, says: str
) -> None:
    service.script.append((status, body))
    with pytest.raises(EmbeddingUnavailable) as caught:
        openai(service).embed_query("x")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(service.requests) == 1


def test_a_server_that_hangs_is_given_up(service: EmbeddingService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted_embeddings, "TIMEOUT", 0.5)
    service.script.append((0, None))
    with pytest.raises(EmbeddingUnavailable, match="did not answer"):
        openai(service).embed_query("x")


def test_a_server_that_is_down_is_one_sentence() -> None:
    with embedding_service() as service:
        embedder = openai(service)
    with pytest.raises(EmbeddingUnavailable, match=r"cannot be reached|failed"):
        embedder.embed_query("x")


def test_a_server_that_changes_its_model_is_noticed(service: EmbeddingService) -> None:
    embedder = openai(service)
    embedder.embed_query("x")
    service.script.append((200, openai_reply([[1.0, 2.0]])))
    with pytest.raises(EmbeddingUnavailable, match="its vectors have 2 numbers where they had 512"):
        embedder.embed_query("x")
