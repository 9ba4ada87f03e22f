"""A terminal of 80 by 24 that a process runs in, and somebody who types when they see something."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence

from tests.otto_tui.processes import PATIENCE


def typed_into(args: Sequence[str], typed: Sequence[tuple[str, str]], environ: Mapping[str, str]) -> tuple[str, int]:
    """Run ``otto ARGS``; type each second string once the first has appeared after what appeared before.

    Returns:
        All that the terminal was sent, with line ends as ``\\n``, and the exit code.
    """
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "otto_tui", *args],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=dict(environ),
        preexec_fn=_own_the_terminal,
    )
    os.close(terminal)
    try:
        seen = _watch(controller, list(typed))
        return seen.decode("utf-8", "replace").replace("\r\n", "\n"), child.wait(PATIENCE)
    finally:
        child.kill()
        child.wait()
        os.close(controller)


def _watch(controller: int, waiting: list[tuple[str, str]]) -> bytes:
    seen, searched = b"", 0
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if waiting and (place := seen.find(waiting[0][0].encode(), searched)) >= 0:
            searched = place + len(waiting[0][0].encode())
            os.write(controller, waiting.pop(0)[1].encode())
        if not select.select([controller], [], [], 0.1)[0]:
            continue
        try:
            data = os.read(controller, 65_536)
        except OSError:
            # The last process that had the terminal open has ended.
            data = b""
        if not data:
            break
        seen += data
    assert not waiting, f"{waiting[0][0]!r} never appeared in {seen!r}"
    return seen


def _own_the_terminal() -> None:
    """Have Ctrl-C on the terminal reach this process."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
