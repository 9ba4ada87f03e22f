"""The script that makes the embedder in the box: its arithmetic, and that it gives the same bytes again."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from benchmarks.distill_box import (
    BOX,
    DIMENSIONS,
    GLOSSES,
    RIGID,
    Means,
    differences,
    distil,
    moved,
    principal_axes,
    write,
)
from memory.box_embeddings import UNKNOWN, BoxEmbedder
from tests.memory.tiny_onnx import WORDS, write_model

TEXTS = [[0, 2], [1], [2, 3, 4], [4, 0], [5]]


def matrix(texts: list[list[int]], vocabulary: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows = np.zeros((len(texts), vocabulary), np.float32)
    for place, text in enumerate(texts):
        rows[place, text] = 1 / len(text)
    return rows


def test_means_go_forth_and_back_as_the_matrix_does(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    texts = [sorted(random.choice(50, random.integers(1, 9), replace=False).tolist()) for _ in range(200)]
    means, whole = Means.of(texts, 60), matrix(texts, 60)
    vectors = random.standard_normal((60, 7)).astype(np.float32)
    wanted = random.standard_normal((200, 7)).astype(np.float32)
    for at_once in (1, 16, 1 << 16):
        monkeypatch.setattr("benchmarks.distill_box._PIECES_AT_ONCE", at_once)
        assert np.allclose(means.forth(vectors), whole @ vectors, atol=1e-5)
        assert np.allclose(means.back(wanted), whole.T @ wanted, atol=1e-5)


def test_vectors_move_to_the_solution_of_the_ridge() -> None:
    random = np.random.default_rng(2)
    whole = matrix(TEXTS, 7)
    begin = random.standard_normal((7, 3)).astype(np.float32)
    wanted = random.standard_normal((len(TEXTS), 3)).astype(np.float32)
    exact = begin + np.linalg.solve(whole.T @ whole + RIGID * np.eye(7), whole.T @ (wanted - whole @ begin))
    result = moved(begin, Means.of(TEXTS, 7), wanted)
    assert np.allclose(result, exact, atol=1e-4)
    assert np.array_equal(result[6], begin[6])


def test_axes_are_perpendicular_and_have_one_sign() -> None:
    rows = np.random.default_rng(3).standard_normal((500, DIMENSIONS + 20)).astype(np.float32)
    axes = principal_axes(rows)
    assert np.allclose(axes.T @ axes, np.eye(DIMENSIONS), atol=1e-4)
    assert np.allclose(principal_axes(-rows), axes, atol=1e-4)
    assert (axes[np.abs(axes).argmax(axis=0), range(DIMENSIONS)] > 0).all()


def test_what_is_written_is_read_to_half_a_step(tmp_path: Path) -> None:
    vectors = np.random.default_rng(4).standard_normal((3, DIMENSIONS)).astype(np.float32) * [[0], [1], [40]]
    write([UNKNOWN, "cat", "dog"], vectors.astype(np.float32), tmp_path)
    box = BoxEmbedder(tmp_path)
    for word, vector in (("cat", vectors[1]), ("dog", vectors[2])):
        assert box.embed_query(word) @ (vector / np.linalg.norm(vector)) > 0.9999
    assert not box.embed_query("bird").any()


def test_a_model_gives_the_same_bytes_again_and_another_does_not(tmp_path: Path) -> None:
    glosses = tmp_path / "glosses.xz"
    glosses.write_bytes(lzma.compress(b"the cat sat on the mat\nthe dog ran\nbudget meeting\n\n"))
    boxes = []
    for name, size in (("one", 384), ("again", 384), ("other", 320)):
        model = write_model(tmp_path / f"model-{name}", dimensions=size)
        pieces, vectors = distil(model, glosses)
        boxes.append(tmp_path / name)
        boxes[-1].mkdir()
        write(pieces, vectors, boxes[-1])
        assert pieces == [UNKNOWN, *WORDS[4:]]
    assert differences(boxes[0], boxes[1]) == ""
    assert "of the numbers differ" in differences(boxes[0], boxes[2])
    assert BoxEmbedder(boxes[0]).embed_query("the cat sat on the mat").any()


def test_the_texts_and_their_licence_are_there() -> None:
    lines = lzma.decompress(GLOSSES.read_bytes()).decode().splitlines()
    assert len(lines) == 40_000 == len(set(lines))
    assert "WordNet 3.0" in GLOSSES.with_name("box_glosses.LICENSE").read_text("utf-8")
    assert differences(BOX, BOX) == ""
