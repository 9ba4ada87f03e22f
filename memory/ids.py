"""How events, bullets and chunks are named."""

from __future__ import annotations

import hashlib
import secrets


def new_event_id() -> str:
    """Return 12 random hex digits: an id for an event that came without one."""
    return secrets.token_hex(6)


def content_id(*parts: str) -> str:
    """Return 12 hex digits that derive from ``parts`` alone: same parts, same id."""
    return _digest(*parts)[:12]


def record_id(content: str) -> str:
    """Return the 12 hex digits that name a record of the ledger: the start of the SHA-256 of its content in UTF-8."""
    return hashlib.sha256(content.encode("utf-8", errors="surrogatepass")).hexdigest()[:12]


def chunk_hash(thread: str, event_id: str, start: int, text: str) -> str:
    """Return the 16 hex digits that address a chunk: its event, where it starts there, and its words."""
    return _digest(thread, event_id, str(start), text)[:16]


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", errors="surrogatepass")
        # The length goes first, so that ("ab", "c") and ("a", "bc") differ.
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()
