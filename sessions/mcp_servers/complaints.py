"""What a server program writes to standard error: the last lines, for the sentence that says why it failed."""

from __future__ import annotations

import os
import threading
from types import TracebackType

KEPT = 4_000
"""Characters kept of the end."""


class Complaints:
    """A pipe that is read for as long as somebody writes, so that a talkative server never stands still.

    Use as a context manager; ``pipe`` is what the program is given.
    """

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.pipe = os.fdopen(writing, "w")
        self._reading = reading
        self._lock = threading.Lock()
        self._end = b""
        self._thread = threading.Thread(target=self._read, name="otto-mcp-stderr", daemon=True)
        self._thread.start()

    def __enter__(self) -> Complaints:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # The reader ends by itself when the last process that holds the other end is gone.
        self.pipe.close()

    def last_line(self, patience: float = 0.5) -> str:
        """The last line that says anything; "" if none does. Waits a moment for a program that has just ended."""
        self.pipe.close()
        self._thread.join(patience)
        with self._lock:
            lines = self._end.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _read(self) -> None:
        with os.fdopen(self._reading, "rb", buffering=0) as source:
            while piece := source.read(65_536):
                with self._lock:
                    self._end = (self._end + piece)[-KEPT:]
