"""A cross-encoder on this machine: reads a question and a text together and says how well they fit (seed 002)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import EmbeddingUnavailable, RerankerUnavailable, first_line
from memory.local_embeddings import QUERY_CHARACTERS, RETRY_SECONDS
from memory.model_files import ModelFolder, default_cache, find_cached
from memory.quiet_fastembed import load_quietly
from memory.text import storable

if TYPE_CHECKING:
    from memory.ranking import Scores

_BATCH = 16
_TRIAL = ("ready?", "yes")


def named_cross_encoder(named: str | None, environ: Mapping[str, str]) -> CrossEncoder | None:
    """The cross-encoder of this folder or fastembed name; None where none is named. Nothing is loaded yet."""
    if not named:
        return None
    folder = Path(named)
    is_folder = folder.is_dir() or folder.is_absolute() or named.startswith((".", "~"))
    return CrossEncoder(None if is_folder else named, folder=folder if is_folder else None, environ=environ)


class CrossEncoder:
    """A fastembed cross-encoder, loaded on first use and never fetched.

    Args:
        model: a name that fastembed knows, whose weights are in its cache; None for whatever ``folder`` holds.
        folder: weights on disk, in the layout of ``ModelFolder``.
        environ: where the folder of cached weights is looked up.
        now: seconds, for how long a failure is remembered (``RETRY_SECONDS``).
    """

    def __init__(
        self,
        model: str | None,
        *,
        folder: Path | None = None,
        environ: Mapping[str, str],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if (model is None) == (folder is None):
            raise ValueError("a cross-encoder needs a model or a folder")
        self._model = model
        self._folder = ModelFolder(folder, what="a cross-encoder") if folder else None
        self._environ = environ
        self._now = now
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._failure: tuple[float, str] | None = None

    @property
    def name(self) -> str:
        """The model's, or its folder's."""
        if self._folder is not None:
            return self._folder.path.resolve().name
        assert self._model is not None
        return self._model

    def load(self) -> None:
        """Have it ready. Raises RerankerUnavailable: it is not here, or is no cross-encoder; the sentence says why."""
        with self._lock:
            if self._loaded is not None:
                return
            if self._failure and self._now() - self._failure[0] < RETRY_SECONDS:
                raise RerankerUnavailable(self._failure[1])
            try:
                loaded = self._open()
                # Weights of another kind load as well, and fail with the first text.
                self._read(loaded, [_TRIAL])
            except EmbeddingUnavailable as error:
                self._failure = (self._now(), str(error))
                raise RerankerUnavailable(str(error)) from error
            self._loaded = loaded

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Return how well each text fits the question, higher is better; only their order says something.

        Raises:
            RerankerUnavailable: it cannot be loaded, or fails.
        """
        import numpy as np

        self.load()
        asked = storable(question[:QUERY_CHARACTERS])
        # Texts of one length together: a batch costs what its longest text costs.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        scores = np.empty(len(texts), np.float32)
        scores[order] = self._read(self._loaded, [(asked, storable(texts[place])) for place in order])
        return scores

    def _read(self, loaded: Any, pairs: list[tuple[str, str]]) -> list[float]:
        from math import isfinite

        try:
            scores = [float(score) for score in loaded.rerank_pairs(pairs, batch_size=_BATCH)]
        except Exception as error:
            raise RerankerUnavailable(
                f"The cross-encoder {self.name} failed: {first_line(error).rstrip('.')}."
            ) from error
        if len(scores) != len(pairs) or not all(map(isfinite, scores)):
            raise RerankerUnavailable(f"The cross-encoder {self.name} answered with no number.")
        return scores

    def _open(self) -> Any:
        load_quietly()
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        name, folder = self._register() if self._folder else self._find()
        try:
            return TextCrossEncoder(
                name, specific_model_path=str(folder), threads=1, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise RerankerUnavailable(
                f"The cross-encoder in {folder} cannot be loaded: {first_line(error).rstrip('.')}."
            ) from error

    def _find(self) -> tuple[str, Path]:
        """The model's name and the folder of its cached weights."""
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        assert self._model is not None
        for described in TextCrossEncoder._list_supported_models():
            if described.model.lower() == self._model.lower() and described.sources.hf:
                files = [described.model_file, *described.additional_files]
                folder = find_cached(described.sources.hf, files, default_cache(self._environ))
                if folder is None:
                    raise RerankerUnavailable(
                        f"The cross-encoder {self._model} is not on this machine, and Otto fetches none by itself."
                        " Set [embedding] reranker to a folder with its files."
                    )
                return described.model, folder
        raise RerankerUnavailable(
            f"There is no folder {self._model}, and fastembed has no cross-encoder of that name."
            " Set [embedding] reranker to one or the other."
        )

    def _register(self) -> tuple[str, Path]:
        """Tell fastembed about the model in the folder; return the name that it then goes by, and the folder."""
        from fastembed.common.model_description import ModelSource
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        assert self._folder is not None
        name = f"otto/{self.name}@{self._folder.digest}"
        known = {described.model.lower() for described in TextCrossEncoder._list_supported_models()}
        if name.lower() not in known:
            TextCrossEncoder.add_custom_model(
                model=name, sources=ModelSource(hf=name), model_file=self._folder.model_file
            )
        return name, self._folder.path
