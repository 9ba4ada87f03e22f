"""Arms that go by shared words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.store import MemoryStore
from memory.word_index import Posting, WordIndex
from memory.words import match_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.ranking import Scores

MOST_MATCHES = 2_000
"""Chunks that FTS5 ranks and returns, best first."""

BM25_K1, BM25_B = 1.2, 0.75
"""FTS5's own."""

NEAR_WORDS = (0.6, 0.4, 0.3, 0.2, 0.1, 0.05)
"""What a chunk gets of a word that stands in the chunk next to it, the one after that, and so on."""

EASE = 2.0
"""How soon more of the same word nearby adds nothing: as k1 does for repetitions within one chunk."""


@dataclass(frozen=True)
class Keyword:
    """FTS5's BM25; 0 where no word is shared, or where ``MOST_MATCHES`` chunks share more."""

    store: MemoryStore
    name: str = "bm25"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        scores = np.zeros(len(candidates), np.float32)
        query = match_query(question)
        if not query:
            return scores
        with self.store.reading() as db:
            cursor = db.cursor()
            cursor.row_factory = None
            found = cursor.execute(
                "SELECT rowid, -rank FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT ?",
                (query, MOST_MATCHES),
            ).fetchall()
        if found:
            rows, ranks = zip(*found, strict=True)
            places = candidates.places_of(np.array(rows, np.int64))
            scores[places[places >= 0]] = np.array(ranks, np.float32)[places >= 0]
        return scores


@dataclass(frozen=True)
class NearWords:
    """BM25 of the place rather than of the chunk: each word of the question counts where it stands and, less, in the
    chunks around; then the words are added up.

    An answer often stands beside the words that were asked for, and a place where several of them meet is worth more
    than one that has the same word many times.
    """

    index: WordIndex
    weights: Sequence[float] = NEAR_WORDS
    ease: float = EASE
    name: str = "bm25"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        return nearby(self.index.find(question, candidates), candidates, self.weights, self.ease)


def nearby(
    postings: Sequence[Posting], candidates: Candidates, weights: Sequence[float] = NEAR_WORDS, ease: float = EASE
) -> Scores:
    """Score every candidate by the words that stand in it and around it; 0 where none does."""
    import numpy as np

    total = np.zeros(len(candidates), np.float32)
    if not postings:
        return total
    lengths = np.maximum(np.asarray(candidates.tokens, np.float32), 1.0)
    lengths /= lengths.mean()
    once = ((BM25_K1 + 1) / (1 + BM25_K1 * (1 - BM25_B + BM25_B * lengths))).astype(np.float32)
    around = np.zeros(len(candidates), np.float32)
    for posting in postings:
        touched = _spread_from(posting.places, once[posting.places], weights, around)
        held = around[touched]
        total[touched] += np.float32(posting.weight) * held * np.float32(1 + ease) / (held + np.float32(ease))
        around[touched] = 0.0
    return total


def _spread_from(places: NDArray[np.intp], given: Scores, weights: Sequence[float], total: Scores) -> NDArray[np.intp]:
    """Add to ``total``, which is all 0, what ``ranking.spread`` makes of scores at some places; where it has done so.

    Most words stand at few places, and only these and those near them are looked at.
    """
    import numpy as np

    touched = np.zeros(len(total), np.bool_)
    total[places] = given
    touched[places] = True
    for distance, weight in enumerate(weights, 1):
        added = weight * given
        for near in (places + distance, places - distance):
            inside = (near >= 0) & (near < len(total))
            near = near[inside]
            total[near] += added[inside]
            touched[near] = True
    return np.flatnonzero(touched)
