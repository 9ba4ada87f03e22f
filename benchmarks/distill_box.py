"""Make the embedder in the box from all-MiniLM-L6-v2: one vector for each of its word pieces.

    python -m benchmarks.distill_box ../shared/models/all-MiniLM-L6-v2-int8 [--to FOLDER | --check]

1. The model reads every word piece alone, and 40,000 definitions and examples of WordNet (``box_glosses.txt.xz``).
2. What it says of the texts is brought to 256 numbers by their principal components.
3. Word pieces begin with what the model says of each alone, common ones with less of it (smooth inverse frequency; the
   vocabulary is in order of frequency). Then they are moved, by least squares, to where the mean over a text's word
   pieces comes nearest to what the model says of the text, and no farther than that needs.
4. Rows are written as int8, each with a factor.

It takes about six minutes of one core. The same model, onnxruntime, numpy and kind of processor give the same bytes;
``--check`` makes them anew, compares, and exits with 1 where they differ.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Sums are added up in another order by more threads: this is read when numpy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray

from memory.box_embeddings import ROWS, SCALES, UNKNOWN, VOCABULARY, digest

BOX = Path(__file__).parent.parent / "memory" / "box"
GLOSSES = Path(__file__).parent / "box_glosses.txt.xz"

DIMENSIONS = 256
COMMON = 1e-4
"""Word pieces that are more frequent than this begin with less than half of their vector."""
RIGID = 1.0
"""How much a word piece resists being moved: as much as this many texts of it alone ask for."""
STEPS = 20
"""Of conjugate gradients; more moves little."""

_SPECIAL = 999
"""The vocabulary begins with as many word pieces that stand for no word."""
_LONGEST = 64
_BATCH = 64
_PIECES_AT_ONCE = 1 << 16

Matrix = NDArray[np.float32]


class Teacher:
    """The model whose vectors are to be had without it."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._model: Any = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [wanted.name for wanted in self._model.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LONGEST)
        self.pieces: list[str] = _in_order(json.loads((folder / "tokenizer.json").read_bytes())["model"]["vocab"])

    def pieces_of(self, texts: Sequence[str]) -> list[list[int]]:
        """The word pieces of each text by number, with the two that frame it."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]

    def framed(self, piece: int) -> list[int]:
        return [self.pieces.index("[CLS]"), piece, self.pieces.index("[SEP]")]

    def embed(self, texts: Sequence[Sequence[int]]) -> Matrix:
        """One unit-length row for each text; texts of one length are read together, so that none is filled up."""
        by_length: dict[int, list[int]] = {}
        for place, text in enumerate(texts):
            by_length.setdefault(len(text), []).append(place)
        rows: Matrix | None = None
        for _, places in sorted(by_length.items()):
            for start in range(0, len(places), _BATCH):
                batch = places[start : start + _BATCH]
                states = self._run(np.array([texts[place] for place in batch], np.int64))
                if rows is None:
                    rows = np.empty((len(texts), states.shape[-1]), np.float32)
                rows[batch] = states.mean(axis=1)
        assert rows is not None
        unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def _run(self, ids: NDArray[np.int64]) -> Matrix:
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states: Matrix = self._model.run(None, {name: given[name] for name in self._inputs})[0]
        return states


@dataclass(frozen=True)
class Means:
    """The linear map from vectors of word pieces to the mean over each text's different ones, and back."""

    pieces: NDArray[np.intp]
    """Of all texts, one after the other."""
    starts: NDArray[np.intp]
    """Where each text's begin."""
    shares: Matrix
    """One over the number of its text's, for each."""
    texts: NDArray[np.intp]
    """The text of each."""
    vocabulary: int

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]], vocabulary: int) -> Means:
        """Of texts that each have a word piece at least."""
        counts = np.array([len(text) for text in texts], np.intp)
        return cls(
            np.array([piece for text in texts for piece in text], np.intp),
            np.cumsum(counts) - counts,
            np.repeat((1 / counts).astype(np.float32), counts),
            np.repeat(np.arange(len(texts), dtype=np.intp), counts),
            vocabulary,
        )

    def forth(self, vectors: Matrix) -> Matrix:
        return _sums(vectors, self.pieces, self.shares, self.starts)

    def back(self, means: Matrix) -> Matrix:
        order = np.argsort(self.pieces, kind="stable")
        sorted_pieces = self.pieces[order]
        starts = np.flatnonzero(np.diff(sorted_pieces, prepend=-1))
        vectors = np.zeros((self.vocabulary, means.shape[1]), np.float32)
        vectors[sorted_pieces[starts]] = _sums(means, self.texts[order], self.shares[order], starts)
        return vectors


