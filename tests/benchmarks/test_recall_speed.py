"""The benchmark of recall asks what it says, of a tape that is what it says; how fast is not a question for a test."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import recall as command
from benchmarks.long_tapes import BEHIND_ONE_BULLET, DIMENSIONS, RandomVectors, Words, grow
from benchmarks.ratios import percentile, ratio, ratio_at
from benchmarks.recall_timing import megabytes_held, time_embedders, time_ranking, time_whole
from memory.candidates import behind_bullets
from memory.store import CONVERSATION, MemoryStore
from memory.vectors import embedding_state
from tests.memory.embedders import TinyEmbedder
from tests.memory.tiny_onnx import write_model


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(value) for value in range(1, 41)]
    assert (percentile(values, 50), percentile(values, 95), percentile([7.0], 95)) == (20.0, 38.0, 7.0)
    assert ratio_at(95, "slow", values, [2.0], None).value == 19.0


def test_what_has_no_target_gets_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.ratios import show

    show([ratio("free", [9.0], [1.0], None)], as_json=False)
    assert capsys.readouterr().out.rstrip().endswith("9.000")


def test_a_tape_grows_to_its_size_with_a_vector_for_each_chunk(tmp_path: Path) -> None:
    words = Words()
    with MemoryStore(tmp_path / "s.db") as store:
        for size in (60, 150):
            grow(store, words, size)
            counts = store.counts()
            assert size <= counts.chunks <= size + 5
            candidates = behind_bullets(store, CONVERSATION)
            assert len(candidates) == counts.chunks
            assert embedding_state(store).waiting == 0
        assert {len(bullet.seqs) for bullet in store.bullets(CONVERSATION)} <= set(range(1, BEHIND_ONE_BULLET + 1))


def test_some_words_are_said_far_more_often_than_others() -> None:
    words = Words()
    said = Counter(word for _ in range(400) for word in words.said().split())
    often = sorted(said.values(), reverse=True)
    assert often[0] > 5 * often[30] > 0
    question = words.asked(words.said())
    assert question.split()


def test_vectors_are_of_unit_length() -> None:
    rows = RandomVectors().embed_passages(["a", "b"])
    assert rows.shape == (2, DIMENSIONS)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


def test_every_question_is_timed_each_way(tmp_path: Path) -> None:
    words = Words()
    with MemoryStore(tmp_path / "s.db") as store:
        grow(store, words, 100)
        asked = [words.asked(store.event(number).text) for number in (3, 40, 77)]
        times = time_ranking(store, asked)
        for taken in (times.floor, times.ranked, times.by_keyword, times.after_a_turn):
            assert len(taken) == 3
            assert min(taken) > 0
        model = TinyEmbedder()
        whole, alone = time_whole(store, model, asked)
        assert len(whole) == len(alone) == 3
        held, most = megabytes_held(store, asked[0])
        assert 0 < held <= most


def test_embedders_are_timed_on_the_same_texts() -> None:
    one, other = TinyEmbedder(), TinyEmbedder("tiny:b")
    times = time_embedders(one, other, ["a"] * 10, batch=4)
    assert [len(taken) for taken in times] == [2, 2]
    assert one.passages == other.passages == 10


def test_the_command_prints_a_flat_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write_model(tmp_path / "model")
    monkeypatch.setattr(command, "ASKED", 3)
    monkeypatch.setattr(command, "TEXTS", 96)
    monkeypatch.setattr(sys, "argv", ["recall", "--json", "--sizes", "1000", "100", "--model", str(model)])
    assert command.main() == 0
    found = json.loads(capsys.readouterr().out)
    assert all(value > 0 for value in found.values())
    assert set(found) == {
        *(f"ranking_{size}_{what}" for size in (100, 1000) for what in ("p50", "p95", "after_a_turn")),
        *(f"by_keyword_{size}" for size in (100, 1000)),
        "growth_100_to_1000",
        "recall_to_embedding_box",
        "recall_to_embedding_model",
        "memory_held_1000",
        "memory_most_1000",
        "box_to_model_per_text",
    }


def test_without_a_model_it_says_what_was_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(command.MODEL_VARIABLE, raising=False)
    monkeypatch.setattr(command, "ASKED", 2)
    monkeypatch.setattr(sys, "argv", ["recall", "--json", "--sizes", "60"])
    assert command.main() == 0
    printed = capsys.readouterr()
    assert command.MODEL_VARIABLE in printed.err
    assert "box_to_model_per_text" not in json.loads(printed.out)


def test_a_model_that_is_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ASKED", 2)
    monkeypatch.setattr(sys, "argv", ["recall", "--sizes", "60", "--model", str(tmp_path / "nothing")])
    assert command.main() == 1
    assert "Traceback" not in capsys.readouterr().err
