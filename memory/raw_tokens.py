"""How much has been said since some event, in tokens, without counting any text again."""

from __future__ import annotations

from memory.json_text import dump
from memory.store import MemoryStore
from memory.tool_events import HELD_TOKENS, RECALL_TOOLS
from memory.values import MAIN_THREAD


def raw_tokens(store: MemoryStore, after: int, thread: str = MAIN_THREAD) -> int:
    """Tokens of the events after ``seq`` ``after`` that stand in tiers, as their chunks were counted.

    A model's tool event counts as the line that it stands as, and what tools recalled from memory not at all.

    Raises:
        StoreDamaged, StoreUnavailable: the file cannot be read.
    """
    with store.reading() as db:
        row = db.execute(
            "SELECT coalesce(sum(iif(called, min(tokens, ?4), tokens)), 0) FROM ("
            # What stands behind a long text is slow to reach, so only a tool's meta is read.
            "SELECT CASE WHEN events.kind = 'tool' THEN json_type(events.meta, '$.call') = 'text' END AS called,"
            " sum(chunks.tokens) AS tokens FROM chunks JOIN events USING (seq)"
            " WHERE chunks.seq > ?1 AND events.thread = ?2"
            " AND NOT (events.kind = 'tool' AND events.source IN (SELECT value FROM json_each(?3)))"
            " GROUP BY events.seq)",
            (after, thread, dump(RECALL_TOOLS), HELD_TOKENS),
        ).fetchone()
    return int(row[0])
