"""What recall reads of a store, as columns in memory: every chunk, and every event that chunks belong to.

Both only grow at their end while a store is open, so that a recall reads what is new. Chunks are made anew by a
rebuild alone, which ``chunk_rows`` counts; ``bullet_rows`` counts how often bullets change.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory import bullet_rows, chunk_rows
from memory.values import speaker_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 10_000
"""Rows turned into columns at a time: as tuples they take ten times the room."""

_CHUNK_TYPES = ("int64", "int64", "int64", "int64", "int64", "object")
_EVENT_TYPES = ("int64", "int32", "int32", "int32", "float64", "int32")

_LABEL = re.compile(r"\s*([^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}) ?:\s")
_MOST_LABEL = 40
"""Characters at the beginning of a text among which its label is looked for."""

NO_DAY = 0
"""The day of an event whose time cannot be read."""


@dataclass(frozen=True, slots=True)
class ChunkColumns:
    """All chunks of a store in the order in which they were said."""

    remade: int
    """How often chunks had been made anew; columns of another count say nothing about these."""
    line: object
    """The same for columns that have only grown at their end."""
    rows: NDArray[np.int64]
    seqs: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    tokens: NDArray[np.int64]
    hashes: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.rows)

    def goes_on(self, earlier: ChunkColumns) -> bool:
        """Whether the earlier columns are the beginning of these."""
        return self.line is earlier.line and len(self) >= len(earlier)

    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.rows, self.seqs, self.starts, self.ends, self.tokens, self.hashes


@dataclass(frozen=True, slots=True)
class EventColumns:
    """All events of a store by ``seq``."""

    names: tuple[str, ...]
    seqs: NDArray[np.int64]
    kinds: NDArray[np.int32]
    """Places in ``names``."""
    speakers: NDArray[np.int32]
    """Places in ``names``."""
    labels: NDArray[np.int32]
    """Places in ``names`` of what a text calls its speaker, as in ``Ada: Good morning.``; -1 where it does not."""
    said_at: NDArray[np.float64]
    """Seconds since 1970 in UTC; NaN where the time cannot be read."""
    days: NDArray[np.int32]
    """The date on the speaker's own calendar, as ``date.toordinal`` counts; ``NO_DAY`` where it cannot be read."""

    def __len__(self) -> int:
        return len(self.seqs)

    def places_of(self, seqs: NDArray[np.int64]) -> NDArray[np.intp]:
        """Where these events stand, all of which are here."""
        import numpy as np

        return np.searchsorted(self.seqs, seqs)

    def of_kind(self, kind: str) -> NDArray[np.bool_]:
        """Whether each is of this kind."""
        chosen: NDArray[np.bool_] = self.kinds == (self.names.index(kind) if kind in self.names else -1)
        return chosen

    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.seqs, self.kinds, self.speakers, self.labels, self.said_at, self.days


@dataclass(frozen=True, slots=True)
class Columns:
    chunks: ChunkColumns
    events: EventColumns
    replaced: int
    """How often bullets had been written or removed; what stands behind them is known for this count only."""
    _behind: dict[str, NDArray[np.int64]]

    def behind_bullets(self, db: sqlite3.Connection, kind: str) -> NDArray[np.int64]:
        """Events behind the live bullets of a queue, in any order; ``db`` sees what these columns were read from."""
        if kind not in self._behind:
            query = "SELECT group_concat(seq) FROM bullet_refs WHERE kind = ?"
            self._behind[kind] = read_numbers(db, query, (kind,))
        return self._behind[kind]


def read(db: sqlite3.Connection, known: Columns | None = None) -> Columns:
    """The columns as this connection sees them; of ``known`` only what is missing is read."""
    replaced = bullet_rows.replaced(db)
    if known is None:
        return Columns(_read_chunks(db, None), _read_events(db, None), replaced, {})
    behind = known._behind if known.replaced == replaced else {}
    return Columns(_read_chunks(db, known.chunks), _read_events(db, known.events), replaced, behind)


