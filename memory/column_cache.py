"""What recall has read of one open store, kept between recalls and never older than the file.

SQLite tells each connection whether another has committed since it last looked (``PRAGMA data_version``), another
process's included. Where none has, what is kept is what the file holds; where one has, what may have changed is read
again, and what is found to be the same stays the same object.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidate_columns import Candidates, chosen
from memory.columns import Columns, read
from memory.connections import one_moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Choose = Callable[[sqlite3.Connection, Columns], NDArray[np.bool_]]
    """Which chunks are candidates, as the connection sees the store."""

MOST_KEPT = 4
"""Sets of candidates: the conversation's, and what other namespaces and kinds of event were asked for lately."""

MOST_SEEN = 64


_Version = tuple[int, int]
"""Means something to its own connection only."""


@dataclass(frozen=True, slots=True)
class _Kept:
    candidates: Candidates
    columns: Columns
    mask: NDArray[np.bool_]
    seen: dict[sqlite3.Connection, _Version]
    """The version of the file at which each connection found this to be so."""


class ColumnCache:
    """The columns of one open store and candidates among them. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._columns: Columns | None = None
        self._kept: dict[Hashable, _Kept] = {}

    def candidates(self, db: sqlite3.Connection, key: Hashable, choose: Choose) -> Candidates:
        """What ``choose`` chooses now; ``key`` stands for all that it goes by but the store.

        Inside a transaction nothing is kept, since what it sees may never be committed.
        """
        if db.in_transaction:
            columns = read(db)
            return chosen(columns, choose(db, columns))
        with self._lock, one_moment(db):
            version = _version(db)
            kept = self._kept.pop(key, None)
            if kept is None or kept.seen.get(db) != version:
                self._columns = read(db, self._columns)
                kept = _same_or_new(kept, self._columns, choose(db, self._columns))
                kept.seen[db] = version
            self._kept[key] = kept
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            return kept.candidates


def _same_or_new(kept: _Kept | None, columns: Columns, mask: NDArray[np.bool_]) -> _Kept:
    if kept is not None and len(kept.seen) < MOST_SEEN and _same(kept, columns, mask):
        return _Kept(kept.candidates, columns, mask, kept.seen)
    return _Kept(chosen(columns, mask), columns, mask, {})


def _same(kept: _Kept, columns: Columns, mask: NDArray[np.bool_]) -> bool:
    """Whether the chunks chosen now are those chosen before, from columns that have grown at their end at most."""
    import numpy as np

    before = len(kept.mask)
    if not columns.chunks.goes_on(kept.columns.chunks):
        return False
    return bool(np.array_equal(kept.mask, mask[:before]) and not mask[before:].any())


def _version(db: sqlite3.Connection) -> _Version:
    """Another when anything has been committed since, by another connection or by this one."""
    return db.execute("PRAGMA data_version").fetchone()[0], db.total_changes
