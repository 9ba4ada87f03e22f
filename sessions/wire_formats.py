"""How each vendor's stream says that it is whole, what it counted, and that it failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

DONE = "[DONE]"
"""What ends OpenAI's streams in place of a JSON object."""


@dataclass(frozen=True, slots=True)
class WireFormat:
    """One way to stream a reply over HTTP. The callables get one parsed event."""

    lines: bool
    """True: one JSON object a line. False: server-sent events."""
    ends: Callable[[dict[str, Any]], bool]
    counts: Callable[[dict[str, Any]], bool]
    """Whether the event tells how many tokens the prompt took."""


def error_in(event: dict[str, Any]) -> Any:
    """The failure that an event reports, in any of the formats; None when it reports none."""
    return event.get("error") or None


def _openai_ends(event: dict[str, Any]) -> bool:
    return any(choice.get("finish_reason") for choice in _dicts(event.get("choices")))


def _anthropic_ends(event: dict[str, Any]) -> bool:
    return event.get("type") == "message_stop" or bool(_dict(event.get("delta")).get("stop_reason"))


def _anthropic_counts(event: dict[str, Any]) -> bool:
    return "input_tokens" in _dict(_dict(event.get("message")).get("usage") or event.get("usage"))


def _gemini_ends(event: dict[str, Any]) -> bool:
    blocked = _dict(event.get("promptFeedback")).get("blockReason")
    return bool(blocked) or any(candidate.get("finishReason") for candidate in _dicts(event.get("candidates")))


FORMATS: Mapping[str, WireFormat] = {
    "openai": WireFormat(False, _openai_ends, lambda event: bool(event.get("usage"))),
    "anthropic": WireFormat(False, _anthropic_ends, _anthropic_counts),
    "gemini": WireFormat(False, _gemini_ends, lambda event: bool(event.get("usageMetadata"))),
    "ollama": WireFormat(True, lambda event: bool(event.get("done")), lambda event: "prompt_eval_count" in event),
}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
