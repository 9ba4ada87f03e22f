"""Keys that terminals send and Textual does not tell apart from Enter."""

from __future__ import annotations

from typing import cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import Keys

NEWLINE_SEQUENCES = (
    "\x1b\r",  # alt+enter
    "\x1b\n",
    "\x1b[27;2;13~",  # shift+enter, as xterm and tmux can be set to send it
    "\x1b[27;3;13~",
    "\x1b[27;5;13~",
)

XTERM_NEWLINE_KEYS = ("\r", "shift+\r", "ctrl+\r", "ctrl+shift+\r")
"""What Textual takes xterm's sequences for while it also listens to kitty's; the first one is alt+enter."""


def teach_newline_keys() -> None:
    """Have alt+enter, and shift+enter where a terminal can tell it apart, arrive as ctrl+j instead of as Enter."""
    table = cast("dict[str, tuple[Keys, ...]]", ANSI_SEQUENCES_KEYS)
    for sequence in NEWLINE_SEQUENCES:
        table[sequence] = (Keys.ControlJ,)
