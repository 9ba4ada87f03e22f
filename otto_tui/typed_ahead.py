"""What is typed before there is a screen: taken from the terminal as keys, so that none of them is lost."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager

ENTER = "\r"


@contextmanager
def keys_kept(terminal: int) -> Iterator[str]:
    """Have the terminal pass every key on as it is, and no longer show it; gives what was typed until now.

    The terminal has made a newline of every Enter by then. One at the end of a single line is made an Enter again;
    several lines may be a paste, which nobody wants to be sent line by line.
    """
    import termios

    before = termios.tcgetattr(terminal)
    termios.tcsetattr(terminal, termios.TCSANOW, _as_they_are(before))
    try:
        typed = _waiting(terminal)
        yield typed[:-1] + ENTER if typed.find("\n") == len(typed) - 1 else typed
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def _as_they_are(attributes: list[int | list[bytes | int]]) -> list[int | list[bytes | int]]:
    """Ctrl-C still ends the program."""
    import termios

    input_flags, output_flags, control_flags, local_flags, *rest = attributes
    assert isinstance(input_flags, int)
    assert isinstance(local_flags, int)
    input_flags &= ~(termios.ICRNL | termios.IXON)
    local_flags &= ~(termios.ICANON | termios.ECHO)
    return [input_flags, output_flags, control_flags, local_flags, *rest]


def _waiting(terminal: int) -> str:
    typed = b""
    while select.select([terminal], [], [], 0)[0] and (more := os.read(terminal, 4096)):
        typed += more
    return typed.decode("utf-8", "replace")