def _sums(rows: Matrix, places: NDArray[np.intp], factors: Matrix, starts: NDArray[np.intp]) -> Matrix:
    """For each start the sum of ``rows[places] * factors`` up to the next one."""
    sums = np.empty((len(starts), rows.shape[1]), np.float32)
    ends = np.append(starts[1:], len(places))
    first = 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + _PIECES_AT_ONCE, "right")))
        here = slice(starts[first], ends[last - 1])
        weighed = rows[places[here]] * factors[here, None]
        sums[first:last] = np.add.reduceat(weighed, starts[first:last] - starts[first], axis=0)
        first = last
    return sums


def moved(begin: Matrix, means: Means, wanted: Matrix) -> Matrix:
    """The vectors nearest to ``begin`` whose means come near ``wanted``: ridge regression by conjugate gradients."""
    rest = means.back(wanted - means.forth(begin))
    move, direction = np.zeros_like(begin), rest.copy()
    size = (rest * rest).sum(axis=0)
    for _ in range(STEPS):
        step = means.back(means.forth(direction)) + np.float32(RIGID) * direction
        length = size / np.maximum((direction * step).sum(axis=0), 1e-12)
        move += length * direction
        rest -= length * step
        size, before = (rest * rest).sum(axis=0), size
        direction = rest + size / np.maximum(before, 1e-12) * direction
    result: Matrix = begin + move
    return result


def distil(folder: Path, glosses: Path = GLOSSES) -> tuple[list[str], Matrix]:
    """The word pieces of the box, ``UNKNOWN`` first, and their vectors."""
    teacher = Teacher(folder)
    number = len(teacher.pieces)
    alone = teacher.embed([teacher.framed(piece) for piece in range(number)])
    lines = lzma.decompress(glosses.read_bytes()).decode().splitlines()
    framed = [text for text in teacher.pieces_of(lines) if len(text) > 2]
    wanted = teacher.embed(framed)
    wanted -= wanted.mean(axis=0)
    axes = principal_axes(wanted)
    rarity = 1 / (1 + 1 / (COMMON * 10 * np.maximum(np.arange(number) - _SPECIAL, 1)))
    begin = ((alone - alone.mean(axis=0)) * rarity[:, None].astype(np.float32)) @ axes
    wanted = wanted @ axes
    means = Means.of([sorted(set(text[1:-1])) for text in framed], number)
    said = means.forth(begin)
    begin *= np.float32((said * wanted).sum() / (said * said).sum())
    vectors = moved(begin, means, wanted)
    kept = [place for place, piece in enumerate(teacher.pieces) if not _is_special(piece)]
    vectors = np.concatenate([np.zeros((1, DIMENSIONS), np.float32), vectors[kept]])
    return [UNKNOWN, *(teacher.pieces[place] for place in kept)], vectors


def principal_axes(rows: Matrix) -> Matrix:
    """The first ``DIMENSIONS`` principal axes as columns, each turned so that its largest number is positive."""
    _, axes = np.linalg.eigh((rows.T @ rows).astype(np.float64))
    axes = axes[:, ::-1][:, :DIMENSIONS]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    turned: Matrix = (axes * np.sign(largest)).astype(np.float32)
    return turned


def write(pieces: Sequence[str], vectors: Matrix, folder: Path) -> None:
    """Write the three files of a box."""
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float16)
    factors = scales.astype(np.float32)[:, None]
    rows = np.divide(vectors, factors, out=np.zeros_like(vectors), where=factors > 0)
    np.save(folder / ROWS, np.clip(np.rint(rows), -127, 127).astype(np.int8))
    np.save(folder / SCALES, scales)
    (folder / VOCABULARY).write_bytes("".join(f"{piece}\n" for piece in pieces).encode())


def differences(made: Path, kept: Path) -> str:
    """A sentence about how two boxes differ; empty if they do not."""
    if digest(made) == digest(kept):
        return ""
    new, old = np.load(made / ROWS), np.load(kept / ROWS)
    if new.shape != old.shape:
        return f"the rows are {new.shape} and not {old.shape}"
    return f"{(new != old).mean():.3%} of the numbers differ, the most by {np.abs(new.astype(int) - old).max()} of 127"


def _in_order(vocabulary: dict[str, int]) -> list[str]:
    return sorted(vocabulary, key=vocabulary.__getitem__)


def _is_special(piece: str) -> bool:
    return len(piece) > 2 and piece.startswith("[") and piece.endswith("]")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with all-MiniLM-L6-v2 as ONNX")
    parser.add_argument("--to", type=Path, default=BOX, help="where the files go; the package itself by default")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with the files in the package")
    given = parser.parse_args()
    pieces, vectors = distil(given.model)
    if not given.check:
        given.to.mkdir(parents=True, exist_ok=True)
        write(pieces, vectors, given.to)
        print(f"{len(pieces):,} word pieces, {vectors.shape[1]} numbers each: box:{digest(given.to)} in {given.to}")
        return 0
    with TemporaryDirectory() as made:
        write(pieces, vectors, Path(made))
        difference = differences(Path(made), BOX)
    print(difference or f"byte for byte the same: box:{digest(BOX)}")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
