"""Lists of whole numbers as ranges: ``[1, 2, 3, 7]`` is ``[[1, 3], [7, 7]]``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def pack(numbers: Iterable[int]) -> list[list[int]]:
    """Sorted, without repeats, as inclusive ranges."""
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def unpack(ranges: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """The numbers again, in order."""
    return tuple(number for first, last in ranges for number in range(first, last + 1))
