"""Words that would command a terminal, be taken for markup, or crash whoever stores or prints them."""

from __future__ import annotations

import re

MARKUP = "[/] [bold]b[/bold] [0] [link=x]y[/link] [/no] [@click=app.quit]q[/] [$primary]p <b> {x}"
"""What Rich, Textual and HTML would make something of."""

ESCAPES = "\x1b]52;c;cHduZWQ=\x07 \x1b]0;owned\x07 \x1b[2J \x9b31m \x9d0;owned\x9c u\rv \x00 \x7f \ud800 \u202ew \x1b["
"""Clipboard, title, screen, colours, C1, a carriage return, NUL, DEL, half a character, a turn, a torn end."""

SHOWN = "␛]52;c;cHduZWQ=␇ ␛]0;owned␇ ␛[2J �31m �0;owned� u␍v ␀ ␡ � w ␛["
"""``ESCAPES`` as a person may see them."""

_TYPEABLE = re.compile("[\x00\x1b\ud800\r\x7f]")

PASTED = _TYPEABLE.sub("", ESCAPES)
"""What of ``ESCAPES`` a terminal can paste."""

PASTED_SHOWN = re.sub("[␛␍␀␡]", "", SHOWN)

_CONTROLS = re.compile(
    r"\x1b\[[<=>?]?[0-9;:]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\)|\x1b.|\r\n|[\x00-\x09\x0b-\x1f\x7f-\x9f]",
    re.DOTALL,
)

_DRAWS = re.compile(
    r"\x1b\[[0-9;]*m|\x1b\[[0-9;]+H|\r\n|\x1b\[\?[0-9]+[hl]|\x1b\[\?[0-9]+\$p|\x1b\[[<>][0-9]*u|\x1b\]22;[a-z]+\x07"
)
"""Colours, places, line ends, modes, keyboard, and the shape of the mouse: what Otto's screen sends by itself."""


def commands_in(sent: bytes) -> set[str]:
    """What a terminal was sent that is neither text nor part of drawing a screen."""
    return {found for found in _CONTROLS.findall(sent.decode()) if _DRAWS.fullmatch(found) is None}
