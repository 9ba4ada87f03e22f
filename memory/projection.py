"""Which records of the ledger a compaction shows (seed 003, "Repeated compaction does not summarise the summary").

Usually a compaction only adds: the records that became showable since the last one come behind those that stand there,
so the beginning of a prompt stays what a vendor has cached. Drops wait for a full fold, which lays everything out anew.
It comes when the observations have filled their pool, when some were made of what had been compacted already, and when
the ledger was not used before. A record is showable once all that it rests on has left the raw tiers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.ledger_fold import Batch, batches
from memory.observations import RECORD_ENTRIES, Observation, Reflection
from memory.rebuild import thread_of
from memory.store import MemoryStore
from memory.tier_ledger import CompactionMark

POOL_MAX_TOKENS = 20_000
"""Observations of this size in the view have the ledger folded in full."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A record and the events behind it."""

    record: Observation | Reflection
    seqs: tuple[int, ...]
    """In time order; at least one."""


@dataclass(frozen=True, slots=True)
class Projection:
    """What one compaction shows of the ledger."""

    records: tuple[Shown, ...] = ()
    """In the order of the newest event behind each."""
    known: frozenset[str] = frozenset()
    """The ids of all records that the ledger has ever held."""
    full: bool = False
    """Whether it is a full fold."""
    seen: int = 0
    """The number of the newest ledger entry in it."""
    empty: bool = True
    """Whether the ledger has nothing yet on what is compacted, not even something that was dropped."""

    @property
    def pool_tokens(self) -> int:
        """What the lines of the observations cost."""
        return _pool(self.records)

    @property
    def cited(self) -> frozenset[int]:
        """Every event behind a record."""
        return frozenset(seq for shown in self.records for seq in shown.seqs)


def read_projection(store: MemoryStore, kind: str, *, through: int, pool_max: int = POOL_MAX_TOKENS) -> Projection:
    """What a compaction of this queue would show now. Arguments as for ``project``.

    Raises:
        StoreDamaged, StoreUnavailable: the file cannot be read.
    """
    found = list(batches(store.ledger(kind, RECORD_ENTRIES)))
    if not found:
        return Projection()
    numbers = _numbers(store, kind, found)
    return project(found, store.compaction_marks(kind), numbers, through=through, pool_max=pool_max)


def recorded(store: MemoryStore, kind: str) -> list[Shown]:
    """Every record of this queue's ledger that leads somewhere, live or dropped, in the order of the ledger.

    Raises:
        StoreDamaged, StoreUnavailable: the file cannot be read.
    """
    found = list(batches(store.ledger(kind, RECORD_ENTRIES)))
    return [shown for step in _steps(found, (), _numbers(store, kind, found)) for shown in step.made]


def project(
    found: Iterable[Batch],
    marks: Sequence[CompactionMark],
    numbers: Mapping[str, int],
    *,
    through: int,
    pool_max: int = POOL_MAX_TOKENS,
) -> Projection:
    """What a compaction up to event ``through`` shows.

    Args:
        found: the sound entries of the ledger, in order.
        marks: the queue's compactions so far, in order.
        numbers: the ``seq`` of each event that observations name; a name without one leads nowhere and is passed over.
        pool_max: in tokens; observations of this size make it a full fold.
    """
    steps = _steps(found, marks, numbers)
    folded = next((mark for mark in reversed(marks) if mark.full_fold), None)
    records, late = _added(steps, folded, through)
    # Only what a compaction by the ledger laid out can be added to.
    full = folded is None or marks[-1].mode == "summarize" or late or _pool(records) >= pool_max
    empty = not any(shown.seqs[-1] <= through for step in steps for shown in step.made)
    if full:
        records = _folded(steps, through)
    return Projection(
        records=tuple(sorted(records, key=lambda shown: (shown.seqs[-1], shown.seqs[0], shown.record.id))),
        known=frozenset(shown.record.id for step in steps for shown in step.made),
        full=full,
        seen=max((step.n for step in steps), default=0),
        empty=empty,
    )


def _numbers(store: MemoryStore, kind: str, found: Iterable[Batch]) -> dict[str, int]:
    sources = {source for batch in found for made in batch.observations for source in made.sources}
    return store.numbers_of(sources, thread_of(kind))


@dataclass(frozen=True, slots=True)
class _Step:
    """A batch with the events behind its records. What repeats a live record, or leads nowhere, is not in it."""

    n: int
    covers: int
    compacted: int
    """The ``seq`` up to which everything had been compacted without it."""
    made: tuple[Shown, ...]
    dropped: tuple[str, ...]


def _steps(found: Iterable[Batch], marks: Sequence[CompactionMark], numbers: Mapping[str, int]) -> list[_Step]:
    live: set[str] = set()
    reflected: set[str] = set()
    behind: dict[str, tuple[int, ...]] = {}
    marked = [mark.seen for mark in marks]
    steps: list[_Step] = []
    for batch in found:
        made: list[Shown] = []
        for observation in batch.observations:
            seqs = _in_order(numbers[id] for id in observation.sources if id in numbers)
            if seqs and observation.id not in live:
                live.add(observation.id)
                behind[observation.id] = seqs
                made.append(Shown(observation, seqs))
        for reflection in batch.reflections:
            seqs = _in_order(seq for id in reflection.supports for seq in behind.get(id, ()))
            if seqs and reflection.id not in reflected:
                reflected.add(reflection.id)
                made.append(Shown(reflection, seqs))
        live.difference_update(batch.dropped)
        before = bisect_left(marked, batch.n)
        compacted = marks[before - 1].through if before else 0
        steps.append(_Step(batch.n, batch.covers, compacted, tuple(made), batch.dropped))
    return steps


def _added(steps: Sequence[_Step], folded: CompactionMark | None, through: int) -> tuple[list[Shown], bool]:
    """What stands after the last full fold with what has become showable since; whether observations came late.

    A reflection on what had been compacted before waits for the next full fold: it would stand in between.
    """
    observations: dict[str, Shown] = {}
    reflections: dict[str, Shown] = {}
    late = False
    for step in steps:
        in_fold = folded is not None and step.n <= folded.seen
        for shown in step.made:
            if shown.seqs[-1] > through:
                continue
            fits_behind = in_fold or shown.seqs[-1] > step.compacted
            if isinstance(shown.record, Observation):
                late = late or not fits_behind
                observations.setdefault(shown.record.id, shown)
            elif fits_behind:
                reflections[shown.record.id] = shown
        if folded is not None and in_fold and step.covers <= folded.through:
            _drop(observations, step)
    return [*reflections.values(), *observations.values()], late


def _folded(steps: Sequence[_Step], through: int) -> list[Shown]:
    """Everything that is showable, without what was dropped."""
    observations: dict[str, Shown] = {}
    reflections: dict[str, Shown] = {}
    for step in steps:
        for shown in step.made:
            if shown.seqs[-1] <= through:
                kind = observations if isinstance(shown.record, Observation) else reflections
                kind.setdefault(shown.record.id, shown)
        if step.covers <= through:
            _drop(observations, step)
    return [*reflections.values(), *observations.values()]


def _drop(observations: dict[str, Shown], step: _Step) -> None:
    for id in step.dropped:
        observations.pop(id, None)


def _pool(records: Iterable[Shown]) -> int:
    return sum(shown.record.tokens for shown in records if isinstance(shown.record, Observation))


def _in_order(seqs: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(seqs)))
