"""What recall may return: chunks that have left the raw view, in the order in which they were said.

Tool output is searched by itself and never among what people said (seed 000, "The context tier").
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import TYPE_CHECKING

from memory.candidate_columns import Candidates as Candidates
from memory.columns import Columns, EventColumns
from memory.pending_rows import load_spans
from memory.store import MemoryStore
from memory.tool_events import RECALL_TOOLS, TOOL_KIND
from memory.values import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Standing = dict[int, tuple[Span, ...] | None]
"""What the view shows of events that stand raw in it: all (None) or these pieces."""


def behind_bullets(store: MemoryStore, kind: str, left_out: Collection[int] = ()) -> Candidates:
    """Every chunk behind a live bullet, and what only an excerpt or nothing at all stands for in the view; no tool's.

    Args:
        left_out: ``seq`` of raw events that the view has no room for right now (``View.left_out``).
    """
    without = frozenset(left_out)

    def choose(db: sqlite3.Connection, columns: Columns) -> NDArray[np.bool_]:
        import numpy as np

        standing = {seq: spans for seq, spans in _standing(db, kind).items() if seq not in without}
        in_part = [seq for seq, spans in standing.items() if spans is not None]
        members = np.concatenate([columns.behind_bullets(db, kind), np.array([*in_part, *without], np.int64)])
        members = np.setdiff1d(members, columns.events.seqs[columns.events.of_kind(TOOL_KIND)])
        return np.isin(columns.chunks.seqs, members) & ~_shown(columns, standing)

    with store.reading() as db:
        return store.columns.candidates(db, ("behind bullets", kind, without), choose)


def of_event_kind(
    store: MemoryStore, event_kind: str, exclude: Collection[int] = (), left_out: Collection[int] = ()
) -> Candidates:
    """Every chunk of events of this kind that do not stand raw in any view, but for what was recalled from memory.

    Args:
        exclude: ``seq`` of events that stand word for word elsewhere, such as in a running turn.
        left_out: ``seq`` of events that do not, whatever the tiers say.
    """
    seen, unseen = frozenset(exclude), frozenset(left_out)

    def choose(db: sqlite3.Connection, columns: Columns) -> NDArray[np.bool_]:
        import numpy as np

        members = columns.events.seqs[columns.events.of_kind(event_kind) & ~_recalled(columns.events)]
        standing = {seq: spans for seq, spans in _standing(db, None).items() if seq not in unseen}
        standing |= dict.fromkeys(seen)
        return np.isin(columns.chunks.seqs, members) & ~_shown(columns, standing)

    with store.reading() as db:
        return store.columns.candidates(db, ("of event kind", event_kind, seen, unseen), choose)


def _recalled(events: EventColumns) -> NDArray[np.bool_]:
    """Whether each is a tool's that only repeats what memory holds."""
    import numpy as np

    names = [place for place, name in enumerate(events.names) if name in RECALL_TOOLS]
    return events.of_kind(TOOL_KIND) & np.isin(events.speakers, names)


def _standing(db: sqlite3.Connection, kind: str | None) -> _Standing:
    rows = db.execute("SELECT seq, spans FROM pending WHERE ?1 IS NULL OR kind = ?1", (kind,))
    return {seq: load_spans(spans) for seq, spans in rows}


def _shown(columns: Columns, standing: _Standing) -> NDArray[np.bool_]:
    """Whether the view shows each chunk: its event stands raw, or a piece of it that holds the whole chunk."""
    import numpy as np

    chunks = columns.chunks
    shown = np.isin(chunks.seqs, np.array([seq for seq, spans in standing.items() if spans is None], np.int64))
    for seq, spans in standing.items():
        if spans is not None:
            first, last = np.searchsorted(chunks.seqs, (seq, seq + 1))
            for place in range(first, last):
                start, end = chunks.starts[place], chunks.ends[place]
                shown[place] = any(begin <= start and end <= stop for begin, stop in spans)
    return shown
