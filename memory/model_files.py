"""Finding a model's weights: in a folder that was named, in the cache, or on the hub."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from memory.errors import EmbeddingUnavailable, first_line

HUB_PATIENCE = 4.0
"""Seconds that the hub has to answer at all before weights count as not to be had."""

_MODEL_FILES = ("model.onnx", "model_optimized.onnx", "onnx/model.onnx", "model_quantized.onnx")
_TOKENIZER_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


@dataclass(frozen=True)
class ModelFolder:
    """A folder with an ONNX model in the layout of sentence-transformers, described from its own files.

    Raises:
        EmbeddingUnavailable: from any property, when a file is missing or cannot be read.
    """

    path: Path
    what: str = "an embedding model"
    """What it should hold, for the sentence that says that it does not."""

    @cached_property
    def model_file(self) -> str:
        """Path of the weights inside the folder."""
        missing = [name for name in _TOKENIZER_FILES if not (self.path / name).is_file()]
        if missing:
            raise EmbeddingUnavailable(
                f"The folder {self.path} is not {self.what}: it has no {' and no '.join(missing)}."
            )
        for name in _MODEL_FILES:
            if (self.path / name).is_file():
                return name
        raise EmbeddingUnavailable(
            f"The folder {self.path} is not {self.what}: it has none of {', '.join(_MODEL_FILES)}."
        )

    @cached_property
    def digest(self) -> str:
        """12 hex digits of the weights' SHA-256."""
        try:
            with (self.path / self.model_file).open("rb") as weights:
                return hashlib.file_digest(weights, "sha256").hexdigest()[:12]
        except OSError as error:
            raise _unreadable(self.path / self.model_file, error) from error

    @cached_property
    def dimensions(self) -> int:
        size = self._json("config.json").get("hidden_size")
        if not isinstance(size, int) or size < 1:
            raise EmbeddingUnavailable(f"{self.path / 'config.json'} does not say hidden_size, a number.")
        return size

    @cached_property
    def pooling(self) -> Literal["mean", "cls"]:
        """How word vectors become one; ``mean`` where the folder does not say."""
        return "cls" if self._json("1_Pooling/config.json").get("pooling_mode_cls_token") else "mean"

    def prompt(self, *names: str) -> str | None:
        """What the model wants before a text of this use, if its folder says."""
        prompts = self._json("config_sentence_transformers.json").get("prompts")
        for name in names:
            if isinstance(prompts, dict) and isinstance(prompts.get(name), str):
                return str(prompts[name])
        return None

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        if not path.is_file():
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        return content if isinstance(content, dict) else {}


def default_cache(environ: Mapping[str, str]) -> Path:
    """Return the folder for fetched weights: fastembed's own variable, else the platform's cache folder."""
    if environ.get("FASTEMBED_CACHE_PATH"):
        return Path(environ["FASTEMBED_CACHE_PATH"])
    from platformdirs import user_cache_path

    return user_cache_path("otto") / "models"


def find_cached(repository: str, files: Sequence[str], cache_dir: Path) -> Path | None:
    """Return the folder of a fetched model, or None; never uses a network."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(
            snapshot_download(repository, cache_dir=cache_dir, allow_patterns=_wanted(files), local_files_only=True)
        )
    except (LocalEntryNotFoundError, OSError):
        return None
    # A fetch that was interrupted leaves a folder without all its files.
    return folder if all((folder / name).exists() for name in files) else None


def fetch(repository: str, files: Sequence[str], cache_dir: Path, *, patience: float = HUB_PATIENCE) -> Path:
    """Download a model and return its folder. A hub that says nothing for ``patience`` seconds is given up.

    Raises:
        EmbeddingUnavailable: no network, no such model, or no room for it.
    """
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import RemoteEntryNotFoundError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if constants.HF_HUB_OFFLINE:
        raise _not_here(repository, "HF_HUB_OFFLINE forbids to fetch it")
    if not _answers(constants.ENDPOINT, patience):
        raise _not_here(repository, "the model hub cannot be reached")
    # Both write to the terminal that the screen is drawn on.
    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    # One file after the other, the weights last: fetching all at once starts threads that the end of the program waits
    # for, and a folder that has weights has everything.
    for name in _wanted(files):
        try:
            hf_hub_download(repository, name, cache_dir=cache_dir, etag_timeout=patience, endpoint=constants.ENDPOINT)
        except RemoteEntryNotFoundError as error:
            if name in files:
                raise _not_here(repository, f"the hub has no {name} for it") from error
        except Exception as error:
            raise _not_here(repository, f"fetching it failed ({first_line(error)})") from error
    folder = find_cached(repository, files, cache_dir)
    if folder is None:
        raise _not_here(repository, f"what was fetched cannot be found in {cache_dir}")
    return folder


def _wanted(files: Sequence[str]) -> list[str]:
    return [*_TOKENIZER_FILES, *files]


def _answers(endpoint: str, patience: float) -> bool:
    """Whether anything at all answers; looking a name up can hang for longer than any timeout, so a thread
    asks."""
    answered = threading.Event()

    def ask() -> None:
        import httpx

        try:
            httpx.head(endpoint, timeout=patience)
        except (httpx.HTTPError, OSError, ValueError):
            return
        answered.set()

    asking = threading.Thread(target=ask, name="otto-hub-probe", daemon=True)
    asking.start()
    asking.join(patience)
    return answered.is_set()


def _not_here(repository: str, why: str) -> EmbeddingUnavailable:
    name = repository.rpartition("/")[2]
    return EmbeddingUnavailable(
        f"The embedding model {name} is not on this machine and {why}."
        " Connect once, or set [embedding] model_path to a folder with a model."
    )


def _unreadable(path: Path, error: Exception) -> EmbeddingUnavailable:
    return EmbeddingUnavailable(f"{path} cannot be read ({first_line(error)}).")
