"""Embedding on this machine with fastembed: no torch, no key, and no network once the weights are here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory import model_files
from memory.errors import EmbeddingOnItsWay, EmbeddingUnavailable, first_line
from memory.quiet_fastembed import load_quietly
from memory.text import storable

if TYPE_CHECKING:
    from memory.embeddings import Vector

QUERY_CHARACTERS = 4_000
"""A question is embedded by its beginning; no local model reads further."""

RETRY_SECONDS = 300.0
"""How long a model that could not be loaded is left alone, so that not every recall waits for a dead
network."""

FETCH_PATIENCE = 1.0
"""Seconds that a call waits for a fetch in the background: a missing network shows at once."""

_BATCH = 16
_BGE_QUERY = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class _Family:
    """What models of one family want before a text, and what counts as similar."""

    name: str
    query: str = ""
    passage: str = ""
    threshold: float | None = None
    sure: float | None = None


# The first whose name the model's begins with, in lower case. Thresholds as ``otto eval-thresholds`` measures them;
# None where that has not been done for want of the weights.
_FAMILIES = (
    _Family("baai/bge-small-en", query=_BGE_QUERY),
    _Family("baai/bge-base-en", query=_BGE_QUERY),
    _Family("baai/bge-large-en", query=_BGE_QUERY),
    _Family("mixedbread-ai/mxbai-embed-large", query=_BGE_QUERY),
    _Family("intfloat/", query="query: ", passage="passage: "),
    _Family("nomic-ai/", query="search_query: ", passage="search_document: "),
    _Family("all-minilm-l6-v2", threshold=0.25, sure=0.36),
    _Family("sentence-transformers/all-minilm-l6-v2", threshold=0.25, sure=0.36),
)


class LocalEmbedder:
    """A fastembed model, loaded on the first text.

    Args:
        model: a name that fastembed knows; None for whatever ``folder`` holds.
        folder: weights on disk (``model.onnx`` and tokenizer files); nothing is fetched then.
        cache_dir: where fetched weights are looked for and kept.
        may_fetch: False never uses the network.
        wait: stay in the call until weights have been fetched. Otherwise that goes on in a thread of its own, which
            holds up neither a recall nor the end of the program, and calls raise ``EmbeddingUnavailable`` meanwhile.
        now: seconds, for ``RETRY_SECONDS``.
    """

    def __init__(
        self,
        model: str | None,
        *,
        folder: Path | None = None,
        cache_dir: Path,
        may_fetch: bool = True,
        wait: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if model is None and folder is None:
            raise ValueError("a local embedder needs a model or a folder")
        self._model = model
        self._folder = model_files.ModelFolder(folder) if folder else None
        self._cache_dir = cache_dir
        self._may_fetch = may_fetch
        self._wait = wait
        self._now = now
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._failure: tuple[float, EmbeddingUnavailable] | None = None
        self._fetching: threading.Thread | None = None

    @property
    def stamp(self) -> str:
        if self._folder is None:
            return f"fastembed:{self._model}"
        return f"fastembed:{self._name}@{self._folder.digest}"

    @property
    def dimensions(self) -> int:
        if self._model is None and self._folder is not None:
            return self._folder.dimensions
        return int(self._description().dim)

    @property
    def threshold(self) -> float | None:
        return self._family.threshold

    @property
    def sure(self) -> float | None:
        return self._family.sure

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        prefix = self._prefix("passage", "document")
        return self._embed([prefix + storable(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        prefix = self._prefix("query")
        row: Vector = self._embed([prefix + storable(text[:QUERY_CHARACTERS])])[0]
        return row

    @property
    def _name(self) -> str:
        if self._model:
            return self._model
        assert self._folder is not None
        return self._folder.path.resolve().name

    @property
    def _family(self) -> _Family:
        name = self._name.lower()
        return next((family for family in _FAMILIES if name.startswith(family.name)), _Family(name))

    def _prefix(self, *uses: str) -> str:
        named = self._folder.prompt(*uses) if self._folder else None
        if named is not None:
            return named
        return self._family.query if "query" in uses else self._family.passage

    def _embed(self, texts: list[str]) -> Vector:
        import numpy as np

        model = self._load()
        # Texts of one length together: a batch costs what its longest text costs.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        try:
            for place, row in zip(
                order, model.embed([texts[place] for place in order], batch_size=_BATCH), strict=True
            ):
                rows[place] = row
        except Exception as error:
            raise EmbeddingUnavailable(f"The embedding model {self._name} failed: {error}") from error
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise EmbeddingUnavailable(f"The embedding model {self._name} answered with no vector.")
        unit: Vector = rows / lengths
        return unit

    def _load(self) -> Any:
        with self._lock:
            if self._loaded is not None:
                return self._loaded
            self._raise_recent_failure()
            try:
                self._loaded = self._open()
            except EmbeddingOnItsWay:
                raise
            except EmbeddingUnavailable as error:
                self._failure = (self._now(), error)
                raise
            return self._loaded

    def _raise_recent_failure(self) -> None:
        if self._failure and self._now() - self._failure[0] < RETRY_SECONDS:
            raise EmbeddingUnavailable(str(self._failure[1]))

    def _open(self) -> Any:
        text_embedding = _text_embedding()
        name = self._register() if self._model is None else self._model
        folder = self._folder.path if self._folder else self._find()
        try:
            return text_embedding(name, specific_model_path=str(folder), threads=1, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise EmbeddingUnavailable(
                f"The embedding model in {folder} cannot be loaded: {first_line(error)}"
            ) from error

    def _find(self) -> Path:
        described = self._description()
        files = [described.model_file, *described.additional_files]
        if not described.sources.hf:
            raise EmbeddingUnavailable(
                f"The embedding model {self._model} is not on a hub that Otto can fetch from."
                " Set [embedding] model_path to a folder with its files."
            )
        if self._fetching is not None and self._fetching.is_alive():
            raise self._being_fetched()
        found = model_files.find_cached(described.sources.hf, files, self._cache_dir)
        if found is not None:
            return found
        if not self._may_fetch:
            raise EmbeddingUnavailable(f"The embedding model {self._model} is not on this machine.")
        if self._wait:
            return model_files.fetch(described.sources.hf, files, self._cache_dir)
        return self._fetch_behind(described.sources.hf, files)

    def _fetch_behind(self, repository: str, files: Sequence[str]) -> Path:
        """Start fetching; return the folder if that is done, or raise why not, within ``FETCH_PATIENCE``."""
        fetched: list[Path] = []

        def fetch() -> None:
            try:
                fetched.append(model_files.fetch(repository, files, self._cache_dir))
            except EmbeddingUnavailable as error:
                self._failure = (self._now(), error)

        self._fetching = threading.Thread(target=fetch, name="otto-fetch-weights", daemon=True)
        self._fetching.start()
        self._fetching.join(FETCH_PATIENCE)
        if fetched:
            return fetched[0]
        self._raise_recent_failure()
        raise self._being_fetched()

    def _being_fetched(self) -> EmbeddingOnItsWay:
        return EmbeddingOnItsWay(f"The embedding model {self._model} is being fetched in the background.")

    def _description(self) -> Any:
        for described in _text_embedding()._list_supported_models():
            if described.model.lower() == str(self._model).lower():
                return described
        raise EmbeddingUnavailable(
            f"fastembed has no embedding model named {self._model}. Name one that it has, or provider:model."
        )

    def _register(self) -> str:
        """Tell fastembed about the model in the folder; return the name that it then goes by."""
        from fastembed.common.model_description import ModelSource, PoolingType

        assert self._folder is not None
        name = f"otto/{self._name}@{self._folder.digest}"
        text_embedding = _text_embedding()
        known = {described.model.lower() for described in text_embedding._list_supported_models()}
        if name.lower() not in known:
            text_embedding.add_custom_model(
                model=name,
                pooling=PoolingType.CLS if self._folder.pooling == "cls" else PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=name),
                dim=self._folder.dimensions,
                model_file=self._folder.model_file,
            )
        return name


def _text_embedding() -> Any:
    load_quietly()
    from fastembed import TextEmbedding

    return TextEmbedding
