"""Ollama's own chat, streamed as one JSON object a line."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.replies import Asked, Failure, Reply, Said, ToolUse, counted_usage
from tests.vendors.wire import Frames, fragments, toy_vector

MODELS = ("llama3.2:latest", "qwen3:8b")

CONTEXT_LENGTH = 131_072


class OllamaWire:
    model = "ollama/llama3.2"
    base_path = ""
    key_variable = ""
    base_variable = "OLLAMA_API_BASE"
    content_type = "application/x-ndjson"
    retry_in_header = True

    def is_chat(self, path: str) -> bool:
        return path.endswith("/api/chat")

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        return Asked(
            model=str(body.get("model", "")),
            messages=tuple(_said(message) for message in body.get("messages", [])),
            tools=tuple(tool["function"]["name"] for tool in body.get("tools") or []),
            stream=bool(body.get("stream", True)),
        )

    def frames(self, asked: Asked, reply: Reply) -> Frames:
        def line(message: dict[str, Any]) -> bytes:
            return _line({**_envelope(asked), "message": {"role": "assistant", **message}, "done": False})

        body = [line({"content": "", "thinking": piece}) for piece in fragments(reply.thinking)]
        body += [line({"content": piece}) for piece in reply.text_pieces()]
        if reply.tools:
            body.append(line({"content": "", "tool_calls": [_call(tool) for tool in reply.tools]}))
        head = line({"content": ""}) + line({"content": None}) + b"\n" if reply.quirks else b""
        tail = _line({**_envelope(asked), "message": {"role": "assistant", "content": ""}, **_done(asked, reply)})
        error = _line({"error": "an error was encountered while running the model: CUDA error"})
        return Frames(head, tuple(body), tail, b'{"model": "llama3.2", "message": {"ro\n', error)

    def whole(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.text_pieces())}
        if reply.tools:
            message["tool_calls"] = [_call(tool) for tool in reply.tools]
        return {**_envelope(asked), "message": message, **_done(asked, reply)}

    def failure(self, asked: Asked, failure: Failure) -> dict[str, Any]:
        return {"error": failure.message or _FAILURES[failure.meaning()].format(model=asked.model)}

    def other(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        if path.endswith("/api/tags"):
            return {"models": [{"name": name, "model": name} for name in MODELS]}
        if path.endswith("/api/version"):
            return {"version": "0.30.0"}
        if path.endswith("/api/show"):
            return {
                "template": "{{ .Tools }}",
                "parameters": "",
                "capabilities": ["completion", "tools"],
                "model_info": {"general.architecture": "llama", "llama.context_length": CONTEXT_LENGTH},
            }
        if path.endswith("/api/embed"):
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            return {"model": body.get("model"), "embeddings": [toy_vector(text) for text in texts]}
        if path.endswith("/models"):
            return {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]}
        return None


def _said(message: dict[str, Any]) -> Said:
    calls = tuple(
        ToolUse(call["function"]["name"], call["function"].get("arguments") or {})
        for call in message.get("tool_calls") or []
    )
    return Said(str(message["role"]), message.get("content") or "", calls)


def _call(tool: ToolUse) -> dict[str, Any]:
    return {"function": {"name": tool.name, "arguments": dict(tool.arguments)}}


def _done(asked: Asked, reply: Reply) -> dict[str, Any]:
    done: dict[str, Any] = {"done": True, "done_reason": "length" if reply.finish == "length" else "stop"}
    if usage := counted_usage(asked, reply):
        done |= {"prompt_eval_count": usage[0], "eval_count": usage[1]}
    return done


def _envelope(asked: Asked) -> dict[str, Any]:
    return {"model": asked.model, "created_at": "2026-01-01T00:00:00.000000Z"}


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


_FAILURES: dict[str, str] = {
    "auth": "unauthorized",
    "no_model": "model '{model}' not found",
    "rate": "too many concurrent requests",
    "no_credit": "you have reached your usage limit, upgrade for higher limits",
    "server": "llama runner process has terminated: exit status 2",
    "too_long": "the input length exceeds the context length",
    "refused": "the request was blocked by the content policy",
}
