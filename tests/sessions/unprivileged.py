"""Running a piece of a test as a user to whom file permissions apply (root may do everything)."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path

NOBODY = 65534


def as_nobody(folder: Path, action: Callable[[], str]) -> str:
    """Run ``action`` in a child process that is not root but can reach ``folder``; what it returned.

    Raises:
        AssertionError: it raised; the child's traceback is the message.
    """
    if os.geteuid() != 0:
        return action()
    opened = _open_the_way_to(folder)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            outcome = "+" + action()
        except BaseException:
            outcome = "-" + traceback.format_exc()
        os.write(write_end, outcome.encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, encoding="utf-8") as pipe:
        outcome = pipe.read()
    os.waitpid(child, 0)
    for each, mode in opened:
        each.chmod(mode)
    assert outcome.startswith("+"), outcome[1:]
    return outcome[1:]


def _open_the_way_to(folder: Path) -> list[tuple[Path, int]]:
    """Let anybody pass through the folder and those above it; what they were before."""
    before = [(each, each.stat().st_mode) for each in (folder, *folder.parents) if each != Path("/")]
    for each, mode in before:
        each.chmod(mode | 0o011)
    return before
