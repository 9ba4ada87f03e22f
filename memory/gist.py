"""A summariser that needs no model: what the demo and the compaction evaluation put in a model's place.

It answers the prompt of ``memory/compaction.py`` as a model would, and loses what a model would lose. It keeps, of each
run of neighbouring items, the one or two sentences with the rarest words and the most particulars (numbers, names,
paths), cut to the length that the prompt asks for, and it cites every item. It drops all other sentences, all code and
logs but their first line, and the ends of long sentences. It does not know who is speaking: a demand counts for no
more than any other sentence of the same words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

BULLET_WORDS = 40
"""What the prompt allows a bullet."""

SENTENCES = 2
"""The most that a bullet takes over."""

SENTENCE_WORDS = 22
"""The most of one sentence that is kept."""

_ITEM = re.compile(r"^\[(\d+)\] (.*(?:\n  .*)*)", re.MULTILINE)
_MOST = re.compile(r"At most (\d+) bullets")
_HEADING = re.compile(r"^[^\n:]{1,40}, \d{4}-\d\d-\d\d \d\d:\d\d: ")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"\w[\w.'/:-]*\w|\w")
_PARTICULAR = re.compile(r"\d|[/_]|(?<=\s)[A-Z]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    place: int
    words: frozenset[str]


def gist(prompt: str) -> str:
    """Numbered, cited bullets for a compaction's prompt. The same prompt always has the same answer."""
    items = [(int(number), _sentences(text)) for number, text in _ITEM.findall(_after_heading(prompt))]
    if not items:
        return ""
    seen_in = Counter(word for _, sentences in items for sentence in sentences for word in sentence.words)
    most = _MOST.search(prompt)
    runs = _runs(items, int(most[1]) if most else max(1, len(items) // 3))
    return "\n".join(_bullet(run, seen_in) for run in runs)


def _after_heading(prompt: str) -> str:
    return prompt.partition("\nItems:\n")[2]


def _sentences(item: str) -> list[_Sentence]:
    text = _HEADING.sub("", "\n".join(line.strip() for line in item.splitlines()))
    pieces = [piece.strip(" -*|`#") for piece in _SENTENCE_END.split(_without_code(text))]
    return [
        _Sentence(piece, place, frozenset(word.lower() for word in _WORD.findall(piece)))
        for place, piece in enumerate(pieces)
        if _WORD.search(piece)
    ]


def _without_code(text: str) -> str:
    """Fenced blocks shrink to their first line."""
    return re.sub(r"```\w*\n([^\n]*)\n.*?(?:```|\Z)", r"\1\n", text, flags=re.DOTALL)


def _runs(items: Sequence[tuple[int, list[_Sentence]]], most: int) -> Iterator[Sequence[tuple[int, list[_Sentence]]]]:
    """At most ``most`` runs of neighbours, as even as they come."""
    size = math.ceil(len(items) / max(1, most))
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _bullet(run: Sequence[tuple[int, list[_Sentence]]], seen_in: Counter[str]) -> str:
    sentences = [(number, sentence) for number, found in run for sentence in found]
    ranked = sorted(sentences, key=lambda pair: (-_weight(pair[1], seen_in), pair[0], pair[1].place))
    kept: list[tuple[int, int, str]] = []
    left = BULLET_WORDS
    for number, sentence in ranked[:SENTENCES]:
        words = sentence.text.split()[: min(SENTENCE_WORDS, left)]
        kept.append((number, sentence.place, " ".join(words)))
        left -= len(words)
    said = "; ".join(text.rstrip(".;,:") for _, _, text in sorted(kept)) or "small talk"
    numbers = ", ".join(str(number) for number, _ in run)
    return f"- {said} [{numbers}]"


def _weight(sentence: _Sentence, seen_in: Counter[str]) -> float:
    """Rare words and particulars weigh; length is damped, so that a long sentence is not kept for being long."""
    # Words come in another order in each process; an exact sum does not depend on it.
    rarity = math.fsum(1 / seen_in[word] for word in sentence.words)
    particulars = min(4, len(_PARTICULAR.findall(sentence.text)))
    return (rarity + particulars) / math.sqrt(len(sentence.words) + 4)
