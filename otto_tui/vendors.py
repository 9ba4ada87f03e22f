"""Which models a machine can talk with right now: by keys, of which only the names matter, and by a local Ollama."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from sessions.options import OFFLINE
from sessions.vendors import OLLAMA, Vendor, default_model, ollama_address

LISTEN_SECONDS = 0.3

NO_MODEL = (
    "No key and no local server were found, so Otto answers from its own memory only; set a key such as"
    " OPENAI_API_KEY, start Ollama, or name a model with -m."
)
"""What to say to someone who is on ``offline`` without having chosen it."""


def choose_chat(environ: Mapping[str, str]) -> str:
    """The model for someone who has named none: a vendor's whose key is set, a local Ollama's first, ``offline``."""
    chosen = default_model(environ)
    return _first_of_ollama(environ) or OFFLINE if chosen == OFFLINE else chosen


def found_keys(environ: Mapping[str, str], vendor: Vendor) -> tuple[str, ...]:
    """The names, never the values, of this vendor's variables that are set."""
    return tuple(name for name in vendor.key_variables if environ.get(name, "").strip())


def _first_of_ollama(environ: Mapping[str, str]) -> str | None:
    """A model of Ollama; None when nobody listens where it would be, which takes no time to find out."""
    named = next((environ[name] for name in OLLAMA.base_variables if environ.get(name, "").strip()), OLLAMA.own_base)
    if not _listens(ollama_address(named.strip())):
        return None

    import asyncio

    from sessions.discovery import find_servers

    found = asyncio.run(find_servers(environ, places=()))
    return next((model for server in found for model in server.models), None)


def _listens(address: str) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), LISTEN_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True
