"""Sizes and counts as a person reads them."""

from __future__ import annotations


def size_text(size: int) -> str:
    """``812 bytes``, ``8.1 KB``, ``2.0 GB``; one KB is 1,000 bytes."""
    if size < 1_000:
        return counted(size, "byte")
    value = size / 1_000
    for unit in ("KB", "MB", "GB"):
        # What would round up to 1,000 is one of the next unit.
        if value < 999.95:
            return f"{value:.1f} {unit}"
        value /= 1_000
    return f"{value:,.1f} TB"


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """``1 line``, ``1,203 lines``."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
