"""How long ranking takes beside the least that it could: a matrix-vector product and a query of the keyword index."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.long_tapes import RandomVectors
from memory.candidates import behind_bullets
from memory.embeddings import Embedder
from memory.retrieval import recall
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from memory.vector_cache import VectorCache
from memory.word_arms import MOST_MATCHES
from memory.words import match_query

if TYPE_CHECKING:
    from memory.embeddings import Vector


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each question, the ways of answering it taken in turns."""

    floor: list[float] = field(default_factory=list)
    """One matrix-vector product over all vectors, and one query of the keyword index."""
    ranked: list[float] = field(default_factory=list)
    """``recall`` with the question's vector at hand."""
    by_keyword: list[float] = field(default_factory=list)
    """``recall`` without an embedder."""
    after_a_turn: list[float] = field(default_factory=list)
    """``recall`` with the question's vector at hand, when something has been said since the last."""


class Ready:
    """An embedder that has the question's vector at hand; ``model`` is asked for one all the same, if given."""

    stamp = RandomVectors.stamp
    dimensions = RandomVectors.dimensions
    threshold = None
    sure = None

    def __init__(self, vector: Vector, model: Embedder | None = None) -> None:
        self._vector = vector
        self._model = model

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        raise NotImplementedError("only questions are embedded here")

    def embed_query(self, text: str) -> Vector:
        if self._model is not None:
            self._model.embed_query(text)
        return self._vector


def time_ranking(store: MemoryStore, questions: Sequence[str]) -> Times:
    """Every question by the floor and by ``recall``, after one of each that does not count."""
    cache = VectorCache()
    matrix, _ = cache.look_up(store, Ready.stamp, behind_bullets(store, CONVERSATION).hashes)
    vectors = RandomVectors().embed_passages(questions)
    times, warming_up = Times(), Times()
    for number, (question, vector) in enumerate([(questions[0], vectors[0]), *zip(questions, vectors, strict=True)]):
        kept = times if number else warming_up
        ready = Ready(vector)
        kept.floor.append(_seconds_of_floor(store, matrix, vector, question))
        kept.ranked.append(_seconds_of_recall(store, question, ready, cache))
        kept.by_keyword.append(_seconds_of_recall(store, question, None, cache))
        store.append(NewEvent(text="Something else was said.", role="user"))
        kept.after_a_turn.append(_seconds_of_recall(store, question, ready, cache))
    return times


def _seconds_of_floor(store: MemoryStore, matrix: Vector, vector: Vector, question: str) -> float:
    began = perf_counter()
    matrix @ vector
    with store.reading() as db:
        cursor = db.cursor()
        cursor.row_factory = None
        cursor.execute(
            "SELECT rowid, rank FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT ?",
            (match_query(question), MOST_MATCHES),
        ).fetchall()
    return perf_counter() - began


def _seconds_of_recall(store: MemoryStore, question: str, embedder: Embedder | None, cache: VectorCache) -> float:
    began = perf_counter()
    result = recall(store, CONVERSATION, question, embedder=embedder, cache=cache)
    taken = perf_counter() - began
    assert result.items
    return taken


def time_whole(store: MemoryStore, model: Embedder, questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Seconds of each question's whole ``recall``, and of embedding it alone, in turns."""
    cache = VectorCache()
    vectors = RandomVectors().embed_passages(questions)
    whole: list[float] = []
    alone: list[float] = []
    for number, (question, vector) in enumerate([(questions[0], vectors[0]), *zip(questions, vectors, strict=True)]):
        began = perf_counter()
        model.embed_query(question)
        embedded = perf_counter() - began
        taken = _seconds_of_recall(store, question, Ready(vector, model), cache)
        if number:
            alone.append(embedded)
            whole.append(taken)
    return whole, alone


def megabytes_held(store: MemoryStore, question: str) -> tuple[float, float]:
    """What the first ``recall`` of an open store leaves in memory, and the most that it takes; numpy's included."""
    cache = VectorCache()
    ready = Ready(RandomVectors().embed_query(question))
    tracemalloc.start()
    try:
        assert recall(store, CONVERSATION, question, embedder=ready, cache=cache).items
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return held / 1e6, most / 1e6


def time_embedders(
    ours: Embedder, theirs: Embedder, texts: Sequence[str], batch: int = 32
) -> tuple[list[float], list[float]]:
    """Seconds a text of each batch with two embedders, in turns, after one batch that does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for start in range(0, len(texts), batch):
        portion = texts[start : start + batch]
        for embedder, taken in zip((ours, theirs), times, strict=True):
            began = perf_counter()
            embedder.embed_passages(portion)
            taken.append((perf_counter() - began) / len(portion))
    return times[0][1:], times[1][1:]
