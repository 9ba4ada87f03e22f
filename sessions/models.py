"""The models that can answer: by name, streaming, from any vendor, or the one in the box."""

from __future__ import annotations

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

__all__ = [
    "ChatModel",
    "ErrorKind",
    "Finished",
    "Message",
    "ModelError",
    "Piece",
    "ReasoningDelta",
    "TextDelta",
    "ToolCall",
    "ToolSpec",
    "Usage",
]
