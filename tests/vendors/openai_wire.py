"""OpenAI's chat completions, as OpenAI and every compatible server stream them."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.replies import Asked, Failure, Reply, Said, ToolUse, counted_usage
from tests.vendors.wire import Frames, fragments, sse, toy_vector

MODELS = ("gpt-4o-mini", "gpt-4o", "local-model")


class OpenAIWire:
    model = "openai/gpt-4o-mini"
    base_path = "/v1"
    key_variable = "OPENAI_API_KEY"
    base_variable = "OPENAI_BASE_URL"
    content_type = "text/event-stream"
    retry_in_header = True

    def is_chat(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        return Asked(
            model=str(body.get("model", "")),
            messages=tuple(_said(message) for message in body.get("messages", [])),
            tools=tuple(tool["function"]["name"] for tool in body.get("tools") or []),
            stream=bool(body.get("stream")),
            usage_wanted=bool((body.get("stream_options") or {}).get("include_usage")),
        )

    def frames(self, asked: Asked, reply: Reply) -> Frames:
        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            return sse({**_envelope(asked), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        head = chunk({"role": "assistant", "content": None if reply.quirks else ""})
        if reply.quirks:
            head = (
                b": keep-alive\n\n" + sse({**_envelope(asked), "choices": []}) + head + chunk({"content": None}) + b"\n"
            )
        body = [chunk({"reasoning_content": piece}) for piece in fragments(reply.thinking)]
        body += [chunk({"content": piece}) for piece in reply.text_pieces()]
        body += [chunk({"tool_calls": [fragment]}) for fragment in _tool_fragments(reply.tools)]
        tail = chunk({}, _finish(reply))
        usage = counted_usage(asked, reply)
        if usage is not None and (asked.usage_wanted or reply.usage != "counted"):
            tail += sse({**_envelope(asked), "choices": [], "usage": _usage(usage, reply)})
        tail += sse("[DONE]")
        error = sse(
            {
                "error": {
                    "message": "The server had an error while processing your request",
                    "type": "server_error",
                }
            }
        )
        return Frames(head, tuple(body), tail, b'data: {"id": "chatcmpl-1", "choices": [{"delta": {"con\n\n', error)

    def whole(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.text_pieces()) or None}
        if reply.tools:
            message["tool_calls"] = [_tool_call(at, tool) for at, tool in enumerate(reply.tools)]
        usage = counted_usage(asked, reply)
        return {
            **_envelope(asked),
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply)}],
            **({"usage": _usage(usage, reply)} if usage else {}),
        }

    def failure(self, asked: Asked, failure: Failure) -> dict[str, Any]:
        message, kind, code = _FAILURES[failure.meaning()]
        message = failure.message or message.format(model=asked.model)
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def other(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        if path.endswith("/models"):
            return {
                "object": "list",
                "data": [{"id": name, "object": "model", "owned_by": "loopback"} for name in MODELS],
            }
        if path.endswith("/embeddings"):
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            vectors = [{"object": "embedding", "index": n, "embedding": toy_vector(t)} for n, t in enumerate(texts)]
            usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
            return {"object": "list", "data": vectors, "model": body.get("model"), "usage": usage}
        return None


def _said(message: dict[str, Any]) -> Said:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content)
    calls = tuple(
        ToolUse(call["function"]["name"], json.loads(call["function"]["arguments"] or "{}"), call["id"])
        for call in message.get("tool_calls") or []
    )
    role = "system" if message["role"] == "developer" else str(message["role"])
    return Said(role, content or "", calls)


def _envelope(asked: Asked) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": asked.model,
    }


def _tool_call(at: int, tool: ToolUse) -> dict[str, Any]:
    function = {"name": tool.name, "arguments": json.dumps(tool.arguments)}
    return {"id": tool.id or f"call_{at}", "type": "function", "function": function}


def _tool_fragments(tools: tuple[ToolUse, ...]) -> list[dict[str, Any]]:
    """Each call's name first, then its arguments bit by bit, the calls interleaved."""
    opened = [{"index": at, **_tool_call(at, tool)} for at, tool in enumerate(tools)]
    parts = [
        [{"index": at, "function": {"arguments": bit}} for bit in fragments(call["function"]["arguments"])]
        for at, call in enumerate(opened)
    ]
    for call in opened:
        call["function"] = {"name": call["function"]["name"], "arguments": ""}
    longest = max((len(bits) for bits in parts), default=0)
    return opened + [bits[at] for at in range(longest) for bits in parts if at < len(bits)]


def _finish(reply: Reply) -> str:
    if reply.finish == "refused":
        return "content_filter"
    return "tool_calls" if reply.tools else reply.finish


def _usage(usage: tuple[int, int], reply: Reply) -> dict[str, Any]:
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return {**counted, "prompt_tokens_details": {"cached_tokens": reply.cached}} if reply.cached else counted


_FAILURES: dict[str, tuple[str, str, str | None]] = {
    "auth": (
        "Incorrect API key provided: sk-loop****back. You can find your API key at https://platform.openai.com.",
        "invalid_request_error",
        "invalid_api_key",
    ),
    "no_model": (
        "The model `{model}` does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
    ),
    "rate": (
        "Rate limit reached for {model} in organization org-x on tokens per min.",
        "tokens",
        "rate_limit_exceeded",
    ),
    "no_credit": (
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        "insufficient_quota",
    ),
    "server": (
        "The server had an error while processing your request. Sorry about that!",
        "server_error",
        None,
    ),
    "too_long": (
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
        "invalid_request_error",
        "context_length_exceeded",
    ),
    "refused": (
        "Your request was rejected as a result of our safety system.",
        "invalid_request_error",
        "content_policy_violation",
    ),
}
