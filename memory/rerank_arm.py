"""An arm that puts another arm's best into the order that a cross-encoder finds (seed 002)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.ranking import Ranking, best_first
from memory.store import MemoryStore
from memory.voice_arm import voices_of

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder
    from memory.ranking import Scores

RESCORED = 60
"""So many of the best are read together with the question: what that takes grows with each. The rest follows."""


@dataclass(frozen=True)
class Reranked:
    """Another arm's best, by how well each fits the question when both are read together; the others as they were."""

    arm: Ranking
    cross_encoder: CrossEncoder
    store: MemoryStore
    count: int = RESCORED

    @property
    def name(self) -> str:
        return f"{self.arm.name}+reranked"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        """Raises RerankerUnavailable, before anything is ranked where the cross-encoder cannot be loaded."""
        import numpy as np

        self.cross_encoder.load()
        scores = self.arm.scores(question, candidates).astype(np.float32)
        best = best_first(scores, self.count)
        if not len(best):
            return scores
        fits = self.cross_encoder.scores(question, list(_texts(self.store, candidates, best.tolist())))
        order = best[np.argsort(-fits, kind="stable")]
        # The others keep their very scores, so that none of them become equal by rounding.
        scores[order] = scores[best[0]] + np.arange(len(order), 0, -1, dtype=np.float32)
        return scores


def _texts(store: MemoryStore, candidates: Candidates, places: Sequence[int]) -> Iterator[str]:
    """What each says, after the name of who said it."""
    events = {event.seq: event for event in store.events_at({candidates.seqs[place] for place in places})}
    chunks = {chunk.hash: chunk for found in store.chunks_of(events).values() for chunk in found}
    voices, names = voices_of(candidates), candidates.speaker_names
    for place in places:
        chunk = chunks[candidates.hashes[place]]
        text = events[candidates.seqs[place]].text[chunk.start : chunk.end]
        name = names[voices[place]] if voices[place] >= 0 else ""
        yield text if not name or text.startswith(f"{name}:") else f"{name}: {text}"
