"""An HTTP client for one request, whose answer is watched as it comes. Import it only when a request is made."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import httpx

from sessions.wire_watch import Watch


class WatchedClient(httpx.AsyncClient):
    """Reports everything to ``watch`` and keeps to its own times, whatever its caller asks for.

    ``connect`` and ``idle`` are in seconds; with ``by_proxy`` the usual proxy variables count. Closing the client
    closes the connection. It is a subclass since httpx has no hook that sees a connection fail.
    """

    def __init__(self, watch: Watch, *, connect: float, idle: float, by_proxy: bool) -> None:
        super().__init__(verify=certificates(), follow_redirects=True, trust_env=by_proxy)
        self._watch = watch
        self._times = {"connect": connect, "read": idle, "write": idle, "pool": connect}

    async def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        request.extensions["timeout"] = self._times
        request.headers["accept-encoding"] = "identity"
        try:
            response = await super().send(request, stream=True, **options)
        except httpx.HTTPError as failure:
            self._watch.failure = failure
            raise
        headers = {name.lower(): value for name, value in response.headers.items()}
        self._watch.answered(response.status_code, headers)
        response.stream = _WatchedBody(response.stream, self._watch)
        if not stream:
            await response.aread()
        return response


class _WatchedBody(httpx.AsyncByteStream):
    def __init__(self, body: Any, watch: Watch) -> None:
        self._body = body
        self._watch = watch

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._body:
                self._watch.feed(chunk)
                yield chunk
            self._watch.ended = True
        except httpx.HTTPError as failure:
            self._watch.failure = failure
            raise

    async def aclose(self) -> None:
        await self._body.aclose()


@cache
def certificates() -> ssl.SSLContext:
    """Whom to trust; reading it takes tens of milliseconds."""
    return httpx.create_ssl_context()
