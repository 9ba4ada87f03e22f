"""What a chat model is to the rest of Otto: the pieces of a streamed reply, and the protocol that yields them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from memory.errors import OttoError

Message = dict[str, Any]
"""One message in OpenAI's chat format: ``role``, ``content``, and ``tool_calls`` or ``tool_call_id``."""

ToolSpec = dict[str, Any]
"""One tool in OpenAI's function format."""

ErrorKind = Literal[
    "auth",
    "no_model",
    "rate",
    "server",
    "cut",
    "timeout",
    "garbled",
    "too_long",
    "unreachable",
    "refused",
    "other",
]


class ModelError(OttoError):
    """A model did not answer, or not fully. ``str(error)`` says what happened and what to do."""

    def __init__(self, sentence: str, kind: ErrorKind = "other", retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.kind: ErrorKind = kind
        self.retry_after = retry_after
        """Seconds to wait, where the vendor said so."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the model's visible reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool. Yielded whole, after the text and before ``Finished``."""

    id: str
    name: str
    arguments: str
    """JSON as the model wrote it; it may not parse."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the vendor counted them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply is whole. Always the last piece."""

    reason: str
    """``stop``, ``tool_calls``, or ``length`` when it ran into the limit of tokens."""
    usage: Usage | None
    cost: float | None
    """US dollars; None when the price or the usage is not known."""
    model: str


Piece = TextDelta | ReasoningDelta | ToolCall | Finished


class ChatModel(Protocol):
    """A model that answers. Safe to use for several requests at once."""

    @property
    def name(self) -> str:
        """As litellm names it, ``NAME/model`` for a provider of the person's own, or ``offline``."""
        ...

    async def window(self) -> int | None:
        """The context window in tokens if known. May ask a local server; never calls a hosted vendor."""
        ...

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        """Yields the reply as it comes, ``Finished`` last.

        Raises ``ModelError`` when it cannot, also after pieces have been yielded. Closing or cancelling the iterator
        closes the connection.
        """
        ...

    async def complete(self, prompt: str) -> str:
        """The reply to one prompt, for seats like ``summarize``. Raises ``ModelError``."""
        ...


def tool_request(text: str, calls: Sequence[ToolCall]) -> Message:
    """The model's own message that asked for tools, as the next request must repeat it.

    Every vendor but OpenAI takes arguments as an object only, so broken ones are repeated inside of one.
    """
    return {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _object(call.arguments)}}
            for call in calls
        ],
    }


def _object(arguments: str) -> str:
    """``arguments`` where they are a JSON object, else an object that holds them."""
    try:
        whole = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return arguments if whole else json.dumps({"not_an_object": arguments}, ensure_ascii=False)
