"""Recall: exact words that have left the view, found by question or by id (seed 000, "Retrieval"; DESIGN,
"Recall").

By question in two stages: every chunk behind a live bullet is a candidate (bullets never narrow it down:
which bullet a question matches says almost nothing about where its answer is), then the candidates are ranked
themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory import bullet_rows, vectors
from memory.arms import ARMS, RERANKED, WITH_EMBEDDER, WITHOUT_EMBEDDER, Arm, Sources
from memory.budgets import MAX_CHUNKS, TOKEN_BUDGET, WINDOW
from memory.candidates import Candidates, behind_bullets, of_event_kind
from memory.chunking import split
from memory.connections import one_moment
from memory.dense_arms import Dense, NearDense
from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable, RerankerUnavailable
from memory.packing import Picked, pick
from memory.store import MemoryStore
from memory.tokens import count_tokens
from memory.tracing import recall_id
from memory.values import Bullet, Chunk, RecallItem, RecallResult
from memory.vector_cache import VectorCache
from memory.word_index import WordIndex

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder
    from memory.ranking import Mask, Scores

__all__ = ["recall", "recall_chunks", "recall_id"]

BULLETS_SHOWN = 3
"""Bullets that stand behind the best hits and are named above the result."""

PROCEDURAL_TOP_K = 1
PROCEDURAL_CHUNKS = 5
PROCEDURAL_WINDOW = 1
"""The narrow policy: what a model in the middle of a task gets, so that memory does not starve the task."""


def recall(
    store: MemoryStore,
    kind: str,
    query: str,
    *,
    embedder: Embedder | None = None,
    top_k: int = BULLETS_SHOWN,
    max_chunks: int = MAX_CHUNKS,
    window: int = WINDOW,
    token_budget: int = TOKEN_BUDGET,
    narrow: bool = False,
    left_out: Collection[int] = (),
    cache: VectorCache | None = None,
    reranker: CrossEncoder | None = None,
    arm: str | None = None,
) -> RecallResult:
    """Return what was said about ``query`` and no longer stands raw in the view of this queue, in time order.

    Never an error for any query. Without a usable embedder the ranking is by keyword and recency, and where the
    reranker fails it is as without it; the result's ``warning`` says why and what to do.

    Args:
        kind: the queue's namespace.
        top_k: bullets to name.
        max_chunks: most hits.
        window: neighbours on either side that come along with a hit.
        token_budget: most tokens of all text together, bullets included.
        narrow: the policy for calls in the middle of a task; caps ``top_k``, ``max_chunks`` and ``window``.
        left_out: ``seq`` of raw events that the view leaves out for now (``View.left_out``).
        cache: the store's vectors, kept by the caller between calls.
        reranker: puts the best in order by reading each together with the question.
        arm: a key of ``memory.arms.ARMS``, for measuring; None for the one that ships.

    Raises:
        ValueError: there is no such arm.
        EmbeddingUnavailable: the named arm ranks by an embedder or a reranker that cannot be used. Without a name
            never.
    """
    if narrow:
        top_k = min(top_k, PROCEDURAL_TOP_K)
        max_chunks = min(max_chunks, PROCEDURAL_CHUNKS)
        window = min(window, PROCEDURAL_WINDOW)
    candidates = behind_bullets(store, kind, left_out)
    ranked = _rank(Sources(store, WordIndex(store), reranker=reranker), query, candidates, embedder, cache, arm)
    picked = pick(ranked.scores, ranked.hits, candidates, max_chunks, window, token_budget)
    items, tokens = _items(store, candidates, ranked, picked, token_budget)
    best = [int(candidates.seqs[place]) for place in _best_first(picked, ranked)]
    bullets = _bullets(store, kind, best, top_k, token_budget - tokens)
    return RecallResult(
        ranked_by=ranked.by,
        tokens=tokens + sum(bullet.tokens for bullet in bullets),
        items=items,
        warning=ranked.warning,
        bullets=bullets,
    )


def recall_chunks(
    store: MemoryStore,
    kind: str,
    query: str,
    *,
    embedder: Embedder | None = None,
    max_chunks: int = MAX_CHUNKS,
    window: int = WINDOW,
    token_budget: int = TOKEN_BUDGET,
    narrow: bool = False,
    exclude: Collection[int] = (),
    left_out: Collection[int] = (),
    cache: VectorCache | None = None,
    reranker: CrossEncoder | None = None,
    arm: str | None = None,
) -> RecallResult:
    """As ``recall``, over the events of one kind of event, such as ``tool``, with no bullet layer between.

    Neighbours come from the hit's own event only, since what one tool printed says nothing about the next.

    Args:
        exclude: ``seq`` of events that the caller has in front of it word for word, such as a running turn's results.
        left_out: ``seq`` of events that it has not, though the tiers hold them raw.
    """
    if narrow:
        max_chunks = min(max_chunks, PROCEDURAL_CHUNKS)
        window = min(window, PROCEDURAL_WINDOW)
    candidates = of_event_kind(store, kind, exclude, left_out)
    ranked = _rank(Sources(store, WordIndex(store), reranker=reranker), query, candidates, embedder, cache, arm)
    picked = pick(ranked.scores, ranked.hits, candidates, max_chunks, window, token_budget, same_event=True)
    items, tokens = _items(store, candidates, ranked, picked, token_budget)
    return RecallResult(
        ranked_by=ranked.by,
        tokens=tokens,
        items=items,
        warning=ranked.warning,
    )


@dataclass(frozen=True)
class _Ranked:
    """Candidates in order of merit."""

    by: str
    scores: Scores
    hits: Mask
    warning: str | None


def _rank(
    sources: Sources,
    query: str,
    candidates: Candidates,
    embedder: Embedder | None,
    cache: VectorCache | None,
    arm: str | None,
) -> _Ranked:
    if arm is not None and arm not in ARMS:
        raise ValueError(f"{arm!r} is no way of ranking; there are {', '.join(map(repr, ARMS))}.")
    try:
        return _rank_with(sources, query, candidates, embedder, cache, arm)
    except RerankerUnavailable as error:
        if arm is not None:
            raise
        ranked = _rank_with(replace(sources, reranker=None), query, candidates, embedder, cache, arm)
        warning = f"{error} This was ranked without a cross-encoder."
        return replace(ranked, warning=f"{ranked.warning} {warning}" if ranked.warning else warning)


def _rank_with(
    sources: Sources,
    query: str,
    candidates: Candidates,
    embedder: Embedder | None,
    cache: VectorCache | None,
    arm: str | None,
) -> _Ranked:
    warning = None
    if not query.strip() or not len(candidates):
        return _ranked(ARMS["recency"](sources), query, candidates, None)
    if embedder is None:
        warning = "No embedding model is in use, so this was ranked by keyword and recency."
    else:
        try:
            embedded, warning = _embedded(sources, embedder, candidates, cache or VectorCache())
            return _ranked(ARMS[arm or _shipped(embedded)](embedded), query, candidates, warning)
        except RerankerUnavailable:
            raise
        except EmbeddingUnavailable as error:
            if arm is not None and ARMS[arm].needs_embedder:
                raise
            warning = f"{error} This was ranked by keyword and recency."
    if arm is not None:
        return _ranked(ARMS[arm](sources), query, candidates, warning)
    return _rank_by_keyword(sources, query, candidates, warning)


def _shipped(sources: Sources) -> str:
    """The arm that is taken where none is named."""
    if sources.reranker is not None:
        return RERANKED
    return WITHOUT_EMBEDDER if sources.dense is None else WITH_EMBEDDER


def _ranked(arm: Arm, query: str, candidates: Candidates, warning: str | None) -> _Ranked:
    return _Ranked(arm.name, arm.scores(query, candidates), arm.hits(query, candidates), warning)


def _rank_by_keyword(sources: Sources, query: str, candidates: Candidates, warning: str | None) -> _Ranked:
    """Chunks that share words with the question; where there are none, the newest."""
    ranked = _ranked(ARMS[_shipped(sources)](sources), query, candidates, warning)
    if ranked.hits.any():
        return replace(ranked, by=f"{ranked.by}+recency")
    return _ranked(ARMS["recency"](sources), query, candidates, warning)


def _embedded(
    sources: Sources, embedder: Embedder, candidates: Candidates, cache: VectorCache
) -> tuple[Sources, str | None]:
    """The sources with the vectors of these candidates, and what is wanting in them.

    Raises:
        EmbeddingUnavailable: they cannot be ranked by at all.
    """
    store = sources.store
    stamp = vectors.current_stamp(store)
    if stamp is None:
        raise EmbeddingUnavailable("No text of this session has been embedded yet; Otto does so in the background.")
    if stamp != embedder.stamp:
        raise EmbeddingUnavailable(vectors.other_stamp_sentence(store, stamp, embedder.stamp))
    matrix, places = cache.look_up(store, stamp, candidates.hashes)
    waiting = int((places < 0).sum())
    if waiting == len(candidates):
        raise EmbeddingUnavailable("None of this text has been embedded yet; Otto does so in the background.")
    warning = None
    if waiting:
        warning = f"{waiting:,} of {len(candidates):,} pieces are not embedded yet and were ranked by keyword only."
    dense = Dense(embedder, matrix, places)
    return replace(sources, dense=dense, near=NearDense(dense, cache.sum_lengths(matrix, places))), warning


def _items(
    store: MemoryStore, candidates: Candidates, ranked: _Ranked, picked: Picked, token_budget: int
) -> tuple[tuple[RecallItem, ...], int]:
    """What was picked, in time order, and the tokens of its words."""
    places = sorted({*picked.hits, *picked.neighbours})
    events = {event.seq: event for event in store.events_at(candidates.seqs[place] for place in places)}
    chunks = {chunk.hash: chunk for found in store.chunks_of(events).values() for chunk in found}
    items = []
    tokens = 0
    for place in places:
        event, chunk = events[candidates.seqs[place]], chunks[candidates.hashes[place]]
        text = _fitting(event.text[chunk.start : chunk.end], chunk, token_budget)
        if not text:
            continue
        tokens += chunk.tokens if chunk.tokens <= token_budget else count_tokens(text)
        score = float(ranked.scores[place])
        items.append(
            RecallItem(
                seq=event.seq,
                id=event.id,
                chunk=chunk.hash,
                speaker=event.speaker,
                kind=event.kind,
                t_event=event.t_event,
                text=text,
                score=score if score == score else 0.0,
                neighbour=place in picked.neighbours,
            )
        )
    return tuple(items), tokens


def _best_first(picked: Picked, ranked: _Ranked) -> list[int]:
    """All that was picked; what stands right beside a better hit counts by its own score as well."""
    scores = {place: float(ranked.scores[place]) for place in (*picked.hits, *picked.neighbours)}
    return sorted(scores, key=lambda place: (-scores[place] if scores[place] == scores[place] else float("inf"), place))


def _fitting(text: str, chunk: Chunk, token_budget: int) -> str:
    """All of a chunk's words, or of one that is larger than the whole budget the largest piece that fits."""
    if chunk.tokens <= token_budget:
        return text
    if token_budget < 1:
        return ""
    pieces = [piece for piece in split(text, token_budget) if piece[2] <= token_budget]
    start, end, _ = max(pieces, key=lambda piece: piece[2], default=(0, 0, 0))
    return text[start:end]


def _bullets(store: MemoryStore, kind: str, hits: Sequence[int], top_k: int, token_budget: int) -> tuple[Bullet, ...]:
    """The bullets that say the best hits in other words, best first; ``hits`` are the events that come back."""
    if top_k < 1 or not hits:
        return ()
    with store.reading() as db, one_moment(db):
        summaries = bullet_rows.summaries_behind(db, kind, hits)
        chosen: dict[str, int] = {}
        for id, tokens in (summary for seq in hits for summary in summaries.get(seq, ())):
            if len(chosen) < top_k and tokens <= token_budget - sum(chosen.values()):
                chosen.setdefault(id, tokens)
        bullets = {bullet.id: bullet for bullet in bullet_rows.load(db, kind, chosen)}
    return tuple(bullets[id] for id in chosen)
