"""Word-for-word excerpts: which pieces of a text to keep when the whole does not fit. Nothing is ever reworded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.tokens import count_tokens
from memory.values import Span
from memory.weight import weight

GAP = " … "
"""Stands between two pieces of an excerpt, and at an end that was cut."""

SCAN_CHARACTERS = 20_000
"""Of a longer text only the two ends are searched for the sentences that matter."""

# A colon or semicolon ends a piece too: what follows "One rule:" is worth keeping without it.
_SENTENCE = re.compile(r"[^\n.!?:;。！？：；]*(?:[.!?:;](?!\s)[^\n.!?:;。！？：；]*)*(?:[.!?:;。！？：；]+|\n|$)")


def join_spans(text: str, spans: Sequence[Span]) -> str:
    """The pieces in order, with a mark wherever something was left out."""
    if not spans:
        return ""
    joined = GAP.join(text[start:end] for start, end in spans)
    before = "… " if spans[0][0] > 0 else ""
    after = " …" if spans[-1][1] < len(text.rstrip()) else ""
    return f"{before}{joined}{after}"


def whole(text: str) -> tuple[Span, ...]:
    """The span of a whole text; none for an empty one."""
    return ((0, len(text)),) if text else ()


def leading(text: str, max_tokens: int) -> tuple[Span, ...]:
    """The start of ``text``, cut at the end of a word."""
    start = len(text) - len(text.lstrip())
    end = _fitting_end(text, start, len(text.rstrip()), max_tokens)
    return ((start, end),) if end > start else ()


def both_ends(text: str, max_tokens: int) -> tuple[Span, ...]:
    """The start and the end of ``text``, half of the tokens each: how an event larger than X is held."""
    head = _fitting_end(text, 0, len(text), max(1, max_tokens // 2))
    tail = _fitting_start(text, head, max(1, max_tokens - max_tokens // 2))
    if tail <= head:
        return whole(text)
    return ((0, head), (tail, len(text)))


def salient(text: str, max_tokens: int) -> tuple[Span, ...]:
    """The sentences that matter most (``memory/weight.py``), as many as fit, in their order.

    The weightiest one is whole even where it takes up to twice ``max_tokens``: half a rule is none.
    """
    if len(text) <= max_tokens * 8 and count_tokens(text) <= max_tokens:
        return whole(text)
    sentences = sorted(_sentences(text), key=lambda span: (-weight(text[span[0] : span[1]]), span))
    chosen: list[Span] = []
    left = max_tokens
    for start, end in sentences[:40]:
        cost = count_tokens(text[start:end]) + 1
        if cost <= left or (not chosen and cost <= 2 * max_tokens):
            chosen.append((start, end))
            left -= cost
    if not chosen and sentences:
        start, end = sentences[0]
        chosen = [(start, _fitting_end(text, start, end, max_tokens))]
    return _merged(text, sorted(chosen))


def salience(text: str) -> int:
    """How much the weightiest sentence of ``text`` matters; what stays longest when room is short."""
    return max((weight(text[start:end]) for start, end in _sentences(text)), default=0)


def _sentences(text: str) -> list[Span]:
    if len(text) > SCAN_CHARACTERS:
        half = SCAN_CHARACTERS // 2
        return _sentences_in(text, 0, half) + _sentences_in(text, len(text) - half, len(text))
    return _sentences_in(text, 0, len(text))


def _sentences_in(text: str, first: int, last: int) -> list[Span]:
    spans: list[Span] = []
    for match in _SENTENCE.finditer(text, first, last):
        piece = match.group()
        start = match.start() + len(piece) - len(piece.lstrip())
        end = match.end() - (len(piece) - len(piece.rstrip()))
        if end > start:
            spans.append((start, end))
    return spans


def _merged(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Pieces with nothing but white space between them become one."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def _fitting_end(text: str, start: int, end: int, max_tokens: int) -> int:
    """The furthest word end at which ``text[start:end]`` costs at most ``max_tokens``."""
    end = min(end, start + max_tokens * 16)
    if count_tokens(text[start:end]) <= max_tokens:
        return end
    low, high = start, end
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[start:middle]) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    space = max(text.rfind(" ", start, low), text.rfind("\n", start, low))
    return space if space > start + (low - start) // 2 else low


def _fitting_start(text: str, start: int, max_tokens: int) -> int:
    """The earliest word start from which the rest of ``text`` costs at most ``max_tokens``."""
    low = max(start, len(text) - max_tokens * 16)
    high = len(text)
    if count_tokens(text[low:]) <= max_tokens:
        return low
    while low < high:
        middle = (low + high) // 2
        if count_tokens(text[middle:]) <= max_tokens:
            high = middle
        else:
            low = middle + 1
    space = text.find(" ", low, low + 40)
    return space + 1 if space != -1 else low
