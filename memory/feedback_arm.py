"""Several hops without a model: what the first pass found says which other words to look for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.json_text import dump
from memory.ranking import Ranking, best_first
from memory.store import MemoryStore
from memory.word_arms import nearby
from memory.word_index import Posting, WordIndex
from memory.words import STOP_WORDS, index_words, match_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.ranking import Scores

FIRST_PASS = 20
"""Chunks whose words are looked at."""

NEW_WORDS = 15
"""Words that are looked for in the second pass."""

WORDS_TRIED = 64
"""Words of which it is looked up how rare they are."""

MOST_HOLDING = 500
"""A word that more chunks hold leads nowhere either, and would take long to look at."""

MOST_COMMON = 0.2
"""A word that more than this share of all candidates hold leads nowhere."""


@dataclass(frozen=True)
class Feedback:
    """Scores by the words that stand out in what another arm ranks highest, the question's own words aside: a question
    that asks for several things ("which trips ...") is answered in several places that share words with each other."""

    store: MemoryStore
    index: WordIndex
    first: Ranking
    name: str = "bm25"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        scores = self.first.scores(question, candidates)
        best = best_first(scores, FIRST_PASS)
        worth = np.maximum(scores[best] - np.nanmean(scores), 0.0) if len(best) else scores[best]
        words = self._words(best, worth, candidates, {term.strip('"*') for term in match_terms(question)})
        return nearby(tuple(self._chosen(words, candidates)), candidates)

    def _words(
        self, best: NDArray[np.intp], worth: Scores, candidates: Candidates, asked: Collection[str]
    ) -> dict[str, float]:
        """The words of these chunks with what the chunks are worth together, best first."""
        weights = {candidates.rows[place]: float(each) for place, each in zip(best, worth, strict=True)}
        words: dict[str, float] = {}
        for row, text in self._texts(weights):
            for word in set(index_words(text).split()) - STOP_WORDS:
                if len(word) > 1 and word not in asked:
                    words[word] = words.get(word, 0.0) + weights[row]
        return dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:WORDS_TRIED])

    def _texts(self, rows: Collection[int]) -> list[tuple[int, str]]:
        with self.store.reading() as db:
            found = db.execute(
                "SELECT chunks.rowid, substr(events.text, chunks.start + 1, chunks.end - chunks.start)"
                " FROM chunks JOIN events USING (seq) WHERE chunks.rowid IN (SELECT value FROM json_each(?))",
                (dump([int(row) for row in rows]),),
            )
            return [(row, str(text)) for row, text in found]

    def _chosen(self, words: Mapping[str, float], candidates: Candidates) -> Iterator[Posting]:
        found = []
        same: set[bytes] = set()
        for word, worth in words.items():
            for posting in self.index.find_kept(f'"{word}"', candidates, at_most=MOST_HOLDING):
                # Words with one stem have the same places.
                places = posting.places.tobytes()
                if 2 <= len(posting.places) <= MOST_COMMON * len(candidates) and places not in same:
                    same.add(places)
                    found.append((worth * posting.weight, posting))
        found.sort(key=lambda item: -item[0])
        most = found[0][0] if found else 0.0
        for worth, posting in found[:NEW_WORDS]:
            if worth > 0:
                yield Posting(posting.weight * worth / most, posting.places)
