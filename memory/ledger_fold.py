"""Replaying the ledger: which observations are live, which are dropped, and which conclusions rest on them.

The fold is pure and goes entry by entry, so a prefix of the ledger gives the memory as it stood then (seed 003, "the
mental model"). An entry with a record that is not sound counts for nothing; ``memory/verify.py`` names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from types import MappingProxyType

from memory.observations import (
    DROPS,
    OBSERVATIONS,
    RECORD_ENTRIES,
    REFLECTIONS,
    InvalidRecord,
    Observation,
    Reflection,
    covers_of,
    drops_in,
    observations_in,
    reflections_in,
)
from memory.store import CONVERSATION, LedgerEntry, MemoryStore


@dataclass(frozen=True, slots=True)
class LedgerState:
    """The ledger's truth at one moment. Mappings go from id to record, in the order of the ledger."""

    observations: Mapping[str, Observation] = field(default_factory=lambda: MappingProxyType({}))
    """The live ones. Of several records with one id the first counts; one that was dropped is live again from its
    next record on."""
    dropped: Mapping[str, Observation] = field(default_factory=lambda: MappingProxyType({}))
    """Retired, and found by ``recall_id`` still."""
    reflections: Mapping[str, Reflection] = field(default_factory=lambda: MappingProxyType({}))
    observed_through: int = 0
    """The ``seq`` up to which observations cover the conversation; 0 before the first."""
    reflected_through: int = 0
    dropped_through: int = 0
    ignored: tuple[int, ...] = ()
    """Numbers of the entries that are not sound and count for nothing."""

    @property
    def empty(self) -> bool:
        """Whether nothing was ever recorded."""
        return not (self.observations or self.dropped or self.reflections)

    @property
    def pool_tokens(self) -> int:
        """What the lines of all live observations cost."""
        return sum(made.tokens for made in self.observations.values())


def read_state(store: MemoryStore, kind: str = CONVERSATION, *, until: int | None = None) -> LedgerState:
    """The fold of a store's ledger; with ``until``, as it stood when that event was the newest.

    Raises:
        StoreDamaged, StoreUnavailable: the file cannot be read.
    """
    entries = store.ledger(kind, RECORD_ENTRIES)
    if until is not None:
        entries = list(takewhile(lambda entry: entry.data["at"] <= until, entries))
    return fold(entries)


def fold(entries: Iterable[LedgerEntry]) -> LedgerState:
    """Replay ``entries`` in order. Entries of other names are passed over."""
    ignored: list[int] = []
    live: dict[str, Observation] = {}
    dropped: dict[str, Observation] = {}
    reflections: dict[str, Reflection] = {}
    through = dict.fromkeys(RECORD_ENTRIES, 0)
    for batch in batches(entries, ignored):
        for observation in batch.observations:
            dropped.pop(observation.id, None)
            live.setdefault(observation.id, observation)
        for reflection in batch.reflections:
            reflections.setdefault(reflection.id, reflection)
        for id in batch.dropped:
            if id in live:
                dropped[id] = live.pop(id)
        through[batch.entry] = max(through[batch.entry], batch.covers)
    return LedgerState(
        observations=MappingProxyType(live),
        dropped=MappingProxyType(dropped),
        reflections=MappingProxyType(reflections),
        observed_through=through[OBSERVATIONS],
        reflected_through=through[REFLECTIONS],
        dropped_through=through[DROPS],
        ignored=tuple(ignored),
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """One entry of the ledger, read: records of one of the three sorts."""

    n: int
    entry: str
    covers: int
    observations: tuple[Observation, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    dropped: tuple[str, ...] = ()


def batches(entries: Iterable[LedgerEntry], ignored: list[int] | None = None) -> Iterator[Batch]:
    """The entries that hold records and are sound, in order; the numbers of the others go to ``ignored``."""
    for entry in entries:
        if entry.entry not in RECORD_ENTRIES:
            continue
        try:
            yield batch_of(entry)
        except InvalidRecord:
            if ignored is not None:
                ignored.append(entry.n)


def batch_of(entry: LedgerEntry) -> Batch:
    """An entry whose name is one of ``RECORD_ENTRIES``.

    Raises:
        InvalidRecord: it is not sound.
    """
    covers = covers_of(entry.data)
    if entry.entry == OBSERVATIONS:
        return Batch(entry.n, entry.entry, covers, observations=observations_in(entry.data))
    if entry.entry == REFLECTIONS:
        return Batch(entry.n, entry.entry, covers, reflections=reflections_in(entry.data))
    return Batch(entry.n, entry.entry, covers, dropped=drops_in(entry.data))
