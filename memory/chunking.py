"""Cutting a text into chunks, the units of search."""

from __future__ import annotations

import re
import unicodedata

from memory.tokens import count_tokens, prefix_length

CHUNK_TOKENS = 160
"""Most tokens in a chunk."""

# No chunk is longer than this many characters per allowed token, so that the work per chunk is bounded.
_CHARACTERS_A_TOKEN = 6
# A better kind of cut is taken if it leaves at least this share of what would fit.
_LEAST_FILL = 0.5

_PARAGRAPH_END = re.compile(r"\n(?:[ \t\r]*\n)+")
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+|[。！？；｡]+[」』”’）]*|[؟۔।]+\s*")
_WORD_END = re.compile(r"\s+")
_JOINERS = "\u200d\ufe0e\ufe0f"


def split(text: str, max_tokens: int = CHUNK_TOKENS) -> list[tuple[int, int, int]]:
    """Cut ``text`` into pieces of at most ``max_tokens`` tokens; return ``(start, end, tokens)`` for each.

    The pieces joined in order are the text. Cuts fall at the end of a paragraph, else of a line, a sentence
    or a word; a word that is longer than a piece is cut where the piece is full. A single character that
    costs more than ``max_tokens`` is a piece of its own. The same text is always cut the same way, in linear
    time.
    """
    if max_tokens < 1:
        raise ValueError("max_tokens must be at least 1")
    pieces = []
    start = 0
    while start < len(text):
        end = start + _next_cut(text[start : start + max_tokens * _CHARACTERS_A_TOKEN], max_tokens, text, start)
        pieces.append((start, end, count_tokens(text[start:end])))
        start = end
    return pieces


def _next_cut(window: str, max_tokens: int, text: str, start: int) -> int:
    fits = max(1, prefix_length(window, max_tokens))
    if start + fits == len(text):
        return fits
    cut = _best_end(window[:fits]) or _between_graphemes(text, start, fits)
    # Fewer characters can cost more tokens where the cut falls inside a run that was one token.
    while cut > 1 and count_tokens(window[:cut]) > max_tokens:
        cut -= 1
    return cut


def _best_end(window: str) -> int:
    least = int(len(window) * _LEAST_FILL)
    for pattern in (_PARAGRAPH_END, _LINE_END, _SENTENCE_END):
        end = _last_end(pattern, window)
        if end > least:
            return end
    return _last_end(_WORD_END, window)


def _last_end(pattern: re.Pattern[str], window: str) -> int:
    end = 0
    for match in pattern.finditer(window):
        end = match.end()
    return end


def _between_graphemes(text: str, start: int, length: int) -> int:
    """Move a hard cut back, a little, so that it does not part a letter from its marks."""
    for shorter in range(length, max(1, length - 8), -1):
        following = text[start + shorter]
        previous = text[start + shorter - 1]
        if not (unicodedata.combining(following) or following in _JOINERS or previous == "\u200d"):
            return shorter
    return length
