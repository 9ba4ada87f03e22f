"""A vendor on loopback: real HTTP, scripted answers, recorded requests."""

from __future__ import annotations

import asyncio
import json
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from types import TracebackType
from typing import Any

from sessions.options import Options
from tests.vendors.default_replies import Answer, cited_bullets, default_reply
from tests.vendors.replies import Asked, Failure, Reply, ToolUse
from tests.vendors.wire import Wire
from tests.vendors.wires import WIRES

PATIENCE = 30.0
"""Seconds that a test waits for something before it fails. Never slept through when all is well."""


@dataclass(slots=True)
class Request:
    """One request that arrived, any path."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    asked: Asked | None
    """None for anything but chat."""
    raw: bytes = b""
    """The body as it came."""
    holding: threading.Event = field(default_factory=threading.Event)
    """Set while its stream hangs on purpose."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when the client closed the connection before the answer was whole."""
    done: threading.Event = field(default_factory=threading.Event)
    """Set when nothing more will be sent."""

    @property
    def chat(self) -> Asked:
        assert self.asked is not None, f"{self.path} is not a chat request"
        return self.asked


class LoopbackVendor:
    """A server that speaks one vendor's format on 127.0.0.1, from ``with`` to its end.

    ``vendor`` is ``openai``, ``anthropic``, ``gemini`` or ``ollama``. Chat requests take the scripted answers
    in order; when there are none left, ``reply_with``'s callable or the default answers. Requests to summarise
    numbered items (``Asked.is_summary``) never use up the script: ``summarize_with`` answers them, by default
    with cited bullets.
    """

    def __init__(self, vendor: str = "openai", *, port: int = 0) -> None:
        self.vendor = vendor
        self.wire: Wire = WIRES[vendor]()
        self.requests: list[Request] = []
        self._script: deque[Answer] = deque()
        self._reply: Callable[[Asked], Answer] = default_reply
        self._summarize: Callable[[Asked], Answer] = cited_bullets
        self._others: dict[str, Any] = {}
        self._changed = threading.Condition()
        self._released = threading.Event()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> LoopbackVendor:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # -- where it is ------------------------------------------------------------------------------------

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.wire.base_path}"

    @property
    def model(self) -> str:
        """A model to ask for, as litellm names it."""
        return self.wire.model

    @property
    def environ(self) -> dict[str, str]:
        """The variables that a person would set to use this server."""
        key = {self.wire.key_variable: "loopback-key"} if self.wire.key_variable else {}
        return {self.wire.base_variable: self.api_base, **key}

    def options(self, home: Path, **changes: Any) -> Options:
        """Settings that send chat to this server."""
        return Options(**{"home": home, "environ": self.environ, "chat": self.model, **changes})

    # -- what it answers --------------------------------------------------------------------------------

    def script(self, *answers: Answer) -> None:
        """Adds answers for the next chat requests, in order."""
        with self._changed:
            self._script.extend(answers)

    def say(self, text: str, **fields: Any) -> None:
        """The next chat request gets this text; ``fields`` as in ``Reply``."""
        self.script(Reply(text, **fields))

    def use_tool(self, name: str, /, **arguments: Any) -> None:
        """The next chat request gets a call of this tool."""
        self.script(Reply(tools=(ToolUse(name, arguments),)))

    def fail(self, status: int, kind: str = "", *, retry_after: float | None = None, message: str = "") -> None:
        """The next chat request fails; ``kind`` as in ``Failure``."""
        self.script(Failure(status, kind, retry_after, message))  # type: ignore[arg-type]

    def cut(self, text: str, *, after: int | None = None) -> None:
        """The next reply breaks off after that many frames, by default half of them."""
        self.script(Reply(text, ending="cut", after=after))

    def hang(self, text: str, *, after: int = 1) -> None:
        """The next reply hangs after that many frames, until ``release()`` or until the client goes away."""
        self.script(Reply(text, hold_after=after))

    def reply_with(self, reply: Callable[[Asked], Answer]) -> None:
        """Answers every chat request that nothing is scripted for."""
        self._reply = reply

    def summarize_with(self, reply: Callable[[Asked], Answer]) -> None:
        """Answers every request to summarise numbered items."""
        self._summarize = reply

    def answer(self, path: str, content: Any) -> None:
        """Whatever is asked at ``path`` gets ``content`` as JSON, or a string as a page of HTML."""
        self._others[path] = content

    def release(self) -> None:
        """Lets every hanging stream go on, and those that would hang later."""
        self._released.set()

    # -- what it was asked ------------------------------------------------------------------------------

    @property
    def chats(self) -> list[Request]:
        """The chat requests that were not for a summary."""
        return [request for request in self.conversations if not request.chat.is_summary]

    @property
    def summaries(self) -> list[Request]:
        return [request for request in self.conversations if request.chat.is_summary]

    @property
    def conversations(self) -> list[Request]:
        """All requests to a model, in the order in which they came, and none for lists of models and the like."""
        return [request for request in self.requests if request.asked is not None]

    def wait_for(self, count: int = 1) -> Request:
        """Blocks until so many requests to a model have arrived; fails after ``PATIENCE``."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.conversations) >= count, PATIENCE)
        assert came, f"{len(self.conversations)} of {count} requests came"
        return self.conversations[count - 1]

    async def requested(self, count: int = 1) -> Request:
        """The ``count``-th request to a model, as soon as it has arrived."""
        return await asyncio.to_thread(self.wait_for, count)

    async def holding(self, count: int = 1) -> Request:
        """The ``count``-th request to a model, as soon as its stream hangs."""
        request = await self.requested(count)
        assert await asyncio.to_thread(request.holding.wait, PATIENCE), "the stream never came to hang"
        return request

    async def dropped(self, count: int = 1) -> Request:
        """The ``count``-th request to a model, as soon as the client has closed its connection."""
        request = await self.requested(count)
        assert await asyncio.to_thread(request.gone.wait, PATIENCE), "the client kept its connection"
        return request

    # -- called by the server's threads -----------------------------------------------------------------

    def _record(self, request: Request) -> None:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()

    def _answer(self, asked: Asked) -> Answer:
        if asked.is_summary:
            return self._summarize(asked)
        with self._changed:
            if self._script:
                return self._script.popleft()
        return self._reply(asked)

    def _hold(self, request: Request, connection: socket.socket) -> None:
        """Returns when released; raises when the client has gone or the server closes."""
        request.holding.set()
        while not self._released.wait(0.01):
            if self._closing.is_set() or _has_gone(connection):
                raise ConnectionAbortedError
        request.holding.clear()


class _Server(ThreadingTCPServer):
    """Not ``http.server``'s own, which looks up its name in the DNS when it starts."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], vendor: LoopbackVendor) -> None:
        self.vendor = vendor
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _serve(self, raw: bytes) -> None:
        body: dict[str, Any] = json.loads(raw) if raw else {}
        vendor = self.server.vendor
        path = self.path.partition("?")[0]
        is_chat = vendor.wire.is_chat(path) and path not in vendor._others
        asked = vendor.wire.asked(path, body) if is_chat else None
        request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body, asked, raw)
        vendor._record(request)
        try:
            self._respond(vendor, request, path)
        except OSError:
            request.gone.set()
            self.close_connection = True
        finally:
            request.done.set()

    def _respond(self, vendor: LoopbackVendor, request: Request, path: str) -> None:
        if request.asked is None:
            found = vendor._others.get(path, vendor.wire.other(path, request.body))
            self._once(200 if found is not None else 404, found or {"error": "not found"})
            return
        answer = vendor._answer(request.asked)
        if isinstance(answer, Failure):
            told = answer.retry_after is not None and vendor.wire.retry_in_header
            wait = {"Retry-After": f"{answer.retry_after:g}"} if told else {}
            self._once(answer.status, vendor.wire.failure(request.asked, answer), wait)
        elif request.asked.stream:
            self._stream(vendor, request, answer)
        else:
            self._whole(vendor, request, answer)

    def _whole(self, vendor: LoopbackVendor, request: Request, reply: Reply) -> None:
        if reply.hold_after is not None:
            vendor._hold(request, self.connection)
        payload = json.dumps(vendor.wire.whole(request.chat, reply)).encode()
        if reply.ending == "garbled":
            payload = payload[: len(payload) // 2]
        self._headers(200, "application/json", {"Content-Length": str(len(payload))})
        if reply.ending in ("cut", "early_end"):
            self.wfile.write(payload[: len(payload) // 2])
            self._break()
        else:
            self.wfile.write(payload)

    def _stream(self, vendor: LoopbackVendor, request: Request, reply: Reply) -> None:
        frames = vendor.wire.frames(request.chat, reply)
        ends_after = len(frames.body)
        if reply.ending != "whole":
            ends_after = len(frames.body) // 2 if reply.after is None else min(reply.after, len(frames.body))
        self._headers(200, vendor.wire.content_type, {"Transfer-Encoding": "chunked"})
        self._chunk(frames.head)
        for sent, frame in enumerate(frames.body[:ends_after]):
            if sent == reply.hold_after:
                vendor._hold(request, self.connection)
            self._chunk(frame)
            if reply.pause:
                time.sleep(reply.pause)
        if reply.hold_after is not None and reply.hold_after >= ends_after:
            vendor._hold(request, self.connection)
        if reply.ending == "cut":
            self._break()
            return
        last = {
            "garbled": frames.garbled + frames.tail,
            "error": frames.error,
            "early_end": b"",
            "whole": frames.tail,
        }
        self._chunk(last[reply.ending])
        self.wfile.write(b"0\r\n\r\n")
        if _has_gone(self.connection):
            raise ConnectionAbortedError

    def _once(self, status: int, content: Any, more: dict[str, str] | None = None) -> None:
        page = isinstance(content, str)
        payload = (content if page else json.dumps(content)).encode()
        self._headers(
            status, "text/html" if page else "application/json", {"Content-Length": str(len(payload)), **(more or {})}
        )
        self.wfile.write(payload)

    def _headers(self, status: int, content_type: str, more: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _break(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _has_gone(connection: socket.socket) -> bool:
    """True when the other side has closed."""
    readable: Iterable[Any] = select.select([connection], [], [], 0)[0]
    if not readable:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True
