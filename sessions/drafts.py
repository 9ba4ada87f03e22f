"""A reply while it is still coming, kept on disk so that a kill loses at most the last half second."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

SAVE_EVERY = 0.5
"""Seconds between two savings of a reply that is streaming."""


class ReplyInProgress:
    """Collects a reply's text and hands it to ``save`` now and then. Time costs nothing between savings."""

    def __init__(self, save: Callable[[str], None]) -> None:
        self._save = save
        self._pieces: list[str] = []
        self._saved_at = float("-inf")

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        now = monotonic()
        if now - self._saved_at >= SAVE_EVERY:
            self._saved_at = now
            self._save(self.text)
