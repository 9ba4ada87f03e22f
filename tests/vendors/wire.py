"""What a vendor's wire format has to say for the loopback server to speak it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from tests.vendors.replies import Asked, Failure, Reply


@dataclass(frozen=True, slots=True)
class Frames:
    """A streamed reply, cut where a connection could break."""

    head: bytes
    body: tuple[bytes, ...]
    """One frame for each piece of text, thinking or tool call."""
    tail: bytes
    """What tells the client that the reply is whole."""
    garbled: bytes
    """A frame that is not what the format allows."""
    error: bytes
    """A failure reported in the middle of the stream."""


class Wire(Protocol):
    """One vendor's format. ``path`` is without the query."""

    model: str
    """A model to ask for, as litellm names it."""
    base_path: str
    """What follows host and port in the base URL."""
    key_variable: str
    """Environment variable of the key; empty when the vendor wants none."""
    base_variable: str
    """Environment variable of the base URL."""
    content_type: str
    """Of a stream."""
    retry_in_header: bool
    """Whether a 429 says in ``Retry-After`` how long to wait. Else its body does."""

    def is_chat(self, path: str) -> bool: ...

    def asked(self, path: str, body: dict[str, Any]) -> Asked: ...

    def frames(self, asked: Asked, reply: Reply) -> Frames: ...

    def whole(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        """The answer to a request that did not ask for a stream."""
        ...

    def failure(self, asked: Asked, failure: Failure) -> dict[str, Any]: ...

    def other(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to anything but chat: lists of models, embeddings. None: not found."""
        ...


def sse(data: Any, event: str = "") -> bytes:
    """One server-sent event."""
    named = f"event: {event}\n" if event else ""
    payload = data if isinstance(data, str) else json.dumps(data)
    return f"{named}data: {payload}\n\n".encode()


def fragments(text: str, count: int = 3) -> list[str]:
    """``text`` in at most ``count`` pieces, none empty."""
    size = max(1, -(-len(text) // count))
    return [text[at : at + size] for at in range(0, len(text), size)]


def toy_vector(text: str, dimensions: int = 8) -> list[float]:
    """A unit vector that depends on the letters only: the same text, the same vector."""
    counts = [1.0] * dimensions
    for character in text.lower():
        counts[ord(character) % dimensions] += 1.0
    length = sum(value * value for value in counts) ** 0.5
    return [value / length for value in counts]
