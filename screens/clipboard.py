"""Copying to the person's own clipboard, also over SSH and inside tmux, or to a file that is named."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path

LARGEST = 100_000
"""Bytes. Terminals drop or cut a longer OSC 52 sequence without a word."""

FALLBACK_NAME = "copied.txt"


def terminal_takes(text: str, environ: Mapping[str, str]) -> bool:
    """Whether OSC 52 can be trusted with ``text`` here. Apple's terminal and the console ignore it."""
    if environ.get("TERM_PROGRAM") == "Apple_Terminal" or environ.get("TERM", "") in ("dumb", "linux"):
        return False
    return len(text.encode("utf-8", errors="replace")) <= LARGEST


def tmux_passthrough(text: str) -> str:
    """OSC 52 wrapped so that tmux hands it to the terminal around it, whatever its own clipboard setting."""
    encoded = base64.b64encode(text.encode("utf-8", errors="replace")).decode("ascii")
    return f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"


def write_copy(text: str, home: Path) -> Path:
    """Put ``text`` into a file that only its owner can read, in place of the last one. Raises OSError."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = home / FALLBACK_NAME
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path
