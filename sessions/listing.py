"""What is told of one session: its row in the list of sessions, and the same facts on its own tape."""

from __future__ import annotations

from dataclasses import replace

from memory.store import MemoryStore
from memory.text import storable
from sessions import tapes
from sessions.ids import title_of
from sessions.index import SessionIndex
from sessions.rows import SessionRow, moment

NEW_TITLE = "New session"
"""Stands in the place of a title until something has been said."""


class Listing:
    """The row of one open session. Methods touch the disk: call them off the event loop."""

    def __init__(self, index: SessionIndex, row: SessionRow) -> None:
        """``row`` without a title belongs to a session in which nothing has been said."""
        self._index = index
        self.row = row

    @property
    def title(self) -> str:
        return self.row.title or NEW_TITLE

    def begin(self, store: MemoryStore, first_words: str) -> None:
        """Let a tape that does not know it yet what session it is. A title is made of the first words.

        Raises:
            StoreUnavailable: it cannot be written.
        """
        if store.get_meta(tapes.TITLE) is not None:
            return
        self.row = replace(self.row, title=self.row.title or title_of(storable(first_words)))
        tapes.write_facts(store, self.row)

    def record(self, *, turns: int, updated: str) -> None:
        """Put a finished turn into the index. With a clock that goes backwards a session is as old as it was.

        Raises:
            StoreUnavailable, StoreTooNew: the index cannot be written.
        """
        created = self.row.created or updated
        self.row = replace(self.row, created=created, updated=max(created, updated, key=moment), turns=turns)
        self._index.record(self.row)

    def call(self, title: str) -> None:
        """Give the session a title. On the disk it stands with the first words."""
        self.row = replace(self.row, title=title)

    def rename(self, store: MemoryStore | None, title: str) -> None:
        """Give the session another title, in the list and on ``store``: None where another process writes it.

        A session that is not in the list yet gets there with its next finished turn.

        Raises:
            StoreUnavailable, StoreTooNew: it cannot be written.
        """
        if store is not None:
            store.set_meta(tapes.TITLE, title)
        self._index.rename(self.row.id, title)
        self.call(title)
