"""The models that can answer: by name, streaming, from any vendor, or the one in the box."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from memory.values import RecallResult
from sessions.chat_model import (
    ChatModel,
    ErrorKind,
    Finished,
    Message,
    ModelError,
    Piece,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from sessions.discovery import FoundServer, find_servers
from sessions.options import OFFLINE, Options
from sessions.vendors import default_model

__all__ = [
    "ChatModel",
    "ErrorKind",
    "Finished",
    "FoundServer",
    "Message",
    "ModelError",
    "OpenModel",
    "Piece",
    "ReasoningDelta",
    "TextDelta",
    "ToolCall",
    "ToolSpec",
    "Usage",
    "default_model",
    "find_servers",
    "open_model",
    "preload",
]

Recall = Callable[[str], Awaitable[RecallResult]]
"""Looks a question up in the session's own memory."""


class OpenModel(Protocol):
    """How a session gets its models: ``open_model``, or a script in its place."""

    def __call__(self, name: str, options: Options, *, recall: Recall | None = None) -> ChatModel: ...


def open_model(name: str, options: Options, *, recall: Recall | None = None) -> ChatModel:
    """The model of that name. Cheap: nothing is imported or asked until it is used.

    ``recall`` is what ``offline`` answers from. Raises ``ModelError`` when the name makes no sense; a key or a server
    that is missing shows when the model is used.
    """
    if name == OFFLINE:
        from sessions.offline_model import OfflineModel

        return OfflineModel(recall)
    from sessions.litellm_model import LitellmModel

    return LitellmModel(name, options)


async def preload() -> None:
    """Import what the first request needs, on a thread. Takes seconds; call it after the first paint.

    What cannot be imported shows when a model is used.
    """
    from sessions.litellm_door import litellm_ready

    with contextlib.suppress(ModelError):
        await litellm_ready()
