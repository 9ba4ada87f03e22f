"""One request to a vendor through litellm, and what its stream brings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sessions.chat_model import Finished, Message, Piece, ReasoningDelta, TextDelta, ToolSpec, Usage
from sessions.model_errors import cut, garbled, refused
from sessions.options import Options
from sessions.pricing import cost_of
from sessions.tool_call_assembly import ToolCallAssembly
from sessions.vendors import Target
from sessions.wire_formats import FORMATS
from sessions.wire_watch import Watch

MOST_KEPT = 64
"""Chunks of a stream that litellm may hold on to."""


class VendorRequest:
    """Opened once, read to its end, and always closed. Closing it closes the connection."""

    def __init__(self, litellm: Any, target: Target, options: Options) -> None:
        self.watch = Watch(FORMATS[target.route]) if target.route in FORMATS else None
        self._litellm = litellm
        self._target = target
        self._options = options
        self._http: Any = None
        self._stream: Any = None
        self._calls = ToolCallAssembly()
        self._reason: str | None = None
        self._usage: Any = None

    async def open(self, messages: Sequence[Message], tools: Sequence[ToolSpec], **more: Any) -> None:
        """Sends the request and waits until the vendor begins to answer."""
        import httpx

        options = self._options
        optional = {
            "tools": list(tools) or None,
            "temperature": options.temperature,
            "max_tokens": options.max_output_tokens,
            "api_base": self._target.api_base,
            "api_key": self._target.api_key,
            "client": self._client(),
            **more,
        }
        self._stream = await self._litellm.acompletion(
            model=self._target.litellm_model,
            messages=list(messages),
            stream=True,
            stream_options={"include_usage": True},
            timeout=httpx.Timeout(options.idle_timeout, connect=options.connect_timeout),
            max_retries=0,
            num_retries=0,
            **{name: value for name, value in optional.items() if value is not None},
        )

    async def read(self) -> list[Piece] | None:
        """The next pieces of text; None when the stream has ended as its format says it should.

        Raises ``ModelError`` when it ended otherwise, or what litellm raises.
        """
        try:
            chunk = await anext(self._stream)
        except StopAsyncIteration:
            self._check_end()
            return None
        except Exception:
            if not self._came_whole():
                raise
            return None
        self._let_go()
        return list(self._take(chunk))

    def end(self) -> Iterator[Piece]:
        """What can be told once the stream has ended: tool calls, then ``Finished``."""
        if self._reason == "content_filter":
            raise refused(self._target)
        calls = self._calls.calls()
        yield from calls
        usage = self._reported_usage()
        reason = "tool_calls" if calls else "length" if self._reason == "length" else "stop"
        yield Finished(reason, usage, self._cost(usage), self._target.name)

    async def close(self) -> None:
        if self._stream is not None:
            await self._stream.aclose()
        if self._http is not None:
            await self._http.aclose()

    def _client(self) -> Any:
        """An observed connection, in the wrapping that litellm wants for this vendor."""
        if self.watch is None:
            return None
        from sessions.watched_client import WatchedClient

        options = self._options
        self._http = WatchedClient(
            self.watch,
            connect=options.connect_timeout,
            idle=options.idle_timeout,
            by_proxy=not self._target.nearby,
        )
        if self._target.route == "openai":
            import openai

            return openai.AsyncOpenAI(
                api_key=self._target.api_key,
                base_url=self._target.api_base,
                http_client=self._http,
                max_retries=0,
            )
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

        handler = AsyncHTTPHandler()
        handler.client = self._http
        return handler

    def _take(self, chunk: Any) -> Iterator[Piece]:
        if usage := getattr(chunk, "usage", None):
            self._usage = usage
        for choice in chunk.choices or []:
            self._reason = choice.finish_reason or self._reason
            delta = choice.delta
            if delta is None:
                continue
            if thought := getattr(delta, "reasoning_content", None):
                yield ReasoningDelta(thought)
            if delta.content:
                yield TextDelta(delta.content)
            for fragment in delta.tool_calls or []:
                self._calls.add(fragment)

    def _let_go(self) -> None:
        """litellm keeps every chunk and, when a long stream ends, spends seconds on putting them together again.

        Only what tells the usage is left to it: the first of it and the last.
        """
        kept = getattr(self._stream, "chunks", None)
        if isinstance(kept, list) and len(kept) > MOST_KEPT:
            counting = [chunk for chunk in kept if getattr(chunk, "usage", None) is not None]
            kept[:] = counting[:2] + counting[2:][-2:] or kept[-1:]

    def _check_end(self) -> None:
        if self.watch is None or self._came_whole():
            return
        raise garbled(self._target) if self.watch.garbled else cut(self._target)

    def _came_whole(self) -> bool:
        watch = self.watch
        if watch is None:
            return False
        return watch.opaque or (watch.whole and not watch.garbled and watch.error is None)

    def _reported_usage(self) -> Usage | None:
        """None where the vendor sent none: litellm would make one up."""
        if self._usage is None or not (self._usage.prompt_tokens or self._usage.completion_tokens):
            return None
        if self.watch is not None and not (self.watch.counted or self.watch.opaque):
            return None
        return Usage(int(self._usage.prompt_tokens or 0), int(self._usage.completion_tokens or 0))

    def _cost(self, usage: Usage | None) -> float | None:
        if self._target.free:
            return 0.0
        if usage is None or self._target.price_as is None:
            return None
        return cost_of(self._litellm, self._target.price_as, self._usage)
