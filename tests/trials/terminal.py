"""A terminal window with Otto in it: a pseudo-terminal, a model of what it shows, and a person's hands."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from tests.otto_tui.processes import PATIENCE

COLUMNS, LINES = 100, 30

READY = "enter sends"
"""In the window from the first paint on."""

ENTER = "\r"
NEWLINE = "\n"
"""ctrl+j."""
ALT_ENTER = "\x1b\r"
ESCAPE = "\x1b"
PAGE_UP, CTRL_END = "\x1b[5~", "\x1b[1;5F"
F2, F4, F7 = "\x1bOQ", "\x1bOS", "\x1b[18~"
QUIT = "\x11"
"""ctrl+q."""

_POPS_KEYBOARD_MODE = b"\x1b[<u"
"""Known to terminals, not to pyte."""


class Terminal:
    """``otto ARGS`` in a window of its own, from ``with`` to its end. What is typed is sent as a terminal sends it."""

    def __init__(
        self,
        args: Sequence[str],
        environ: Mapping[str, str],
        *,
        program: Sequence[str] = (),
        cwd: Path | None = None,
    ) -> None:
        """``program`` stands in for ``python -m otto_tui``; ``cwd`` is the folder in which it is called."""
        self._command = [*(program or (sys.executable, "-m", "otto_tui")), *args]
        self._environ = {**environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        self._cwd = cwd
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self.sent = b""
        """Every byte that the window was sent."""

    def __enter__(self) -> Terminal:
        self._controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        os.set_blocking(self._controller, False)
        self._child = subprocess.Popen(
            self._command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=self._environ,
            cwd=self._cwd,
            start_new_session=True,
        )
        os.close(terminal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.kill()
        self._child.wait()
        os.close(self._controller)

    # -- what it shows ---------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The lines of the window, without the blanks at their ends."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def flat(self) -> str:
        """The window's text with every run of blanks and line ends as one blank: lines wrap where they like."""
        return " ".join(self.text.split())

    @property
    def title(self) -> str:
        return str(self._screen.title)

    def wait_for(self, *texts: str, gone: Sequence[str] = ()) -> None:
        """Until all of these are in the window, and none of ``gone``. However the lines wrap."""
        self.wait_until(lambda: _all_in(self.flat, texts) and not any(text in self.flat for text in gone), repr(texts))

    def wait_until(self, happened: Callable[[], bool], what: str) -> None:
        """Until this is so, looking whenever the window has changed and a few times a second."""
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < deadline, f"{what} did not come about. The window shows:\n{self.text}"
            if not self._take() and self._child.poll() is not None:
                assert happened(), f"Otto ended before {what}. The window shows:\n{self.text}"

    def look(self) -> None:
        """For a moment, at whatever comes."""
        self._take(0.02)

    def ended(self) -> int:
        """The exit code, once it has ended."""
        while self._child.poll() is None or self._take():
            self.wait_until(lambda: self._child.poll() is not None, "the end")
        return self._child.wait()

    # -- the person ------------------------------------------------------------------------------------------------

    def type(self, *keys: str) -> None:
        """Send keys as they are; one write each, as by hand."""
        for key in keys:
            self._send(key.encode())

    def paste(self, text: str) -> None:
        """As a terminal pastes: between marks, with ``\\r`` for line ends."""
        self._send(b"\x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~")

    def kill(self) -> None:
        """SIGKILL."""
        self._child.send_signal(signal.SIGKILL)
        self._child.wait()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _send(self, data: bytes) -> None:
        deadline = time.monotonic() + PATIENCE
        while data:
            assert time.monotonic() < deadline, "Otto takes no more keys"
            if select.select([], [self._controller], [], 0.05)[1]:
                data = data[os.write(self._controller, data[:4096]) :]
            self._take(0)

    def _take(self, patience: float = 0.1) -> bool:
        """Let the window show what has come; False when nothing has."""
        if not select.select([self._controller], [], [], patience)[0]:
            return False
        try:
            data = os.read(self._controller, 1 << 16)
        except OSError:
            # The last process that had the terminal open has ended.
            data = b""
        self.sent += data
        self._stream.feed(data.replace(_POPS_KEYBOARD_MODE, b""))
        return bool(data)


def _all_in(shown: str, texts: Sequence[str]) -> bool:
    return all(" ".join(text.split()) in shown for text in texts)
