"""Which embedder a session may use: settings, keys, and whether its text may leave the machine."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memory.embeddings import EmbedderChoice, EmbeddingServer, choose_embedder
from memory.thresholds import with_thresholds
from sessions.options import OFFLINE, Options
from sessions.threshold_file import load_thresholds

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder

LOCAL_PREFIXES = ("ollama/", "ollama_chat/", "lm_studio/", "llamafile/", "hosted_vllm/")
"""Vendors that run on the person's own machine unless an address says otherwise."""


def choose(options: Options, model_name: str) -> EmbedderChoice:
    """The embedder for a session that talks with ``model_name``. Nothing is loaded or reached yet."""
    return with_measured_threshold(
        choose_embedder(
            options.embedding,
            environ=options.environ,
            local_only=is_local(options, model_name),
            model_path=options.embedding_path,
            servers=servers_of(options),
        ),
        options,
    )


def choose_reranker(options: Options) -> CrossEncoder | None:
    """The cross-encoder that is set, if one is. Nothing is loaded yet."""
    if not options.reranker:
        return None
    from memory.cross_encoder import named_cross_encoder

    return named_cross_encoder(options.reranker, options.environ)


def servers_of(options: Options) -> dict[str, EmbeddingServer]:
    """The person's own servers by name."""
    return {
        provider.name: EmbeddingServer(
            provider.api_base, options.environ.get(provider.api_key_env) if provider.api_key_env else None
        )
        for provider in options.providers.values()
    }


def with_measured_threshold(choice: EmbedderChoice, options: Options) -> EmbedderChoice:
    """The same choice, with the thresholds that ``otto eval-thresholds --set`` stored for its model, if any."""
    if choice.embedder is None:
        return choice
    stored = load_thresholds(options.home)
    notice = " ".join(filter(None, (choice.notice, stored.complaint))) or None
    floor = with_thresholds(choice.floor, stored.by_stamp) if choice.floor is not None else None
    return replace(choice, embedder=with_thresholds(choice.embedder, stored.by_stamp), floor=floor, notice=notice)


def is_local(options: Options, model_name: str) -> bool:
    """Whether this model runs on this machine, so that a session's text never has to leave it."""
    provider = options.providers.get(model_name.partition("/")[0])
    address = provider.api_base if provider is not None else options.api_base
    if address:
        return _is_loopback(address)
    return model_name == OFFLINE or model_name.startswith(LOCAL_PREFIXES)


def _is_loopback(address: str) -> bool:
    host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
