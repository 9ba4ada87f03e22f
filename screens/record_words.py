"""What stands between an id of the ledger and the exact words: the records, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screens.wording import counted

if TYPE_CHECKING:
    from memory.observations import Observation, Reflection
    from memory.values import RecalledSource

DROPPED = "dropped, kept in full"


def record_lines(source: RecalledSource) -> Iterator[str]:
    """A line a record, conclusions first, then what they rest on; nothing for what is no record."""
    if source.collision:
        yield source.collision
    for reflection in source.reflections:
        yield f"{reflection_heading(reflection)}: {reflection.content}"
    for observation in source.observations:
        yield f"{observation_heading(observation, source)}: {observation.content}"
    if source.missing:
        yield missing_words(source)


def reflection_heading(made: Reflection) -> str:
    return f"Reflection {made.id}, rests on {counted(len(made.supports), 'observation')}"


def observation_heading(made: Observation, source: RecalledSource) -> str:
    standing = DROPPED if made.id in source.dropped else "active"
    return (
        f"Observation {made.id}, {made.timestamp}, {made.relevance}, {standing}, {counted(len(made.sources), 'source')}"
    )


def missing_words(source: RecalledSource) -> str:
    return f"Named as a source and not to be found: {', '.join(source.missing)}."
