"""What an MCP tool answers, as text for a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

NOTHING = "(The tool answered with nothing.)"

BASE64_SHARE = 3 / 4
"""Bytes that a character of base64 stands for."""


def answer_text(result: CallToolResult) -> str:
    """All parts of an answer in their order. What is not text is named, not shown."""
    text = "\n\n".join(filter(None, map(_part_text, result.content)))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
    return text or NOTHING


def answer_summary(result: CallToolResult, text: str) -> str:
    """One line: how much came, and of what kind beside text."""
    kinds = _other_kinds(result.content)
    size = f"{len(text):,} characters" if text != NOTHING else "nothing"
    return ", ".join(filter(None, (size, kinds)))


def _part_text(part: ContentBlock) -> str:
    if part.type == "text":
        return part.text
    if part.type == "resource":
        resource = part.resource
        if hasattr(resource, "text"):
            return f"[{resource.uri}]\n{resource.text}"
        return f"[{resource.uri}: {_size(resource.blob)} of {resource.mime_type or 'data'}, not shown]"
    if part.type == "resource_link":
        return f"[A link to {part.uri}: {part.description or part.name}]"
    return f"[{part.type}: {_size(part.data)} of {part.mime_type}, not shown]"


def _other_kinds(parts: Sequence[ContentBlock]) -> str:
    kinds = [part.type.replace("_", " ") for part in parts if part.type != "text"]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def _size(base64: str) -> str:
    return f"{int(len(base64) * BASE64_SHARE):,} bytes"
