"""Sessions of any length, made without a model: what the other benchmarks open."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory.bench_conversation import conversation
from memory.budgets import X_BUDGET, Y_BUDGET
from memory.gist import gist
from memory.queue import TieredQueue
from memory.store import MemoryStore
from sessions import tapes
from sessions.index import SessionIndex
from sessions.rows import SessionRow

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def make_session(home: Path, turns: int) -> str:
    """A session of ``turns`` turns under ``home``, compacted as it would have been; its id."""
    id = f"bench-{turns}"
    path = tapes.tape_path(home, id)
    path.parent.mkdir(parents=True, exist_ok=True)
    row = SessionRow(id=id, title=f"{turns} turns", workspace=str(home), created=START.isoformat(), turns=turns)
    with MemoryStore(path, now=lambda: START) as store:
        # One transaction: as many commits as there are events would be most of the time.
        with store.transaction():
            queue = TieredQueue(store, summarize=gist, x_budget=X_BUDGET, y_budget=Y_BUDGET)
            for event in conversation(turns):
                queue.append(event)
            tapes.write_facts(store, row)
        summary = tapes.summary_of(store, id)
    assert summary is not None
    SessionIndex(home).record(summary.row)
    return id
