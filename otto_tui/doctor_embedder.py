"""Which embedding model ranks recall, tried out where that costs nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from otto_tui.doctor import Finding

if TYPE_CHECKING:
    from memory.embeddings import Embedder
    from sessions.options import Options

UNMEASURED = "What is alike enough to be relevant was not measured for it: otto eval-thresholds default --set does so."


async def embedder_finding(options: Options) -> Finding:
    """Load a model that is on this machine and embed a word. Fetches nothing and sends nothing."""
    from memory.embeddings import choose_embedder

    choice = choose_embedder(
        options.embedding, environ=options.environ, local_only=False, model_path=options.embedding_path
    )
    if choice.embedder is None:
        return Finding("embedder", "none", "by your settings: recall ranks by keyword and recency")
    found = await asyncio.to_thread(_tried, choice.embedder, choice.floor, options)
    if found.state == "broken" or _knows_what_is_relevant(choice.embedder, options):
        return found
    return replace(found, text=f"{found.text.removesuffix('.')}. {UNMEASURED}")


def _knows_what_is_relevant(embedder: Embedder, options: Options) -> bool:
    from memory.errors import EmbeddingUnavailable
    from memory.thresholds import with_thresholds
    from sessions.threshold_file import load_thresholds

    try:
        return with_thresholds(embedder, load_thresholds(options.home).by_stamp).threshold is not None
    except EmbeddingUnavailable:
        # That it cannot be had is said already.
        return True


def _tried(embedder: Embedder, floor: Embedder | None, options: Options) -> Finding:
    from memory.box_embeddings import BoxEmbedder
    from memory.errors import EmbeddingUnavailable
    from memory.local_embeddings import LocalEmbedder
    from memory.nano_embeddings import NanoEmbedder

    if isinstance(embedder, LocalEmbedder):
        return _local(floor, options)
    if not isinstance(embedder, BoxEmbedder | NanoEmbedder):
        sent = f"{embedder.stamp}, over the network; not tried, since that sends text"
        return Finding("embedder", "hosted", f"{sent}. While it cannot be reached, {_ranks_instead(floor)}")
    try:
        return Finding("embedder", "installed", _loaded(embedder))
    except EmbeddingUnavailable as error:
        return Finding("embedder", "installed", f"{error} {_sentence(_ranks_instead(floor))}", "broken")


def _local(floor: Embedder | None, options: Options) -> Finding:
    from memory.embeddings import DEFAULT_LOCAL_MODEL
    from memory.errors import EmbeddingUnavailable
    from memory.local_embeddings import LocalEmbedder
    from otto_tui.paths import models_folder

    folder, cache = options.embedding_path, models_folder(options.environ)
    name = options.embedding or (None if folder else DEFAULT_LOCAL_MODEL)
    at_hand = LocalEmbedder(name, folder=folder, cache_dir=cache, may_fetch=False)
    try:
        return Finding("embedder", "local", f"{_loaded(at_hand)}, loaded from {folder or cache}")
    except EmbeddingUnavailable as error:
        if folder is not None:
            return Finding("embedder", "local", f"{error} {_sentence(_ranks_instead(floor))}", "broken")
        meanwhile = f"Otto fetches it when a session first needs it; until then {_ranks_instead(floor)}"
        return Finding("embedder", "local", f"{error} {meanwhile}", "note")


def _loaded(embedder: Embedder) -> str:
    return f"{embedder.stamp}, {len(embedder.embed_query('hello'))} numbers a text"


def _ranks_instead(floor: Embedder | None) -> str:
    from memory.errors import EmbeddingUnavailable

    keyword = "recall ranks by keyword and recency."
    if floor is None:
        return keyword
    try:
        return f"the embedder in the box ranks ({_loaded(floor)})."
    except EmbeddingUnavailable as error:
        return f"{keyword} {error}"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
