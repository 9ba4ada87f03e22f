"""Where the words of a question stand among the candidates: the keyword index read word by word.

FTS5 can rank by itself, but then says one number a chunk for all words together. Word by word, what one word adds
can be spread to the neighbours before the words are added up, and no rank has to be computed, which makes it several
times as fast (``benchmarks/recall.py``).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.columns import read_numbers
from memory.store import MemoryStore
from memory.words import match_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.ranking import Mask

MOST_KEPT = 2_000
"""Terms kept beside the candidates."""

COMMON_WEIGHT = 1e-6
"""What a word weighs that more than half of all chunks hold: FTS5 says so too. It tells nothing apart."""


@dataclass(frozen=True, slots=True)
class Posting:
    """One word of a question among the candidates."""

    weight: float
    """How much the word tells apart: BM25's inverse document frequency."""
    places: NDArray[np.intp]
    """Candidates that hold it."""


_HOLDING = "SELECT group_concat(rowid) FROM (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)"


class WordIndex:
    """The keyword index of one store. Keeps what it found for the last question, which several arms ask for."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._last: tuple[str, Candidates, tuple[Posting, ...]] | None = None

    def find(self, question: str, candidates: Candidates) -> tuple[Posting, ...]:
        """The words of ``question`` that any candidate holds."""
        with self._lock:
            last = self._last
        if last is not None and last[0] == question and last[1] is candidates:
            return last[2]
        found = self.find_terms(match_terms(question), candidates)
        with self._lock:
            self._last = question, candidates, found
        return found

    def find_terms(self, terms: Sequence[str], candidates: Candidates) -> tuple[Posting, ...]:
        """The same for terms as ``match_terms`` makes them."""
        if not len(candidates):
            return ()
        with self._store.reading() as db:
            found = [_places(db, term, candidates, -1) for term in terms]
        return tuple(Posting(weight(len(places), len(candidates)), places) for places in found if len(places))

    def find_kept(self, term: str, candidates: Candidates, at_most: int | None = None) -> tuple[Posting, ...]:
        """The same for one term that other questions ask for as well: it is kept beside the candidates.

        Args:
            at_most: a term that more chunks hold is left out, and costs no more than one that so many hold.
        """
        key = f"{term} {at_most}"
        places: NDArray[np.intp] | None = candidates.kept.get(key)
        if places is None:
            if len(candidates.kept) >= MOST_KEPT:
                candidates.kept.clear()
            with self._store.reading() as db:
                places = _places(db, term, candidates, -1 if at_most is None else at_most)
            candidates.kept[key] = places
        return (Posting(weight(len(places), len(candidates)), places),) if len(places) else ()

    def shared(self, question: str, candidates: Candidates) -> Mask:
        """Which candidates hold any word of ``question``."""
        import numpy as np

        mask = np.zeros(len(candidates), np.bool_)
        for posting in self.find(question, candidates):
            mask[posting.places] = True
        return mask


def _places(db: sqlite3.Connection, term: str, candidates: Candidates, at_most: int) -> NDArray[np.intp]:
    """The candidates that hold a term; none where more chunks hold it than are asked for."""
    rows = read_numbers(db, _HOLDING, (term, -1 if at_most < 0 else at_most + 1))
    if 0 <= at_most < len(rows):
        rows = rows[:0]
    places = candidates.places_of(rows)
    return places[places >= 0]


def weight(holding: int, candidates: int) -> float:
    """The weight of a word that so many of all candidates hold."""
    import math

    return max(COMMON_WEIGHT, math.log((candidates - holding + 0.5) / (holding + 0.5)))
