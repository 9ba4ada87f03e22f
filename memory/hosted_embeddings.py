"""Embedding by a vendor, or by the person's own server, through litellm."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from memory.embeddings import EmbeddingServer
from memory.errors import EmbeddingUnavailable
from memory.text import storable

if TYPE_CHECKING:
    from memory.embeddings import Vector

QUERY_CHARACTERS = 6_000
"""A question is embedded by its beginning, which stays within every vendor's input limit."""

TIMEOUT = 20.0
"""Seconds for one request."""

MOST_TEXTS = 100
"""Texts in one request; no vendor takes fewer."""

_KEYS = {"gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY")}
_BASES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "ollama": ("OLLAMA_API_BASE", "OLLAMA_HOST"),
    "gemini": ("GEMINI_API_BASE",),
}
_OLLAMA = "http://127.0.0.1:11434"
_DIMENSIONS = {
    "gemini:gemini-embedding-001": 3072,
    "openai:text-embedding-3-small": 1536,
    "openai:text-embedding-3-large": 3072,
}
# Read while litellm is imported: without them it fetches price lists over the network and reads .env files.
_LITELLM_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
# Gemini tells questions from passages by a task type, where others want a prefix or nothing.
_TASK_TYPES = {"gemini": ("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT")}


def key_of(provider: str, environ: Mapping[str, str]) -> str | None:
    """Return the provider's key from the environment, if it is there."""
    for variable in _key_variables(provider):
        if environ.get(variable):
            return environ[variable]
    return None


class HostedEmbedder:
    """A model behind a vendor's interface. Make one with ``HostedEmbedder.named``."""

    def __init__(
        self, stamp: str, litellm_model: str, *, api_base: str | None = None, api_key: str | None = None
    ) -> None:
        self._stamp = stamp
        self._litellm_model = litellm_model
        self._provider = stamp.partition(":")[0]
        self._api_base = api_base
        self._api_key = api_key
        self._dimensions = _DIMENSIONS.get(stamp)

    @classmethod
    def named(cls, name: str, *, environ: Mapping[str, str], servers: Mapping[str, EmbeddingServer]) -> Self:
        """Return the embedder for ``provider:model``, with key and address from ``environ`` or
        ``servers``."""
        provider, _, model = name.partition(":")
        if provider in servers:
            server = servers[provider]
            # OpenAI's client insists on a key even where the server wants none.
            return cls(name, f"openai/{model}", api_base=server.api_base, api_key=server.api_key or "none")
        base = next((environ[v] for v in _BASES.get(provider, ()) if environ.get(v)), None)
        if provider == "ollama":
            base = base or _OLLAMA
            base = base if "://" in base else f"http://{base}"
        return cls(name, f"{provider}/{model}", api_base=base, api_key=key_of(provider, environ))

    @property
    def stamp(self) -> str:
        return self._stamp

    @property
    def dimensions(self) -> int | None:
        return self._dimensions

    @property
    def threshold(self) -> float | None:
        return None

    @property
    def sure(self) -> float | None:
        return None

    @property
    def leaves_machine(self) -> bool:
        """Whether text that is embedded is sent to another machine."""
        return self._api_base is None or not _is_loopback(self._api_base)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        import numpy as np

        parts = [self._request(texts[start : start + MOST_TEXTS], use=1) for start in range(0, len(texts), MOST_TEXTS)]
        rows: Vector = np.concatenate(parts) if parts else np.empty((0, self._dimensions or 0), np.float32)
        return rows

    def embed_query(self, text: str) -> Vector:
        row: Vector = self._request([text[:QUERY_CHARACTERS]], use=0)[0]
        return row

    def _request(self, texts: Sequence[str], use: int) -> Vector:
        if self._api_key is None and self._provider != "ollama":
            raise EmbeddingUnavailable(
                f"{self._stamp} needs a key. Set {_key_variables(self._provider)[0]}, or choose another"
                " embedding model with OTTO_EMBEDDING_MODEL."
            )
        extra: dict[str, Any] = {}
        if self._provider in _TASK_TYPES:
            extra["task_type"] = _TASK_TYPES[self._provider][use]
        if self._litellm_model.startswith("openai/"):
            extra["encoding_format"] = "float"
        litellm = _litellm()
        try:
            reply = litellm.embedding(
                model=self._litellm_model,
                # Vendors refuse a text that is empty or blank.
                input=[storable(text) if text.strip() else "." for text in texts],
                api_base=self._api_base,
                api_key=self._api_key,
                timeout=TIMEOUT,
                max_retries=0,
                **extra,
            )
        except Exception as error:
            raise self._unavailable(error) from error
        return self._vectors(reply, len(texts))

    def _vectors(self, reply: Any, expected: int) -> Vector:
        import numpy as np

        try:
            entries = sorted(reply.data, key=lambda entry: int(entry["index"]))
            rows = np.array([entry["embedding"] for entry in entries], dtype=np.float32)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise self._garbled("what it sent is no list of vectors") from error
        if rows.ndim != 2 or rows.shape[0] != expected or rows.shape[1] == 0:
            raise self._garbled(f"{expected} vectors were asked for and {len(rows)} came")
        if self._dimensions is not None and rows.shape[1] != self._dimensions:
            raise self._garbled(f"its vectors have {rows.shape[1]} numbers where they had {self._dimensions}")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise self._garbled("a vector holds something that is no number")
        self._dimensions = int(rows.shape[1])
        unit: Vector = rows / lengths
        return unit

    def _garbled(self, why: str) -> EmbeddingUnavailable:
        return EmbeddingUnavailable(f"{self._stamp} did not answer with embeddings: {why}.")

    def _unavailable(self, error: Exception) -> EmbeddingUnavailable:
        kind = type(error).__name__
        status = getattr(error, "status_code", None)
        if kind in ("AuthenticationError", "PermissionDeniedError") or status in (401, 403):
            variable = _key_variables(self._provider)[0]
            return EmbeddingUnavailable(f"{self._stamp} refused the key. Check {variable}.")
        if kind == "NotFoundError" or status == 404:
            return EmbeddingUnavailable(
                f"{self._provider} has no embedding model {self._stamp.partition(':')[2]}."
                " Name another with OTTO_EMBEDDING_MODEL."
            )
        if kind == "RateLimitError" or status == 429:
            return EmbeddingUnavailable(f"{self._stamp} is limiting requests. Otto tries again later.")
        if kind == "Timeout" or status == 408:
            return EmbeddingUnavailable(f"{self._stamp} did not answer within {TIMEOUT:.0f} seconds.")
        if kind == "APIConnectionError":
            return EmbeddingUnavailable(f"{self._stamp} cannot be reached. Check connection and address.")
        lines = str(error).strip().splitlines() or [kind]
        return EmbeddingUnavailable(f"{self._stamp} failed: {lines[0][:200]}")


def _key_variables(provider: str) -> tuple[str, ...]:
    return _KEYS.get(provider, (f"{provider.upper().replace('-', '_')}_API_KEY",))


def _is_loopback(api_base: str) -> bool:
    host = urlsplit(api_base).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _litellm() -> Any:
    for name, value in _LITELLM_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import litellm
    except ImportError as error:
        raise EmbeddingUnavailable(
            f"litellm cannot be imported ({error}). Install otto-tui again with its dependencies."
        ) from error
    litellm.suppress_debug_info = True
    # Of embeddings, "no retries" is taken for "the default"; Otto tries again in its own time.
    litellm.DEFAULT_MAX_RETRIES = 0
    return litellm
