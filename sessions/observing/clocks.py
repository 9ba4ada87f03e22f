"""When a worker is due: by the text that has come since it last did its work, never by the time of day."""

from __future__ import annotations

from dataclasses import dataclass

MOST_STEPS = 8
"""Thresholds of new text after which a worker that keeps failing is tried again at the latest."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """How far something is from being due, in tokens."""

    tokens: int
    threshold: int

    @property
    def due(self) -> bool:
        return self.tokens >= self.threshold

    @property
    def left(self) -> int:
        """Tokens until it is due."""
        return max(0, self.threshold - self.tokens)


class BackOff:
    """Keeps a worker from doing at once again what has just come to nothing.

    It holds for as long as the worker's watermark stays where it was and not enough text has come: one threshold after
    a run that found nothing; after a failure one threshold, then two, four and so on.
    """

    def __init__(self) -> None:
        self._mark: int | None = None
        self._until = 0
        self._failures = 0
        self._empty = 0

    @property
    def empty_runs(self) -> int:
        """Runs in a row that found nothing at this watermark."""
        return self._empty

    def holds(self, mark: int, tokens: int) -> bool:
        """Whether the worker waits, with its watermark at ``mark`` and ``tokens`` of text since."""
        return self._mark == mark and tokens < self._until

    def found_nothing(self, mark: int, gauge: Gauge) -> None:
        self._empty = self._empty + 1 if self._mark == mark else 1
        self._failures = 0
        self._mark = mark
        self._until = gauge.tokens + gauge.threshold

    def failed(self, mark: int, gauge: Gauge) -> None:
        self._failures += 1
        self._mark = mark
        self._until = gauge.tokens + gauge.threshold * min(MOST_STEPS, 2 ** (self._failures - 1))

    def clear(self) -> None:
        """The worker has done its work, or another model is to do it."""
        self._mark = None
        self._failures = 0
        self._empty = 0
