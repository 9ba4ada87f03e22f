"""Summarisers that need no model, for the evaluation of recall: what a real one may do with its citations.

Each answers the prompt of ``memory/compaction.py``. Their words are worth nothing on purpose: what is measured is
whether the exact words behind the bullets can be found (seed 000, "Finding: uncited items were silently
unreachable").
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memory.compaction import Summarize

CANNED = "cites every item"
SUMMARIZERS = (CANNED, "cites ~70% of items", "cites none")
"""By how much they cite; the first is the one that takes a model's place offline."""

ITEMS_A_BULLET = 6

_NUMBER = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def summarizer(name: str) -> Summarize:
    """One of ``SUMMARIZERS``. The same prompt always has the same answer."""
    return _BY_NAME[name]


def cites_every_item(prompt: str) -> str:
    """A bullet for every few neighbours."""
    numbers = _numbers(prompt)
    starts = range(0, len(numbers), ITEMS_A_BULLET)
    return "\n".join(_bullet(numbers[start : start + ITEMS_A_BULLET]) for start in starts)


def cites_most_items(prompt: str) -> str:
    """Seven of ten: the third, the sixth and the ninth of ten are left out."""
    numbers = [number for number in _numbers(prompt) if number % 10 not in (3, 6, 9)]
    starts = range(0, len(numbers), ITEMS_A_BULLET)
    return "\n".join(_bullet(numbers[start : start + ITEMS_A_BULLET]) for start in starts)


def cites_none(prompt: str) -> str:
    """Bullets as they should be, without a single number."""
    return "\n".join("- Some things were said." for _ in _numbers(prompt)[::ITEMS_A_BULLET])


_BY_NAME: Mapping[str, Summarize] = dict(
    zip(SUMMARIZERS, (cites_every_item, cites_most_items, cites_none), strict=True)
)


def _numbers(prompt: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(prompt.partition("\nItems:\n")[2])]


def _bullet(numbers: list[int]) -> str:
    return f"- Things were said. [{', '.join(map(str, numbers))}]"
