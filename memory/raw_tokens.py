"""How much has been said since some event, in tokens, without counting any text again."""

from __future__ import annotations

from memory.store import MemoryStore
from memory.values import MAIN_THREAD


def raw_tokens(store: MemoryStore, after: int, thread: str = MAIN_THREAD) -> int:
    """Tokens of the events after ``seq`` ``after`` that stand in tiers, as their chunks were counted.

    Raises:
        StoreDamaged, StoreUnavailable: the file cannot be read.
    """
    with store.reading() as db:
        row = db.execute(
            "SELECT coalesce(sum(chunks.tokens), 0) FROM chunks JOIN events USING (seq)"
            " WHERE chunks.seq > ? AND events.thread = ?",
            (after, thread),
        ).fetchone()
    return int(row[0])
