"""Vectors are made behind, resumably, and two embedding spaces are never mixed."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memory.box_embeddings import BoxEmbedder
from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.store import MemoryStore
from memory.values import NewEvent
from memory.vector_cache import VectorCache
from memory.vectors import current_stamp, embed_waiting, embedding_state, of_current_stamp, reembed
from tests.memory.embedders import BrokenEmbedder, TinyEmbedder, every_embedder, make_embedder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "s.db") as opened:
        yield opened


@pytest.fixture(params=every_embedder())
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Embedder:
    return make_embedder(request.param, tmp_path)


def say(store: MemoryStore, *texts: str) -> None:
    for text in texts:
        store.append(NewEvent(text=text, role="user"))


def vectors(store: MemoryStore) -> dict[tuple[str, str], np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """Every vector on disk by stamp and the words it stands for."""
    rows = store.reader().execute("SELECT stamp, hash, vector FROM vectors").fetchall()
    words = {row["hash"]: _words(store, row["hash"]) for row in rows}
    return {(row["stamp"], words[row["hash"]]): np.frombuffer(row["vector"], "<f4") for row in rows}


def _words(store: MemoryStore, hash: str) -> str:
    chunk = store.chunk(hash)
    assert chunk is not None
    return store.chunk_text(chunk)


def after(count: int) -> Callable[[], bool]:
    """True from the call after ``count`` calls on."""
    left = [count]

    def stop() -> bool:
        left[0] -= 1
        return left[0] < 0

    return stop


def test_every_chunk_gets_the_vector_of_its_words(store: MemoryStore, embedder: Embedder) -> None:
    say(store, "the cat sat", "la réunion est vendredi", "今天天气很好", "long word " * 300)
    store.append(NewEvent(text="a note", role="system", kind="note"))
    assert embed_waiting(store, embedder, batch=3) == store.counts().chunks
    state = embedding_state(store)
    assert (state.stamp, state.embedded, state.waiting) == (embedder.stamp, store.counts().chunks, 0)
    for (stamp, text), vector in vectors(store).items():
        assert stamp == embedder.stamp
        assert np.allclose(vector, embedder.embed_passages([text])[0], atol=1e-5)


def test_an_empty_store_has_no_stamp(store: MemoryStore) -> None:
    assert embed_waiting(store, TinyEmbedder()) == 0
    assert embedding_state(store).stamp is None
    say(store, "one")
    assert embedding_state(store).waiting == 1


def test_only_what_is_new_is_embedded(store: MemoryStore) -> None:
    embedder = TinyEmbedder()
    say(store, "one", "two")
    embed_waiting(store, embedder)
    say(store, "three")
    assert embed_waiting(store, embedder) == 1
    assert embedder.passages == 3


def test_a_stopped_run_keeps_its_batches_and_goes_on(store: MemoryStore) -> None:
    say(store, *(f"text {n}" for n in range(10)))
    embedder = TinyEmbedder()
    assert embed_waiting(store, embedder, batch=2, stop=after(3)) == 6
    assert embedding_state(store).waiting == 4
    told: list[tuple[int, int]] = []
    assert embed_waiting(store, embedder, batch=2, progress=lambda done, total: told.append((done, total))) == 4
    assert told == [(8, 10), (10, 10)]
    assert embedder.passages == 10


def test_a_model_that_fails_loses_no_finished_batch(store: MemoryStore) -> None:
    say(store, *(f"text {n}" for n in range(10)))
    with pytest.raises(EmbeddingUnavailable):
        embed_waiting(store, BrokenEmbedder(after=4), batch=2)
    assert embedding_state(store).embedded == 4
    assert embed_waiting(store, TinyEmbedder(), batch=2) == 6


def test_the_writer_is_free_while_the_model_works(store: MemoryStore) -> None:
    say(store, "one", "two")
    embedder = TinyEmbedder()
    embedder.before_batch = lambda: say(store, "said meanwhile") if store.counts().events < 4 else None
    assert embed_waiting(store, embedder, batch=1) == 4
    assert store.counts().events == 4


def test_another_models_vectors_are_refused_and_nothing_is_written(store: MemoryStore) -> None:
    say(store, "one")
    embed_waiting(store, TinyEmbedder("tiny:a"))
    say(store, "two")
    with pytest.raises(EmbeddingUnavailable, match="otto sessions --reembed s"):
        embed_waiting(store, TinyEmbedder("tiny:b"))
    assert {stamp for stamp, _ in vectors(store)} == {"tiny:a"}


def test_reembedding_changes_over_at_the_end_and_tells_how_far_it_is(store: MemoryStore) -> None:
    say(store, *(f"text {n}" for n in range(5)))
    embed_waiting(store, TinyEmbedder("tiny:a"))
    told: list[tuple[int, int, str | None]] = []
    state = reembed(
        store, TinyEmbedder("tiny:b"), lambda done, total: told.append((done, total, current_stamp(store))), batch=2
    )
    assert told == [(0, 5, "tiny:a"), (2, 5, "tiny:a"), (4, 5, "tiny:a"), (5, 5, "tiny:a")]
    assert (state.stamp, state.embedded, state.waiting) == ("tiny:b", 5, 0)
    assert {stamp for stamp, _ in vectors(store)} == {"tiny:b"}


def test_what_is_to_be_kept_makes_the_way_back_free(store: MemoryStore) -> None:
    say(store, *(f"text {n}" for n in range(5)))
    one, other = TinyEmbedder("tiny:a"), TinyEmbedder("tiny:b")
    embed_waiting(store, one)
    reembed(store, other, keep={"tiny:a"})
    assert current_stamp(store) == "tiny:b"
    say(store, "said since")
    embed_waiting(store, other)
    state = reembed(store, one)
    assert (state.stamp, state.embedded, state.waiting) == ("tiny:a", 6, 0)
    assert one.passages == 6
    assert {stamp for stamp, _ in vectors(store)} == {"tiny:a"}


def test_the_embedder_that_can_rank_is_the_one_of_the_current_stamp(store: MemoryStore, tmp_path: Path) -> None:
    wanted, box, broken = TinyEmbedder("tiny:a"), TinyEmbedder("tiny:b"), BoxEmbedder(tmp_path / "nowhere")
    say(store, "one")
    assert of_current_stamp(store, [wanted, box]) is wanted
    embed_waiting(store, box)
    assert of_current_stamp(store, [wanted, broken, box]) is box
    assert of_current_stamp(store, [wanted]) is wanted
    assert of_current_stamp(store, []) is None


def test_text_that_comes_during_a_reembedding_is_part_of_it(store: MemoryStore) -> None:
    say(store, "one", "two", "three")
    embed_waiting(store, TinyEmbedder("tiny:a"))
    other = TinyEmbedder("tiny:b")
    other.before_batch = lambda: say(store, "meanwhile") if store.counts().events < 6 else None
    state = reembed(store, other, batch=1)
    assert (state.embedded, state.waiting) == (6, 0)


def test_an_interrupted_reembedding_ranks_in_the_old_space_and_goes_on(store: MemoryStore) -> None:
    say(store, *(f"text {n}" for n in range(6)))
    embed_waiting(store, TinyEmbedder("tiny:a"))
    other = TinyEmbedder("tiny:b")
    assert reembed(store, other, batch=2, stop=after(2)).stamp == "tiny:a"
    assert embed_waiting(store, TinyEmbedder("tiny:a")) == 0
    assert reembed(store, other, batch=2).stamp == "tiny:b"
    assert other.passages == 6


def test_reembedding_with_the_current_model_finishes_what_is_missing(store: MemoryStore) -> None:
    say(store, "one", "two")
    embed_waiting(store, TinyEmbedder(), batch=1, stop=after(1))
    embedder = TinyEmbedder()
    assert reembed(store, embedder).waiting == 0
    assert embedder.passages == 1


def test_a_name_that_now_means_another_model_is_noticed_and_mended(store: MemoryStore) -> None:
    say(store, "one")
    embed_waiting(store, TinyEmbedder("host:m", dimensions=8))
    say(store, "two")
    with pytest.raises(EmbeddingUnavailable, match=r"16 numbers where this session's have 8.*--reembed"):
        embed_waiting(store, TinyEmbedder("host:m", dimensions=16))
    assert reembed(store, TinyEmbedder("host:m", dimensions=16)).embedded == 2
    assert {len(vector) for vector in vectors(store).values()} == {16}


def test_the_cache_reads_each_vector_once(store: MemoryStore) -> None:
    say(store, *(f"text {n}" for n in range(4)))
    embedder, cache = TinyEmbedder(), VectorCache()
    embed_waiting(store, embedder)
    hashes = [chunk.hash for chunks in store.chunks_of(range(10)).values() for chunk in chunks]
    reads: list[str] = []
    store.reader().set_trace_callback(lambda sql: reads.append(sql) if "SELECT hash, vector" in sql else None)
    for _ in range(3):
        matrix, places = cache.look_up(store, embedder.stamp, hashes)
        assert sorted(places) == [0, 1, 2, 3]
        assert matrix.dtype == np.float32
    assert len(reads) == 1
    say(store, "text 4")
    embed_waiting(store, embedder)
    new = [chunk.hash for chunk in store.chunks_of([5])[5]]
    matrix, places = cache.look_up(store, embedder.stamp, [*new, *hashes, "no such hash"])
    assert np.allclose(matrix[places[0]], embedder.vector("text 4"))
    assert places[-1] == -1
    _, elsewhere = cache.look_up(store, "tiny:b", hashes)
    assert set(elsewhere) == {-1}


def test_vectors_of_several_sizes_are_never_compared(store: MemoryStore) -> None:
    say(store, "one", "two")
    embed_waiting(store, TinyEmbedder())
    with store.transaction() as db:
        db.execute("UPDATE vectors SET vector = substr(vector, 1, 12) WHERE hash = (SELECT min(hash) FROM vectors)")
    hashes = [chunk.hash for chunks in store.chunks_of([1, 2]).values() for chunk in chunks]
    with pytest.raises(EmbeddingUnavailable, match="differ in size"):
        VectorCache().look_up(store, "tiny:a", hashes)


def test_a_name_that_now_means_another_model_leaves_nothing_in_the_cache(store: MemoryStore) -> None:
    say(store, "one", "two")
    cache = VectorCache()
    hashes = tuple(chunk.hash for chunks in store.chunks_of([1, 2]).values() for chunk in chunks)
    reembed(store, TinyEmbedder("host:m", dimensions=8))
    assert cache.look_up(store, "host:m", hashes)[0].shape == (2, 8)
    reembed(store, TinyEmbedder("host:m", dimensions=16))
    matrix, places = cache.look_up(store, "host:m", hashes)
    assert np.array_equal(matrix[places[1]], TinyEmbedder("host:m", dimensions=16).vector("two"))
    assert matrix.shape == (2, 16)


def test_what_the_cache_has_handed_out_stays_as_it_is_while_it_grows(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.vector_cache.LEAST_ROOM", 4)
    monkeypatch.setattr("memory.vector_cache.BATCH", 2)
    embedder, cache = TinyEmbedder(dimensions=8), VectorCache()
    handed_out = []
    for number in range(1, 24):
        say(store, f"text {number}")
        hashes = tuple(chunk.hash for chunks in store.chunks_of(range(number + 1)).values() for chunk in chunks)
        assert list(cache.look_up(store, embedder.stamp, hashes)[1][-1:]) == [-1]
        embed_waiting(store, embedder)
        for _ in range(2):
            handed_out.append(cache.look_up(store, embedder.stamp, hashes))
    for matrix, places in handed_out:
        for number, place in enumerate(places, 1):
            assert np.array_equal(matrix[place], embedder.vector(f"text {number}"))


class Spaces(RuleBasedStateMachine):
    """Any order of talking, embedding and re-embedding, each broken off anywhere, mixes nothing."""

    stamps = st.sampled_from(["tiny:a", "tiny:b", "tiny:c"])

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "s.db"
        self.store = MemoryStore(self.path)
        self.said = 0

    @rule(count=st.integers(1, 4))
    def talk(self, count: int) -> None:
        say(self.store, *(f"text number {self.said + n}" for n in range(count)))
        self.said += count

    @rule(stamp=stamps, batch=st.integers(1, 3), batches=st.integers(0, 4))
    def embed_some(self, stamp: str, batch: int, batches: int) -> None:
        current = current_stamp(self.store)
        if current in (None, stamp):
            embed_waiting(self.store, TinyEmbedder(stamp), batch, after(batches))
        else:
            self._unavailable(lambda: embed_waiting(self.store, TinyEmbedder(stamp), batch))

    @rule(stamp=stamps, batch=st.integers(1, 3), batches=st.integers(0, 4))
    def reembed_some(self, stamp: str, batch: int, batches: int) -> None:
        before = current_stamp(self.store)
        state = reembed(self.store, TinyEmbedder(stamp), batch=batch, stop=after(batches))
        assert state.stamp in (before, stamp)

    @rule(stamp=stamps, survives=st.integers(0, 4))
    def reembed_until_the_model_fails(self, stamp: str, survives: int) -> None:
        broken = BrokenEmbedder(stamp, after=survives)
        broken.embed_query = TinyEmbedder(stamp).embed_query  # type: ignore[method-assign]
        try:
            reembed(self.store, broken, batch=1)
        except EmbeddingUnavailable:
            return
        assert current_stamp(self.store) == stamp

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = MemoryStore(self.path)

    @invariant()
    def no_vector_is_of_another_space(self) -> None:
        for (stamp, text), vector in vectors(self.store).items():
            assert np.array_equal(vector, TinyEmbedder(stamp).vector(text))

    @invariant()
    def what_is_ranked_together_has_one_stamp(self) -> None:
        state = embedding_state(self.store)
        if state.stamp is None:
            return
        hashes = [chunk.hash for chunks in self.store.chunks_of(range(self.said + 1)).values() for chunk in chunks]
        matrix, places = VectorCache().look_up(self.store, state.stamp, hashes)
        assert int((places >= 0).sum()) == state.embedded
        for hash, place in zip(hashes, places, strict=True):
            if place >= 0:
                expected = TinyEmbedder(state.stamp).vector(_words(self.store, hash))
                assert np.array_equal(matrix[place], expected)

    def teardown(self) -> None:
        stamp = "tiny:z"
        state = reembed(self.store, TinyEmbedder(stamp))
        assert (state.stamp, state.embedded, state.waiting) == (stamp, self.store.counts().chunks, 0)
        assert {found for found, _ in vectors(self.store)} <= {stamp}
        self.store.close()
        self.folder.cleanup()

    @staticmethod
    def _unavailable(act: Callable[[], object]) -> None:
        with pytest.raises(EmbeddingUnavailable):
            act()


TestSpaces = Spaces.TestCase
TestSpaces.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)


def test_a_reembedding_killed_anywhere_is_old_or_new_and_goes_on(tmp_path: Path) -> None:
    dice = random.Random(7)
    for trial in range(12):
        path = tmp_path / f"{trial}.db"
        with MemoryStore(path) as store:
            say(store, *(f"text number {n}" for n in range(12)))
            embed_waiting(store, TinyEmbedder("tiny:a"))
        _killed(path, at=dice.randrange(0, 14))
        with MemoryStore(path) as store:
            stamp = current_stamp(store)
            assert stamp in ("tiny:a", "tiny:b")
            assert embedding_state(store).embedded == 12
            for (made_by, text), vector in vectors(store).items():
                assert np.array_equal(vector, TinyEmbedder(made_by).vector(text))
            assert reembed(store, TinyEmbedder("tiny:b")).embedded == 12
            assert {made_by for made_by, _ in vectors(store)} == {"tiny:b"}


def _killed(path: Path, at: int) -> None:
    """Re-embed in a child that is killed at its ``at``-th vector, or a moment after its last."""
    child = os.fork()
    if child == 0:
        embedder = TinyEmbedder("tiny:b")
        made = [0]

        def count() -> None:
            made[0] += 1
            if made[0] > at:
                os.kill(os.getpid(), signal.SIGKILL)

        embedder.before_batch = count
        with MemoryStore(path) as store:
            reembed(store, embedder, batch=1)
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
