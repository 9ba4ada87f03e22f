"""Anthropic's messages, streamed as named server-sent events."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.replies import Asked, Failure, Reply, Said, ToolUse, counted_usage
from tests.vendors.wire import Frames, fragments, sse

MODELS = ("claude-haiku-4-5", "claude-sonnet-5")


class AnthropicWire:
    model = "anthropic/claude-haiku-4-5"
    base_path = ""
    key_variable = "ANTHROPIC_API_KEY"
    base_variable = "ANTHROPIC_BASE_URL"
    content_type = "text/event-stream"
    retry_in_header = True

    def is_chat(self, path: str) -> bool:
        return path.endswith("/v1/messages")

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        system = body.get("system") or ""
        if isinstance(system, list):
            system = "\n\n".join(str(block.get("text", "")) for block in system)
        said = [Said("system", system)] if system else []
        for message in body.get("messages", []):
            said += _said(message)
        return Asked(
            model=str(body.get("model", "")),
            messages=tuple(said),
            tools=tuple(tool["name"] for tool in body.get("tools") or []),
            stream=bool(body.get("stream")),
        )

    def frames(self, asked: Asked, reply: Reply) -> Frames:
        usage = counted_usage(asked, reply)
        start = {**_envelope(asked), "content": [], "stop_reason": None, "stop_sequence": None}
        if usage:
            start["usage"] = {"input_tokens": usage[0] - reply.cached, "output_tokens": 1}
            if reply.cached:
                start["usage"]["cache_read_input_tokens"] = reply.cached
        head = _event({"type": "message_start", "message": start})
        head += _event({"type": "ping"})
        body: list[bytes] = []
        blocks = _streamed_blocks(reply)
        for at, (opening, deltas) in enumerate(blocks):
            bits = [_event({"type": "content_block_delta", "index": at, "delta": delta}) for delta in deltas]
            if not bits:
                bits = [b""]
            bits[0] = _event({"type": "content_block_start", "index": at, "content_block": opening}) + bits[0]
            bits[-1] += _event({"type": "content_block_stop", "index": at})
            if reply.quirks:
                bits[0] += _event({"type": "ping"})
            body += bits
        delta: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": _stop(reply), "stop_sequence": None}}
        if usage:
            delta["usage"] = {"output_tokens": usage[1]}
        tail = _event(delta) + _event({"type": "message_stop"})
        error = _event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        garbled = b'event: content_block_delta\ndata: {"type": "content_block_delta", "delta": {"te\n\n'
        return Frames(head, tuple(body), tail, garbled, error)

    def whole(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        usage = counted_usage(asked, reply)
        content: list[dict[str, Any]] = []
        if text := "".join(reply.text_pieces()):
            content.append({"type": "text", "text": text})
        content += [{**_tool_block(at, tool), "input": dict(tool.arguments)} for at, tool in enumerate(reply.tools)]
        counted = {"usage": {"input_tokens": usage[0], "output_tokens": usage[1]}} if usage else {}
        return {**_envelope(asked), "content": content, "stop_reason": _stop(reply), "stop_sequence": None, **counted}

    def failure(self, asked: Asked, failure: Failure) -> dict[str, Any]:
        kind, message = _FAILURES[failure.meaning()]
        if failure.status == 529:
            kind, message = "overloaded_error", "Overloaded"
        message = failure.message or message.format(model=asked.model)
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_loopback"}

    def other(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        if path.endswith("/v1/models"):
            return {"data": [{"type": "model", "id": name} for name in MODELS], "has_more": False}
        return None


def _said(message: dict[str, Any]) -> list[Said]:
    """A tool's result, which Anthropic puts into a message of the user, counts as the tool's."""
    content = message["content"]
    if isinstance(content, str):
        return [Said(message["role"], content)]
    said = [Said("tool", _text(block.get("content"))) for block in content if block["type"] == "tool_result"]
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = tuple(
        ToolUse(block["name"], block["input"], block["id"]) for block in content if block["type"] == "tool_use"
    )
    if text or calls:
        said.append(Said(message["role"], text, calls))
    return said


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(block.get("text", "")) for block in content)
    return str(content or "")


def _streamed_blocks(reply: Reply) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each content block: how it opens, and its deltas."""
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in fragments(reply.thinking)]
        signature = {"type": "signature_delta", "signature": "c2lnbmVk"}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]))
    if pieces := reply.text_pieces():
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]))
    for at, tool in enumerate(reply.tools):
        bits = ["", *fragments(json.dumps(tool.arguments))]
        blocks.append((_tool_block(at, tool), [{"type": "input_json_delta", "partial_json": bit} for bit in bits]))
    return blocks


def _tool_block(at: int, tool: ToolUse) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool.id or f"toolu_{at}", "name": tool.name, "input": {}}


def _envelope(asked: Asked) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.model}


def _event(data: dict[str, Any]) -> bytes:
    return sse(data, str(data["type"]))


def _stop(reply: Reply) -> str:
    if reply.tools:
        return "tool_use"
    return {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}[reply.finish]


_FAILURES: dict[str, tuple[str, str]] = {
    "auth": ("authentication_error", "invalid x-api-key"),
    "no_model": ("not_found_error", "model: {model}"),
    "rate": (
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
    ),
    "no_credit": (
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to purchase credits.",
    ),
    "server": ("api_error", "Internal server error"),
    "too_long": ("invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum"),
    "refused": ("invalid_request_error", "Output blocked by content filtering policy"),
}
