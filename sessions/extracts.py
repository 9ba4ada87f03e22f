"""Summaries without a model: the most telling sentences of numbered items, each bullet with the numbers it covers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import sqrt

ITEMS_A_BULLET = 3
MOST_BULLETS = 40
MOST_WORDS = 40
"""Words in a bullet."""

_ITEM = re.compile(r"^\[([0-9]{1,6})\] ?", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_TELLING = re.compile(r"\d|[A-Z]\w*[A-Z]|\w[_/.@-]\w|[`\"“«]")
_OPEN_LETTERS = re.compile(r"[^\W\d_]")


def extract_bullets(prompt: str) -> str:
    """Bullets for the numbered items of a prompt, one a line: ``- text [1, 3]``. Empty when it holds no items.

    An item begins a line with ``[n] ``, counted from 1; its other lines are indented. The same prompt gives the same
    bullets, and every item is in exactly one.
    """
    items = numbered_items(prompt)
    size = max(ITEMS_A_BULLET, -(-len(items) // MOST_BULLETS))
    groups = [range(at, min(at + size, len(items))) for at in range(0, len(items), size)]
    return "\n".join(_bullet([items[at] for at in group], [at + 1 for at in group]) for group in groups)


def numbered_items(prompt: str) -> list[str]:
    """The texts of the items ``[1]``, ``[2]``, ... of a prompt, without their numbers."""
    marks: list[re.Match[str]] = []
    for mark in _ITEM.finditer(prompt):
        if int(mark.group(1)) == len(marks) + 1:
            marks.append(mark)
    starts = [mark.start() for mark in marks] + [len(prompt)]
    return [prompt[mark.end() : end].strip() for mark, end in zip(marks, starts[1:], strict=True)]


def _bullet(texts: Sequence[str], numbers: Sequence[int]) -> str:
    words = max(6, MOST_WORDS // len(texts))
    gist = "; ".join(_telling_sentence(text, words) for text in texts)
    return f"- {gist} [{', '.join(map(str, numbers))}]"


def _telling_sentence(text: str, most_words: int) -> str:
    """The sentence that holds most names, numbers and paths; the first of equals."""
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if _OPEN_LETTERS.search(sentence)]
    best = max(sentences, key=_weight, default=text.strip())
    words = best.split()
    short = " ".join(words[:most_words]) + ("…" if len(words) > most_words else "")
    short = short if len(short) <= most_words * 12 else short[: most_words * 12] + "…"
    # A bracket at the end of a bullet would be read as a citation.
    return short.replace("[", "(").replace("]", ")").rstrip(" .;,:")


def _weight(sentence: str) -> float:
    words = sentence.split()
    if len(words) < 3:
        return float(len(_TELLING.findall(sentence)))
    return 1.0 + len(_TELLING.findall(sentence)) / sqrt(len(words))
