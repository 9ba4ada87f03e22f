"""The embedder in the box: it needs no download, no network and no key, so that recall is never blind.

One vector for each word piece of all-MiniLM-L6-v2, distilled from that model by ``benchmarks/distill_box.py``; a text's
vector is the sum of those of its different word pieces, brought to unit length. Thousands of texts a second.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.embeddings import BOX_MODEL
from memory.errors import EmbeddingUnavailable
from memory.text import storable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.embeddings import Vector

VOCABULARY, ROWS, SCALES = "vocabulary.txt", "rows.npy", "scales.npy"
"""A word piece a line; one row of int8 for each, ``(pieces, dimensions)``; and what each row is multiplied by."""

UNKNOWN = "[UNK]"
"""The first line of the vocabulary. Its row is zero: a word that is not known says nothing."""

_QUERY_CHARACTERS = 4_000
_THRESHOLD, _SURE = 0.14, 0.36
"""As ``otto eval-thresholds box`` measures them."""


class BoxEmbedder:
    """Static vectors that come with Otto.

    A text without any word that the vocabulary knows gets the zero vector: it is like nothing. Loaded on the first
    text, once for the whole process; the rows stay in the system's file cache and are not copied.

    Args:
        folder: where the three files are; None takes those in the package.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @property
    def stamp(self) -> str:
        return f"{BOX_MODEL}:{self._box.digest}"

    @property
    def dimensions(self) -> int:
        return int(self._box.rows.shape[1])

    @property
    def threshold(self) -> float | None:
        return _THRESHOLD

    @property
    def sure(self) -> float | None:
        return _SURE

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        import numpy as np

        box = self._box
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for place, text in enumerate(texts):
            vectors[place] = box.sum_of(storable(text))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vector = np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return unit

    def embed_query(self, text: str) -> Vector:
        row: Vector = self.embed_passages([text[:_QUERY_CHARACTERS]])[0]
        return row

    @property
    def _box(self) -> _Box:
        return _open(self._folder)


@dataclass(frozen=True)
class _Box:
    tokenizer: Any
    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    digest: str

    def sum_of(self, text: str) -> Vector:
        """The sum of the vectors of its different word pieces, which may be zero."""
        import numpy as np

        # In one order whatever the text's, so that the same words always add up to the same number.
        pieces = np.fromiter(sorted(set(self.tokenizer.encode(text, add_special_tokens=False).ids)), np.intp)
        total: Vector = self.scales[pieces] @ self.rows[pieces].astype(np.float32)
        return total


@cache
def _open(folder: Path | None) -> _Box:
    from importlib.resources import as_file, files

    try:
        if folder is not None:
            return _read(folder)
        with as_file(files("memory") / "box") as packaged:
            return _read(packaged)
    except (OSError, ValueError, EOFError) as error:
        raise EmbeddingUnavailable(
            f"The embedder in the box cannot be read ({str(error).splitlines()[0][:200]}). Install otto-tui again."
        ) from error


def _read(folder: Path) -> _Box:
    import numpy as np

    pieces = (folder / VOCABULARY).read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = np.load(folder / ROWS, mmap_mode="r")
    scales = np.load(folder / SCALES).astype(np.float32)
    if rows.ndim != 2 or rows.dtype != np.int8 or not len(pieces) == len(rows) == len(scales) or pieces[0] != UNKNOWN:
        raise ValueError(f"the files in {folder} do not belong together")
    return _Box(_tokenizer(pieces), rows, scales, digest(folder))


def digest(folder: Path) -> str:
    """12 hex digits that stand for what the three files hold: other files are another space."""
    whole = hashlib.sha256()
    for name in (VOCABULARY, ROWS, SCALES):
        with (folder / name).open("rb") as content:
            whole.update(hashlib.file_digest(content, "sha256").digest())
    return whole.hexdigest()[:12]


def _tokenizer(pieces: Sequence[str]) -> Any:
    """Parts a text as the uncased BERT does: in lower case, without accents, Chinese character by character."""
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    except ImportError as error:
        raise EmbeddingUnavailable(
            f"tokenizers cannot be imported ({error}). Install otto-tui again with its dependencies."
        ) from error
    vocabulary = {piece: place for place, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
