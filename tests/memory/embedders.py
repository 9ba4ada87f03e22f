"""Embedding models for tests: a tiny one that is always there, and the real one where its folder is."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.local_embeddings import LocalEmbedder

MINILM = Path(__file__).parents[3] / "shared" / "models" / "all-MiniLM-L6-v2-int8"


class TinyEmbedder:
    """Words that begin alike are alike. Deterministic; another ``stamp`` is another space."""

    def __init__(
        self,
        stamp: str = "tiny:a",
        dimensions: int = 512,
        threshold: float | None = None,
        sure: float | None = None,
    ) -> None:
        self.stamp = stamp
        self.dimensions = dimensions
        self.threshold = threshold
        self.sure = sure
        self.passages = 0
        self.before_batch: Callable[[], None] = lambda: None

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before_batch()
        self.passages += len(texts)
        return np.stack([self.vector(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.vector(text)

    def vector(self, text: str) -> NDArray[np.float32]:
        """The one vector that this text has in this space."""
        row = np.full(self.dimensions, 1e-3, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            row[zlib.crc32(f"{self.stamp} {word[:4]}".encode()) % self.dimensions] += 1.0
        unit: NDArray[np.float32] = row / np.linalg.norm(row)
        return unit


class BrokenEmbedder(TinyEmbedder):
    """Fails after a number of passages."""

    def __init__(self, stamp: str = "tiny:a", after: int = 0) -> None:
        super().__init__(stamp)
        self.after = after

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.passages + len(texts) > self.after:
            raise EmbeddingUnavailable("The model is away. Try again later.")
        return super().embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise EmbeddingUnavailable("The model is away. Try again later.")


def minilm(cache_dir: Path) -> LocalEmbedder:
    return LocalEmbedder(None, folder=MINILM, cache_dir=cache_dir)


def every_embedder() -> list[str]:
    """Parameters for a fixture: the tiny model always, and the real one where its folder is."""
    return ["tiny", "minilm"] if MINILM.is_dir() else ["tiny"]


def make_embedder(name: str, cache_dir: Path) -> Embedder:
    return TinyEmbedder() if name == "tiny" else minilm(cache_dir)
