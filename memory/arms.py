"""Every way of ranking under a name, and which of them ships.

``otto eval-memory --arm all`` measures them side by side on the same stores; ``docs/recall.md`` has the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memory.candidates import Candidates
from memory.date_arm import SaidThen, said_within
from memory.dense_arms import Dense, NearDense
from memory.diversity import Diverse
from memory.errors import EmbeddingUnavailable, RerankerUnavailable
from memory.feedback_arm import Feedback
from memory.fusion import Blend, LikenessAndAge, RankFusion, Spread, Weighted
from memory.ranking import Ranking, Recency
from memory.rerank_arm import Reranked
from memory.store import MemoryStore
from memory.thresholds import bar_of
from memory.voice_arm import Voice
from memory.word_arms import Keyword, NearWords
from memory.word_index import WordIndex

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder
    from memory.ranking import Mask, Scores

WITH_EMBEDDER = "shipped"
WITHOUT_EMBEDDER = "shipped, words only"
"""The arms that ``recall`` takes when none is named."""

RERANKED = "shipped, reranked"
"""The one that it takes instead of either where it is given a cross-encoder."""

NO_RERANKER = (
    "No cross-encoder is set. Set [embedding] reranker to a folder with one, or to a fastembed cross-encoder's name."
)

VOICE_WEIGHT = 3.0
DATE_WEIGHT = 3.0
FEEDBACK_WEIGHT = 0.2
LEAST_DEVIATION = 0.02
"""Of likenesses: where they differ less than this the question is like nothing, and words decide."""
NEIGHBOURS = (0.3, 0.1)
"""For arms that are measured for comparison: what a chunk gets of its neighbours' scores."""


@dataclass(frozen=True)
class Sources:
    """What arms rank by, for one recall."""

    store: MemoryStore
    index: WordIndex
    dense: Dense | None = None
    """None where there is no embedder that can be used."""
    near: NearDense | None = None
    """Beside ``dense``, always."""
    reranker: CrossEncoder | None = None
    """None where none is set."""


class Hits(Protocol):
    """Tells which candidates may be returned for their own sake."""

    def __call__(self, question: str, candidates: Candidates) -> Mask: ...


@dataclass(frozen=True)
class Arm:
    """A ranking, ready to be asked."""

    ranking: Ranking
    hits: Hits

    @property
    def name(self) -> str:
        return self.ranking.name

    def scores(self, question: str, candidates: Candidates) -> Scores:
        return self.ranking.scores(question, candidates)


@dataclass(frozen=True)
class ArmBuilder:
    """Puts an arm together."""

    what: str
    """In a few words, for a table."""
    build: Callable[[Sources], Ranking]
    needs_embedder: bool = True
    needs_reranker: bool = False
    everything: bool = False
    """Whether all candidates are hits, related to the question or not."""

    def __call__(self, sources: Sources) -> Arm:
        """Raises EmbeddingUnavailable where the arm needs an embedder or a cross-encoder and there is none."""
        if self.needs_reranker and sources.reranker is None:
            raise RerankerUnavailable(NO_RERANKER)
        if self.needs_embedder and sources.dense is None:
            raise EmbeddingUnavailable(f"Ranking by {self.what} needs an embedding model, and none is in use.")
        return Arm(self.build(sources), _everything if self.everything else _Related(sources))


@dataclass(frozen=True)
class _Related:
    """Chunks that share a word with the question, were said on the day that it names, or are alike enough."""

    sources: Sources

    def __call__(self, question: str, candidates: Candidates) -> Mask:
        shared = self.sources.index.shared(question, candidates)
        hits = shared | said_within(question, candidates)
        dense = self.sources.dense
        if dense is not None:
            # A threshold never hides a chunk that shares a word.
            bar = bar_of(dense.embedder, any_word=bool(shared.any()))
            hits |= dense.scores(question, candidates) >= (float("-inf") if bar is None else bar)
        return hits


def _everything(question: str, candidates: Candidates) -> Mask:
    import numpy as np

    return np.ones(len(candidates), np.bool_)


def _dense(sources: Sources) -> Dense:
    assert sources.dense is not None
    return sources.dense


def _near(sources: Sources) -> NearDense:
    assert sources.near is not None
    return sources.near


def _likeness(sources: Sources) -> Weighted:
    return Weighted(_near(sources), least_deviation=LEAST_DEVIATION)


