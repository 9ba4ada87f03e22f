"""What stands in the prompt: text with chips, each of which stands for a large paste."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

CHIP_LINES = 40
CHIP_BYTES = 4096
"""A paste above either of these becomes a chip."""

SHELL_SIGN = "!"

_CHIP = re.compile(r"\[Pasted #(\d+): [\d,]+ (?:lines|characters)\]")

_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal would obey, or that turn text around."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt as it was typed, and the pastes that its chips stand for, by number."""

    text: str
    pastes: Mapping[int, str] = field(default_factory=dict)

    @property
    def whole(self) -> str:
        """The words that are sent: every chip gives way to exactly what was pasted."""
        return _CHIP.sub(lambda chip: self.pastes.get(int(chip[1]), chip[0]), self.text)

    @property
    def command(self) -> str | None:
        """What a shell is to run, for a prompt that begins with ``!``; None for words to the model."""
        return self.whole[1:].strip() if self.text.startswith(SHELL_SIGN) else None

    @property
    def blank(self) -> bool:
        return not self.text.strip()


@dataclass(frozen=True, slots=True)
class Chip:
    """A chip on one line of the prompt."""

    number: int
    start: int
    """Column."""
    end: int


def pasted(text: str) -> str:
    """What a terminal's paste event holds, with line ends as ``\\n``; terminals send a lone ``\\r`` for them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def unshown(text: str) -> bool:
    """The text holds characters that may be sent to a model but never to the terminal."""
    return _UNSHOWN.search(text) is not None


def deserves_chip(text: str) -> bool:
    """Too much to stand in the prompt, or not fit to be shown there."""
    return text.count("\n") >= CHIP_LINES or len(text.encode(errors="replace")) > CHIP_BYTES or unshown(text)


def chip_for(number: int, text: str) -> str:
    lines = text.count("\n") + (0 if text.endswith("\n") else 1)
    if lines > 1:
        return f"[Pasted #{number}: {lines:,} lines]"
    return f"[Pasted #{number}: {len(text):,} characters]"


def chip_at(line: str, column: int, pastes: Mapping[int, str]) -> Chip | None:
    """The chip that the cursor touches at ``column`` of ``line``."""
    for found in _CHIP.finditer(line):
        if found.start() <= column <= found.end() and int(found[1]) in pastes:
            return Chip(int(found[1]), found.start(), found.end())
    return None
