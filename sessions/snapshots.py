"""Reading a tape as it is at one moment, while its session goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memory.store import MemoryStore


@contextmanager
def reading_at_once(store: MemoryStore) -> Iterator[None]:
    """All that this thread reads from ``store`` inside is of one moment; writers go on meanwhile."""
    with store.reading() as db:
        db.execute("BEGIN")
        try:
            yield
        finally:
            db.execute("ROLLBACK")