def _boosts(sources: Sources) -> tuple[Weighted, ...]:
    return Weighted(Voice(sources.index), VOICE_WEIGHT), Weighted(SaidThen(), DATE_WEIGHT)


def _words(sources: Sources) -> Ranking:
    return Blend((Weighted(NearWords(sources.index)),), _boosts(sources))


def _feedback(sources: Sources) -> Weighted:
    return Weighted(Feedback(sources.store, sources.index, _words(sources)), FEEDBACK_WEIGHT)


def _words_and_feedback(sources: Sources) -> Ranking:
    return Blend((Weighted(NearWords(sources.index)), _feedback(sources)), _boosts(sources))


def _all(sources: Sources) -> Ranking:
    return Blend((_likeness(sources), Weighted(NearWords(sources.index))), _boosts(sources))


def _all_and_feedback(sources: Sources) -> Ranking:
    return Blend((_likeness(sources), Weighted(NearWords(sources.index)), _feedback(sources)), _boosts(sources))


def _reranked(sources: Sources) -> Ranking:
    assert sources.reranker is not None
    first = _words_and_feedback(sources) if sources.dense is None else _all(sources)
    return Reranked(first, sources.reranker, sources.store)


ARMS: Mapping[str, ArmBuilder] = {
    "recency": ArmBuilder("the newest first", lambda s: Recency(), needs_embedder=False, everything=True),
    "bm25": ArmBuilder("shared words (FTS5's BM25)", lambda s: Keyword(s.store), needs_embedder=False),
    "bm25 spread": ArmBuilder(
        "shared words, each score spread to the neighbours",
        lambda s: Spread(Keyword(s.store), NEIGHBOURS),
        needs_embedder=False,
    ),
    "near words": ArmBuilder(
        "shared words, each spread before they are added up", lambda s: NearWords(s.index), needs_embedder=False
    ),
    "near words, speaker": ArmBuilder(
        "the same and who said it",
        lambda s: Blend((Weighted(NearWords(s.index)),), (Weighted(Voice(s.index), VOICE_WEIGHT),)),
        needs_embedder=False,
    ),
    "near words, speaker, date": ArmBuilder("near words, who said it, and when", _words, needs_embedder=False),
    WITHOUT_EMBEDDER: ArmBuilder(
        "near words, who said it, when, and feedback", _words_and_feedback, needs_embedder=False
    ),
    "dense": ArmBuilder("likeness of meaning", _dense),
    "dense spread": ArmBuilder("likeness, each score spread", lambda s: Spread(_dense(s), NEIGHBOURS)),
    "near dense": ArmBuilder("likeness of each chunk with its neighbours", _near),
    "likeness and age": ArmBuilder("0.7 likeness and 0.3 recency (seed 002)", lambda s: LikenessAndAge(_dense(s))),
    "rrf": ArmBuilder(
        "rank fusion of likeness and words", lambda s: RankFusion((Weighted(_dense(s)), Weighted(Keyword(s.store))))
    ),
    "rrf with recency": ArmBuilder(
        "rank fusion of likeness, words and recency (seed 002)",
        lambda s: RankFusion((Weighted(_dense(s)), Weighted(Keyword(s.store)), Weighted(Recency())), k=60),
    ),
    "rrf near": ArmBuilder(
        "rank fusion of near dense and near words",
        lambda s: RankFusion((Weighted(_near(s)), Weighted(NearWords(s.index)))),
    ),
    "blend": ArmBuilder(
        "likeness and words added up", lambda s: Blend((Weighted(_dense(s)), Weighted(Keyword(s.store))))
    ),
    "blend near": ArmBuilder(
        "near dense and near words added up", lambda s: Blend((_likeness(s), Weighted(NearWords(s.index))))
    ),
    WITH_EMBEDDER: ArmBuilder("near dense, near words, who said it, and when", _all),
    "shipped, diverse": ArmBuilder("the same, less what repeats better hits", lambda s: Diverse(_all(s), _dense(s))),
    "shipped, feedback": ArmBuilder("near dense, near words, who said it, when, and feedback", _all_and_feedback),
    RERANKED: ArmBuilder(
        "what ships, its best put in order by a cross-encoder", _reranked, needs_embedder=False, needs_reranker=True
    ),
}
