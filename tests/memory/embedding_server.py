"""Embeddings over real HTTP on loopback, in OpenAI's and in Gemini's format, with scripted failures."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.memory.embedders import TinyEmbedder

KEY = "loopback-key-that-must-not-be-shown"


@dataclass
class EmbeddingService:
    """What the server was asked, and what it answers next instead of embeddings."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    script: deque[tuple[int, Any]] = field(default_factory=deque)
    """Status and body of the next answers; a status of 0 never answers."""
    model: TinyEmbedder = field(default_factory=TinyEmbedder)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def api_base(self) -> str:
        return f"{self.url}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that arrived, in order."""
        return [text for request in self.requests for text in request["texts"]]


def openai_reply(vectors: list[list[float]]) -> dict[str, Any]:
    """Vectors in OpenAI's format, last first: the order is in ``index``."""
    entries = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": entries[::-1], "model": "m", "usage": usage}


@contextmanager
def embedding_service() -> Iterator[EmbeddingService]:
    service = EmbeddingService()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Tests print nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.keys.append(self.headers.get("Authorization") or self.headers.get("x-goog-api-key") or "")
            if ":batchEmbedContents" in self.path:
                parts = body["requests"]
                texts = [part["content"]["parts"][0]["text"] for part in parts]
                tasks = [part.get("taskType") for part in parts]
            else:
                texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
                tasks = []
            service.requests.append({"path": self.path, "texts": texts, "tasks": tasks, "body": body})
            vectors = [[float(number) for number in service.model.vector(text)] for text in texts]
            answer: Any = {"embeddings": [{"values": v} for v in vectors]} if tasks else openai_reply(vectors)
            status, answer = service.script.popleft() if service.script else (200, answer)
            if status == 0:
                service.closing.wait()
                return
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that goes away is no news."""

    server = Server(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
