"""The live bullets of one queue, as its ledger leaves them entry by entry.

A bullet that stands for much is written as what it adds to bullets that stood before it (``memory/tier_ledger.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memory.tier_ledger import COMPACTED, IMPORTED, bullet_seqs, inherited


@dataclass(frozen=True, slots=True, eq=False)
class BulletLine:
    """A bullet as the ledger wrote it down."""

    entry: Mapping[str, Any]
    forebears: tuple[BulletLine, ...]
    """The lines of the bullets whose events it stands for too."""

    def seqs(self, most: int | None = None) -> tuple[int, ...]:
        """The ``seq`` of every event behind it, in order.

        Raises:
            ValueError: to tell takes more than ``most`` steps, one for each line and each event.
        """
        found: set[int] = set()
        seen: set[int] = set()
        waiting = [self]
        steps = 0
        while waiting:
            line = waiting.pop()
            if id(line) in seen:
                continue
            seen.add(id(line))
            own = bullet_seqs(line.entry)
            steps += 1 + len(own)
            if most is not None and steps > most:
                raise ValueError(f"more than {most} steps")
            found.update(own)
            waiting.extend(line.forebears)
        return tuple(sorted(found))


class BulletFold:
    """The live bullets after the entries that were taken so far. Iterates over their lines."""

    def __init__(self) -> None:
        self._live: dict[str, BulletLine] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._live

    def __iter__(self) -> Iterator[BulletLine]:
        return iter(self._live.values())

    def get(self, id: str) -> BulletLine | None:
        return self._live.get(id)

    def take(self, entry: str, data: Mapping[str, Any]) -> None:
        """The next entry with this name; those that are not about bullets change nothing.

        Raises:
            KeyError: it lacks a field, or inherits from a bullet that is not live.
        """
        if entry == COMPACTED:
            made = [self._line(bullet) for bullet in data["added"]]
            for id in data["removed"]:
                self._live.pop(id, None)
        elif entry == IMPORTED:
            made = [self._line(bullet) for bullet in data["bullets"]]
            self._live.clear()
        else:
            return
        self._live.update((line.entry["id"], line) for line in made)

    def _line(self, entry: Mapping[str, Any]) -> BulletLine:
        return BulletLine(entry, tuple(self._live[id] for id in inherited(entry)))
