"""A reply while it is still coming, kept on disk so that a kill loses at most the last half second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

SAVE_EVERY = 0.5
"""Seconds between two savings of a reply that is streaming."""


class ReplyInProgress:
    """Collects a reply's text and hands all of it to ``save`` now and then, also when the stream pauses.

    ``end`` must be called when the reply is kept elsewhere: nothing is saved after it.
    """

    def __init__(self, save: Callable[[str], None]) -> None:
        self._save = save
        self._pieces: list[str] = []
        self._saved = 0
        self._pause: asyncio.TimerHandle | None = None

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Take more of the reply, on the event loop."""
        self._pieces.append(piece)
        if self._pause is None:
            self._save_now()

    def end(self) -> None:
        """The reply needs no draft any more."""
        if self._pause is not None:
            self._pause.cancel()

    def _save_now(self) -> None:
        self._saved = len(self._pieces)
        self._save(self.text)
        self._pause = asyncio.get_running_loop().call_later(SAVE_EVERY, self._pause_over)

    def _pause_over(self) -> None:
        self._pause = None
        if len(self._pieces) > self._saved:
            self._save_now()
