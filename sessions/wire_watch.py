"""A look at the bytes of one streamed answer as they pass.

litellm takes an early end of some streams for a normal one, skips lines that are not JSON, and counts tokens itself
where a server sent no count. What really came over the wire is seen here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sessions.wire_formats import DONE, WireFormat, error_in

LARGEST_ERROR_BODY = 65_536
"""Bytes of an error response that are kept."""


@dataclass(slots=True)
class Watch:
    """What is known of one request's answer so far."""

    format: WireFormat
    status: int | None = None
    """None until the server has answered."""
    headers: dict[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""
    """The start of an error response."""
    received: int = 0
    """Bytes of body."""
    ended: bool = False
    """The body has ended, in whatever state."""
    whole: bool = False
    """The format's own end mark has come."""
    counted: bool = False
    """The server has said how many tokens there were."""
    garbled: bool = False
    """Something came that the format does not allow."""
    error: Any = None
    """The failure that the stream itself reported."""
    failure: Exception | None = None
    """Why the connection failed, as an ``httpx`` exception."""
    opaque: bool = False
    """The body is compressed: nothing in it can be seen."""
    _line: bytes = b""
    _data: list[bytes] = field(default_factory=list)

    def answered(self, status: int, headers: dict[str, str]) -> None:
        self.status = status
        self.headers = headers
        self.opaque = headers.get("content-encoding", "identity") != "identity"
        if status < 400 and headers.get("content-type", "").startswith("text/html"):
            self.garbled = True

    def feed(self, chunk: bytes) -> None:
        """More of the body, cut anywhere."""
        self.received += len(chunk)
        if self.opaque:
            return
        if self.status is None or self.status >= 400:
            self.body += chunk[: LARGEST_ERROR_BODY - len(self.body)]
            return
        *lines, self._line = (self._line + chunk).split(b"\n")
        for line in lines:
            self._take(line.removesuffix(b"\r"))

    def _take(self, line: bytes) -> None:
        if self.format.lines:
            if line.strip():
                self._event(line)
        elif not line:
            data, self._data = b"\n".join(self._data), []
            if data:
                self._event(data)
        elif line.startswith(b"data:"):
            self._data.append(line[5:].strip())

    def _event(self, data: bytes) -> None:
        if data == DONE.encode():
            self.whole = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            self.garbled = True
            return
        if not isinstance(event, dict):
            self.garbled = True
            return
        self.error = self.error or error_in(event)
        self.whole = self.whole or self.format.ends(event)
        self.counted = self.counted or self.format.counts(event)
