"""From the id of a ledger record to the exact words that it rests on (seed 003, "recall is not a search tool").

An observation is found whether it is live or dropped; a reflection comes with the observations behind it and theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from memory.ledger_fold import batches
from memory.observations import RECORD_ENTRIES, Observation, Reflection
from memory.store import MemoryStore

_Record = TypeVar("_Record", Observation, Reflection)


@dataclass(frozen=True, slots=True)
class Traced:
    """Everything that the ledger holds under one id."""

    observations: tuple[Observation, ...]
    """Those with the id: several where it was observed again with other sources."""
    reflections: tuple[Reflection, ...]
    """Those with the id: several where it was concluded again from other observations."""
    supports: tuple[Observation, ...]
    """The observations behind the reflections."""
    dropped: frozenset[str]
    """Which of all these observations are retired."""
    unknown: tuple[str, ...]
    """Supports that were never recorded."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The events that all of it rests on."""
        found = (source for made in (*self.observations, *self.supports) for source in made.sources)
        return tuple(dict.fromkeys(found))


def trace(store: MemoryStore, id: str, kind: str) -> Traced | None:
    """What the ledger of this queue holds under ``id``; None when that is nothing.

    Raises:
        StoreDamaged, StoreUnavailable: the file cannot be read.
    """
    recorded: dict[str, list[Observation]] = {}
    concluded: list[Reflection] = []
    dropped: set[str] = set()
    for batch in batches(store.ledger(kind, RECORD_ENTRIES)):
        for observation in batch.observations:
            recorded.setdefault(observation.id, []).append(observation)
            dropped.discard(observation.id)
        concluded += [reflection for reflection in batch.reflections if reflection.id == id]
        dropped.update(dropped_id for dropped_id in batch.dropped if dropped_id in recorded)
    if id not in recorded and not concluded:
        return None
    supports = list(dict.fromkeys(support for reflection in concluded for support in reflection.supports))
    behind = _different(found for support in supports for found in recorded.get(support, ()))
    own = _different(recorded.get(id, ()))
    return Traced(
        observations=own,
        reflections=_different(concluded),
        supports=behind,
        dropped=frozenset(made.id for made in (*own, *behind) if made.id in dropped),
        unknown=tuple(support for support in supports if support not in recorded),
    )


def _different(records: Iterable[_Record]) -> tuple[_Record, ...]:
    """Without those that say the same and rest on the same as an earlier one."""
    return tuple(dict.fromkeys(records))
