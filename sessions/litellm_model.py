"""A model behind litellm."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from sessions.chat_model import Message, Piece, TextDelta, ToolSpec
from sessions.litellm_door import litellm_ready
from sessions.model_errors import explain
from sessions.options import Options
from sessions.pricing import listed_window
from sessions.server_windows import ollama_context, server_window
from sessions.vendor_request import VendorRequest
from sessions.vendors import find_target

_CACHE_MARKS = [{"location": "message", "role": "system"}, {"location": "message", "index": -1}]
"""Anthropic, unlike the others, caches only what it is asked to cache; a conversation's beginning rarely changes."""


class LitellmModel:
    """Implements ``ChatModel`` for every vendor that litellm knows. Keeps no connection between requests."""

    def __init__(self, name: str, options: Options) -> None:
        """Raises ``ModelError`` when the name makes no sense."""
        self.name = name
        self._options = options
        self._target = find_target(name, options)
        self._window: int | None = None
        self._ollama_must_be_asked = False

    async def window(self) -> int | None:
        if self._window is None:
            self._window = await self._find_window()
        return self._window

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        if self._target.problem is not None:
            raise self._target.problem
        more = await self._more_settings(messages)
        request = VendorRequest(await litellm_ready(), self._target, self._options)
        try:
            await request.open(messages, tools, **more)
            while (pieces := await request.read()) is not None:
                for piece in pieces:
                    yield piece
            for piece in request.end():
                yield piece
        except Exception as error:
            raise explain(error, request.watch, self._target, self._options) from error
        finally:
            await request.close()

    async def complete(self, prompt: str) -> str:
        said = []
        async with contextlib.aclosing(self.stream([{"role": "user", "content": prompt}])) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextDelta):
                    said.append(piece.text)
        return "".join(said)

    async def _find_window(self) -> int | None:
        target = self._target
        if target.route == "ollama":
            window, self._ollama_must_be_asked = await ollama_context(target, self._options.environ)
            return window
        if target.nearby and (told := await server_window(target)):
            return told
        return await asyncio.to_thread(listed_window, target.litellm_model) if target.price_as else None

    async def _more_settings(self, messages: Sequence[Message]) -> dict[str, Any]:
        if self._target.route == "ollama":
            window = await self.window()
            return {"num_ctx": window} if window and self._ollama_must_be_asked else {}
        if self._target.route == "anthropic" and len(messages) > 1:
            return {"cache_control_injection_points": _CACHE_MARKS}
        return {}
