"""The most of one tool's output that is kept: its two ends, with a line between them that says so."""

from __future__ import annotations

SLACK = 1_000
"""Bytes over the cap that are let through: a tool that keeps to it by itself adds a line of its own."""


def capped(text: str, cap: int) -> str:
    """``text`` where it has at most some ``cap`` bytes as UTF-8; else its two ends. Cuts no character in two."""
    if len(text) * 4 <= cap:
        return text
    data = text.encode("utf-8", "replace")
    if len(data) <= cap + SLACK:
        return text
    head = data[: cap - cap // 2].decode("utf-8", "ignore")
    tail = data[len(data) - cap // 2 :].decode("utf-8", "ignore")
    left_out = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[{left_out:,} bytes in the middle are left out here: the output has {len(data):,}]\n{tail}"
