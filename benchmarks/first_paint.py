"""From the first line of Python to the first painted screen, in a real pseudo-terminal, in processes of their own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

PATIENCE = 60.0
"""Seconds without a paint before a program counts as hung."""

COLUMNS, ROWS = 120, 40

_BEGIN = "import os, time; os.write(int(os.environ['OTTO_BENCHMARK_FD']), repr(time.monotonic()).encode());"


@dataclass(frozen=True, slots=True)
class Program:
    """Something that paints, and a text that it paints first."""

    code: str
    marker: bytes

    @property
    def whole(self) -> str:
        return _BEGIN + self.code


BARE = Program(
    """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("painted")
Bare().run()
""",
    b"painted",
)
"""The least that Textual can be: one line of text."""

OTTO = Program("from otto_tui.cli import main; main()", b"rite to the model")
"""The prompt, ready to be written into. Its first letter is under the cursor."""


def first_paint(program: Program) -> float:
    """Seconds from the program's first line to its first paint.

    Raises:
        TimeoutError: it painted nothing.
    """
    with tempfile.TemporaryDirectory(prefix="otto-bench-") as home:
        reading, writing = os.pipe()
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.set_inheritable(writing, True)
            os.execve(sys.executable, [sys.executable, "-c", program.whole], _environ(Path(home), writing))
        os.close(writing)
        try:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            painted = _painted(terminal, program.marker)
            return painted - float(os.read(reading, 100))
        finally:
            os.close(reading)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)


def _environ(home: Path, writing: int) -> dict[str, str]:
    """No keys, no settings, no servers; a terminal of today."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "GLIBC_TUNABLES") if name in os.environ}
    return kept | {
        "HOME": str(home),
        "OTTO_HOME": str(home / "otto"),
        "OLLAMA_HOST": "127.0.0.1:1",
        "TERM": "xterm-256color",
        "PYTHONPATH": str(ROOT),
        "OTTO_BENCHMARK_FD": str(writing),
    }


def _painted(terminal: int, marker: bytes) -> float:
    seen = b""
    while select.select([terminal], [], [], PATIENCE)[0]:
        seen += os.read(terminal, 65_536)
        if marker in seen:
            return time.monotonic()
    raise TimeoutError(f"{marker!r} was not painted; the last output was {seen[-300:]!r}")