def read_numbers(db: sqlite3.Connection, query: str, values: Sequence[Any]) -> NDArray[np.int64]:
    """A column of whole numbers; ``query`` selects it as one text, by ``group_concat``.

    One text for all is several times as fast as a row for each.
    """
    import numpy as np

    text = db.execute(query, values).fetchone()[0]
    return np.fromstring(str(text), np.int64, sep=",") if text is not None else np.empty(0, np.int64)


def _read_chunks(db: sqlite3.Connection, known: ChunkColumns | None) -> ChunkColumns:
    import numpy as np

    remade = chunk_rows.remade(db)
    count, newest = db.execute(
        # Each by itself is looked up; together they would be a walk over every row.
        "SELECT (SELECT count(*) FROM chunks), (SELECT coalesce(max(rowid), 0) FROM chunks)"
    ).fetchone()
    if known is not None and known.remade != remade:
        known = None
    last = 0 if known is None else int(known.rows.max(initial=0))
    if known is not None and (len(known), last) == (count, newest):
        return known
    batches = _batches(
        db, "SELECT rowid, seq, start, end, tokens, hash FROM chunks WHERE rowid > ? ORDER BY rowid", (last,)
    )
    parts = [_arrays(zip(*batch, strict=True), _CHUNK_TYPES) for batch in batches]
    columns = _joined([_arrays(((),) * 6, _CHUNK_TYPES) if known is None else known.columns(), *parts])
    if known is not None and len(columns[0]) != count:
        # Chunks are gone that were known.
        return _read_chunks(db, None)
    line = object() if known is None else known.line
    if not _in_order(columns[1], columns[2]):
        order, line = np.lexsort((columns[2], columns[1])), object()
        columns = tuple(column[order] for column in columns)
    return ChunkColumns(remade, line, *columns)


def _in_order(seqs: NDArray[np.int64], starts: NDArray[np.int64]) -> bool:
    later = (seqs[1:] > seqs[:-1]) | ((seqs[1:] == seqs[:-1]) & (starts[1:] > starts[:-1]))
    return bool(later.all())


def _read_events(db: sqlite3.Connection, known: EventColumns | None) -> EventColumns:
    last = 0 if known is None else int(known.seqs.max(initial=0))
    newest = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
    if known is not None and last == newest:
        return known
    if known is None or newest < last:
        none = _arrays(((),) * 6, _EVENT_TYPES)
        known, last = EventColumns((), *none), 0
    names = {name: place for place, name in enumerate(known.names)}
    parts = [known.columns()]
    for batch in _batches(
        db,
        f"SELECT seq, kind, role, source, substr(text, 1, {_MOST_LABEL}), t_event FROM events"
        " WHERE seq > ? ORDER BY seq",
        (last,),
    ):
        seqs, kinds, roles, sources, beginnings, times = zip(*batch, strict=True)
        speakers = map(speaker_of, roles, sources)
        labels = [-1 if label is None else names.setdefault(label, len(names)) for label in map(_label, beginnings)]
        moments = zip(*map(_moment, times), strict=True)
        columns = (seqs, _numbered(kinds, names), _numbered(speakers, names), labels, *moments)
        parts.append(_arrays(columns, _EVENT_TYPES))
    return EventColumns(tuple(names), *_joined(parts))


def _arrays(columns: Iterable[Sequence[Any]], types: Sequence[str]) -> tuple[NDArray[Any], ...]:
    import numpy as np

    return tuple(np.array(column, kind) for column, kind in zip(columns, types, strict=True))


def _joined(parts: Sequence[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    import numpy as np

    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _label(beginning: str) -> str | None:
    match = _LABEL.match(beginning)
    return match[1] if match else None


def _numbered(words: Iterable[str], names: dict[str, int]) -> list[int]:
    return [names.setdefault(word, len(names)) for word in words]


def _moment(time: str) -> tuple[float, int]:
    try:
        moment = datetime.fromisoformat(time)
        return moment.timestamp(), moment.toordinal()
    except (TypeError, ValueError, OverflowError):
        return float("nan"), NO_DAY


def _batches(db: sqlite3.Connection, query: str, values: tuple[int, ...]) -> Iterator[list[tuple[Any, ...]]]:
    cursor = db.cursor()
    cursor.row_factory = None
    cursor.execute(query, values)
    while batch := cursor.fetchmany(BATCH):
        yield batch
