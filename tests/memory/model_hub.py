"""A model hub on loopback: serves a folder as one repository, or misbehaves."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

COMMIT = "0123456789abcdef0123456789abcdef01234567"

Mood = Literal["fine", "silent", "failing", "cut"]
"""silent: accepts and never answers. failing: 500 for every file. cut: the weights break off in the middle."""


class ModelHub:
    """What a client of the hub sees. ``requests`` are the paths that were asked for."""

    def __init__(self, folder: Path, mood: Mood) -> None:
        self.folder = folder
        self.mood: Mood = mood
        self.requests: list[str] = []
        self.closing = threading.Event()
        self.url = ""


@contextmanager
def model_hub(folder: Path, mood: Mood = "fine") -> Iterator[ModelHub]:
    hub = ModelHub(folder, mood)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Tests print nothing."""

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            if hub.mood == "silent":
                hub.closing.wait()
                self.close_connection = True
                return
            if "/resolve/" in self.path:
                self._file(self.path.partition("/resolve/")[2].partition("/")[2], with_body=with_body)
            else:
                self._send(200, b"{}", with_body=with_body)

        def _file(self, name: str, *, with_body: bool) -> None:
            if hub.mood == "failing":
                self._send(500, b"{}", with_body=with_body)
                return
            if not (hub.folder / name).is_file():
                self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"}, with_body=with_body)
                return
            content = (hub.folder / name).read_bytes()
            headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
            if hub.mood == "cut" and with_body and name.endswith(".onnx"):
                self._head(200, len(content), headers)
                self.wfile.write(content[: len(content) // 2])
                self.close_connection = True
                return
            self._send(200, content, headers, with_body=with_body)

        def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None, *, with_body: bool) -> None:
            self._head(status, len(content), headers or {})
            if with_body:
                self.wfile.write(content)

        def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(length))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that goes away is no news."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
