"""Which embedding model ranks recall, tried out where that costs nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from otto_tui.doctor import Finding

if TYPE_CHECKING:
    from memory.embeddings import Embedder
    from sessions.options import Options


async def embedder_finding(options: Options) -> Finding:
    """Load a local model that is on this machine and embed a word. Fetches nothing and sends nothing."""
    from memory.embeddings import choose_embedder

    choice = choose_embedder(
        options.embedding, environ=options.environ, local_only=False, model_path=options.embedding_path
    )
    if choice.embedder is None:
        return Finding("embedder", "none", "by your settings: recall ranks by keyword and recency")
    return await asyncio.to_thread(_tried, choice.embedder, options)


def _tried(embedder: Embedder, options: Options) -> Finding:
    from memory.embeddings import DEFAULT_LOCAL_MODEL
    from memory.errors import EmbeddingUnavailable
    from memory.local_embeddings import LocalEmbedder
    from otto_tui.paths import models_folder

    if not isinstance(embedder, LocalEmbedder):
        return Finding("embedder", "hosted", f"{embedder.stamp}, over the network; not tried, since that sends text")
    folder, cache = options.embedding_path, models_folder(options.environ)
    name = options.embedding or (None if folder else DEFAULT_LOCAL_MODEL)
    at_hand = LocalEmbedder(name, folder=folder, cache_dir=cache, may_fetch=False)
    try:
        vector = at_hand.embed_query("hello")
    except EmbeddingUnavailable as error:
        if folder is not None:
            return Finding("embedder", "local", str(error), "broken")
        meanwhile = "Otto fetches it when a session first needs it; until then recall ranks by keyword and recency."
        return Finding("embedder", "local", f"{error} {meanwhile}", "note")
    return Finding("embedder", "local", f"{at_hand.stamp}, {len(vector)} numbers a text, loaded from {folder or cache}")
