"""All that a tape file holds, as one value to compare."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from tests.kill.workload import Step, open_queue, open_store

TABLES = ("events", "ledger", "drafts", "meta", "chunks", "vectors", "pending", "bullets", "bullet_refs")

State = str
"""A digest of every row of every table."""


def state_of(db: sqlite3.Connection) -> State:
    digest = hashlib.sha256()
    for table in TABLES:
        digest.update(table.encode())
        for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3" if table != "meta" else "SELECT * FROM meta"):
            digest.update(repr(tuple(row)).encode())
    digest.update(repr([tuple(row) for row in db.execute("SELECT id FROM chunks_fts_docsize ORDER BY id")]).encode())
    return digest.hexdigest()


class UnkilledRun:
    """The states that a run which nobody kills goes through: one after every transaction."""

    def __init__(self, path: Path, steps: Sequence[Step]) -> None:
        self.states: list[State] = []
        self.after: list[int] = []
        """For each step, the place in ``states`` of the state that it ends with."""
        with open_store(path) as store:
            # The trace runs before the statement, and a reader sees what is committed: each commit adds what was
            # there before it.
            watcher = store.reader()
            store._connections.writer.set_trace_callback(
                lambda sql: self.states.append(state_of(watcher)) if sql == "COMMIT" else None
            )
            queue = open_queue(store)
            self.opened = len(self.states)
            for step in steps:
                step.do(queue)
                self.after.append(len(self.states))
            store._connections.writer.set_trace_callback(None)
            self.states.append(state_of(watcher))
            self.generations = queue.generation

    def between(self, done: int) -> set[State]:
        """The states that a run may be in that was killed after ``done`` steps were acknowledged."""
        first = self.after[done - 1] if done else 0
        last = self.after[done] if done < len(self.after) else len(self.states) - 1
        return set(self.states[first : last + 1])
