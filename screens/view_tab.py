"""Exactly what the model will read next, message by message."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from screens.passage import Block
from screens.wording import counted, grouped
from sessions.display import displayable


@dataclass(frozen=True, slots=True)
class ReadNext:
    """The next request, ready to be shown."""

    summary: str
    blocks: Sequence[Block]
    counts: Mapping[str, int]
    """Tokens by text, so that the next reading counts only what is new."""


def read_next(messages: Sequence[Mapping[str, Any]], count: Callable[[str], int], known: Mapping[str, int]) -> ReadNext:
    """Lay out the messages. Counting takes a while where ``known`` is empty: call it in a thread."""
    counts: dict[str, int] = {}
    blocks: list[Block] = []
    for number, message in enumerate(messages, start=1):
        parts = _parts_of(message)
        for text in parts:
            if text not in counts:
                counts[text] = known[text] if text in known else count(text)
        tokens = sum(counts[text] for text in parts)
        role = displayable(str(message.get("role", "?")), keep_newlines=False)
        blocks.append(Block(f"{number}  {role} · {grouped(tokens)} tokens", "x", heading=True))
        blocks.extend(Block(displayable(text)) for text in parts)
        blocks.append(Block(""))
    total = sum(sum(counts[text] for text in _parts_of(message)) for message in messages)
    summary = f"{counted(len(messages), 'message')}, {grouped(total)} tokens, then your next prompt"
    return ReadNext(summary, blocks, counts)


def _parts_of(message: Mapping[str, Any]) -> list[str]:
    """The texts of one message: its content, then the tool calls it makes or the call it answers."""
    parts: list[str] = []
    content = message.get("content")
    if isinstance(content, str):
        parts.append(content)
    elif isinstance(content, Sequence):
        parts.extend(_part_text(part) for part in content)
    parts.extend(_call_text(call) for call in message.get("tool_calls") or ())
    if message.get("tool_call_id"):
        parts.append(f"(answers the call {message['tool_call_id']})")
    return parts


def _part_text(part: Any) -> str:
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return json.dumps(part, ensure_ascii=False, default=str)


def _call_text(call: Any) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return json.dumps(call, ensure_ascii=False, default=str)
    return f"calls {function.get('name')} {function.get('arguments')}"
