"""Gemini's generateContent, streamed as server-sent events."""

from __future__ import annotations

import re
from typing import Any

from tests.vendors.replies import Asked, Failure, Reply, Said, ToolUse, counted_usage
from tests.vendors.wire import Frames, fragments, sse, toy_vector

MODELS = ("gemini-flash-latest", "gemini-3.8-flash")

CHAT_PATH = re.compile(r"/models/([^/:]+):(streamGenerateContent|generateContent)$")


class GeminiWire:
    model = "gemini/gemini-flash-latest"
    base_path = "/v1beta"
    key_variable = "GEMINI_API_KEY"
    base_variable = "GEMINI_API_BASE"
    content_type = "text/event-stream"
    retry_in_header = False

    def is_chat(self, path: str) -> bool:
        return CHAT_PATH.search(path) is not None

    def asked(self, path: str, body: dict[str, Any]) -> Asked:
        found = CHAT_PATH.search(path)
        assert found is not None
        system = body.get("system_instruction") or body.get("systemInstruction") or {}
        said = [Said("system", _text(system))] if system else []
        for content in body.get("contents", []):
            said += _said(content)
        declared = [
            function["name"]
            for tool in body.get("tools") or []
            for function in tool.get("function_declarations") or tool.get("functionDeclarations") or []
        ]
        return Asked(found.group(1), tuple(said), tuple(declared), found.group(2) == "streamGenerateContent")

    def frames(self, asked: Asked, reply: Reply) -> Frames:
        def chunk(parts: list[dict[str, Any]], finish: str | None = None) -> bytes:
            return sse(_response(asked, parts, finish))

        body = [chunk([{"text": piece, "thought": True}]) for piece in fragments(reply.thinking)]
        body += [chunk([{"text": piece}]) for piece in reply.text_pieces()]
        if reply.tools:
            body.append(chunk([_function_call(tool) for tool in reply.tools]))
        head = b""
        if reply.quirks:
            head = sse({"modelVersion": asked.model}) + sse({"candidates": [], "modelVersion": asked.model})
            body = [b"\r\n".join(frame.split(b"\n")) for frame in body]
        final = _response(asked, [{"text": ""}], _finish(reply))
        if usage := counted_usage(asked, reply):
            final["usageMetadata"] = _usage(usage)
            if reply.cached:
                final["usageMetadata"]["cachedContentTokenCount"] = reply.cached
        error = sse({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})
        return Frames(head, tuple(body), sse(final), b'data: {"candidates": [{"content": {"par\n\n', error)

    def whole(self, asked: Asked, reply: Reply) -> dict[str, Any]:
        parts: list[dict[str, Any]] = []
        if text := "".join(reply.text_pieces()):
            parts.append({"text": text})
        parts += [_function_call(tool) for tool in reply.tools]
        usage = counted_usage(asked, reply)
        counted = {"usageMetadata": _usage(usage)} if usage else {}
        return {**_response(asked, parts, _finish(reply)), **counted}

    def failure(self, asked: Asked, failure: Failure) -> dict[str, Any]:
        status, message = _FAILURES[failure.meaning()]
        message = failure.message or message.format(model=asked.model)
        details: list[dict[str, Any]] = []
        if failure.meaning() == "auth":
            details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"})
        if failure.retry_after is not None:
            delay = f"{failure.retry_after:g}s"
            details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
        error = {"code": failure.status, "message": message, "status": status}
        return {"error": {**error, **({"details": details} if details else {})}}

    def other(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        if path.endswith("/models"):
            return {"models": [{"name": f"models/{name}"} for name in MODELS]}
        if path.endswith(":batchEmbedContents"):
            return {"embeddings": [{"values": toy_vector(_text(r["content"]))} for r in body["requests"]]}
        if path.endswith(":embedContent"):
            return {"embedding": {"values": toy_vector(_text(body["content"]))}}
        return None


def _said(content: dict[str, Any]) -> list[Said]:
    """A function's response, which Gemini puts into a message of the user, counts as the tool's."""
    role = "assistant" if content.get("role") == "model" else "user"
    said, calls = [], []
    for part in content["parts"]:
        response = part.get("function_response") or part.get("functionResponse")
        call = part.get("function_call") or part.get("functionCall")
        if response:
            said.append(Said("tool", str(response["response"].get("content", response["response"]))))
        if call:
            calls.append(ToolUse(call["name"], call["args"]))
    text = _text(content)
    if text or calls:
        said.append(Said(role, text, tuple(calls)))
    return said


def _text(content: dict[str, Any]) -> str:
    return "".join(str(part.get("text", "")) for part in content["parts"])


def _response(asked: Asked, parts: list[dict[str, Any]], finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": asked.model, "responseId": "loopback"}


def _function_call(tool: ToolUse) -> dict[str, Any]:
    return {"functionCall": {"name": tool.name, "args": dict(tool.arguments)}}


def _finish(reply: Reply) -> str:
    return {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[reply.finish]


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"promptTokenCount": usage[0], "candidatesTokenCount": usage[1], "totalTokenCount": sum(usage)}


_FAILURES: dict[str, tuple[str, str]] = {
    "auth": ("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "no_model": (
        "NOT_FOUND",
        "models/{model} is not found for API version v1beta, or is not supported for generateContent.",
    ),
    "rate": ("RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."),
    "no_credit": ("FAILED_PRECONDITION", "Billing is not enabled for this project."),
    "server": ("INTERNAL", "An internal error has occurred."),
    "too_long": (
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "refused": ("INVALID_ARGUMENT", "The prompt was blocked because of its content (SAFETY)."),
}
