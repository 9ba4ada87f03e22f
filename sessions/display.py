"""The one boundary that text passes before a terminal, a screen or a title shows it.

Model output, tool output, imported files and file names can hold anything. What would command a terminal is
made visible; what is invisible and only fools a reader is dropped; what any script needs to be read stays.
"""

from __future__ import annotations

import re

LONGEST_RUN_OF_MARKS = 30
"""Combining marks on one letter before the rest are dropped: what Unicode's stream-safe format allows."""


def displayable(text: str, *, keep_newlines: bool = True) -> str:
    """``text`` without anything that a terminal would obey.

    C0 controls, ESC and DEL become control pictures; C1 controls, lone surrogates and noncharacters U+FFFD;
    bidirectional controls, zero-width characters and hidden tags are dropped. Line ends of any kind become
    ``\\n``. With ``keep_newlines`` tabs and newlines stay, else they become pictures as well. Doing it twice
    changes nothing.
    """
    if _SUSPECT.search(text) is None and (keep_newlines or _BREAK.search(text) is None):
        return text
    shown = _HALF_LINE_END.sub("", text)
    shown = _UNSAFE.sub(_shown, shown)
    shown = _STRAY_JOINER.sub("", shown)
    shown = _MARKS_BEYOND_REASON.sub(r"\1", shown)
    return shown if keep_newlines else shown.translate(_BREAK_PICTURES)


def one_line(text: str, limit: int) -> str:
    """``text`` on one line of at most ``limit`` characters, for a title or a list; ``…`` where it was cut."""
    line = displayable(" ".join(displayable(text).split()))
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    end = limit - 1
    while end > 0 and _EXTENDS.match(line[end]):
        end -= 1
    return line[:end].rstrip() + "…"


def _shown(found: re.Match[str]) -> str:
    hit = found.group()
    code = ord(hit[0])
    if len(hit) > 1:
        return hit
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code in _SEPARATOR_CODES:
        return "\n"
    if code in _DROPPED_CODES:
        return ""
    return "�"


def _class(*ranges: tuple[int, int]) -> str:
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


_CONTROLS = ((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F))

_NONCHARACTERS = ((0xFDD0, 0xFDEF), *((end - 1, end) for end in range(0xFFFF, 0x110000, 0x10000)))

_SURROGATES = (0xD800, 0xDFFF)

_SEPARATORS = (0x2028, 0x2029)

_DROPPED = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x061C, 0x061C),  # Arabic letter mark
    (0x200B, 0x200B),  # zero-width space
    (0x200E, 0x200F),  # left-to-right and right-to-left mark
    (0x202A, 0x202E),  # embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, isolates, deprecated controls
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFF9, 0xFFFB),  # interlinear annotation
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE007F),  # tags
)

_MARKS = (
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)

_JOINERS = (0x200C, 0x200D)

_REGIONAL_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
"""England, Wales: the one place where tag characters are seen."""

_UNSAFE_RANGES = (*_CONTROLS, *_NONCHARACTERS, _SURROGATES, _SEPARATORS, *_DROPPED)

_SEPARATOR_CODES = frozenset(_SEPARATORS)

_DROPPED_CODES = frozenset(code for first, last in _DROPPED for code in range(first, last + 1))

_SUSPECT = re.compile(f"[{_class(*_UNSAFE_RANGES, *_MARKS, _JOINERS)}]")

_UNSAFE = re.compile(f"{_REGIONAL_FLAG}|[{_class(*_UNSAFE_RANGES)}]")

# At the very end of a piece of a stream, its other half may be in the next piece.
_HALF_LINE_END = re.compile(r"\r(?=\n|\Z)")

# Joiners shape Persian, Indic scripts and emoji; after a Latin letter, or in a row, they only hide something.
_STRAY_JOINER = re.compile("(?<=[\x00-\xff])[\u200c\u200d]+|(?<=[\u200c\u200d])[\u200c\u200d]+")

_MARKS_BEYOND_REASON = re.compile(f"([{_class(*_MARKS)}]{{{LONGEST_RUN_OF_MARKS}}})[{_class(*_MARKS)}]+")

_EXTENDS = re.compile(f"[{_class(*_MARKS, _JOINERS)}\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")

_BREAK = re.compile(r"[\t\n]")

_BREAK_PICTURES = {ord("\t"): "␉", ord("\n"): "␊"}
