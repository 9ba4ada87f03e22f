"""Conversations for tests, the same every time."""

from __future__ import annotations

from collections.abc import Iterator

from memory.values import NewEvent

START_DAY = "2026-03-02T09"


def turns(count: int, *, first: int = 0) -> Iterator[NewEvent]:
    """``count`` questions with their answers."""
    for number in range(first, first + count):
        yield said(number, f"Question {number}: please keep port {4000 + number} free for service {number}.")
        yield answered(number, f"Answer {number}: I moved service {number} and ran all {number + 3} of its tests.")


def said(number: int, text: str) -> NewEvent:
    return NewEvent(text=text, role="user", source="person", id=f"q{number}", t_event=_time(number, 0))


def answered(number: int, text: str) -> NewEvent:
    return NewEvent(text=text, role="assistant", source="model", id=f"a{number}", t_event=_time(number, 30))


def _time(number: int, second: int) -> str:
    return f"2026-03-{2 + number // 1440:02d}T{number // 60 % 24:02d}:{number % 60:02d}:{second:02d}+00:00"
