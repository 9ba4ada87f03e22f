"""Recall: exact words that have left the view, found by question or by id (seed 000, "Retrieval"; DESIGN,
"Recall").

By question in two stages: every chunk behind a live bullet is a candidate (bullets never narrow it down:
which bullet a question matches says almost nothing about where its answer is), then the candidates are ranked
themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory import bullet_rows, vectors
from memory.candidates import Candidates, behind_bullets, of_event_kind
from memory.chunking import split
from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.ranking import KEYWORD_SPREAD, Blend, Dense, Keyword, Ranking, Recency, Spread, best_first
from memory.store import MemoryStore
from memory.tokens import count_tokens
from memory.tracing import recall_id
from memory.values import Bullet, Chunk, RecallItem, RecallResult
from memory.vector_cache import VectorCache
from memory.words import match_query

if TYPE_CHECKING:
    from memory.ranking import Scores

__all__ = ["recall", "recall_chunks", "recall_id"]

MAX_CHUNKS = 20
WINDOW = 2
TOKEN_BUDGET = 3_000
BULLETS_SHOWN = 3
"""Bullets that stand behind the best hits and are named above the result."""

PROCEDURAL_TOP_K = 1
PROCEDURAL_CHUNKS = 5
PROCEDURAL_WINDOW = 1
"""The narrow policy: what a model in the middle of a task gets, so that memory does not starve the task."""

BEST_HITS = 5
"""Hits whose neighbours are paid for at once; those of all others wait until every hit is."""


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
) -> RecallResult:
    """Return what was said about ``query`` and no longer stands raw in the view of this queue, in time order.

    Never an error for any query. Without a usable embedder the ranking is by keyword and recency, and the
    result's ``warning`` says why and what to do.

    Args:
        kind: the queue's namespace.
        top_k: bullets to name.
        max_chunks: most hits.
        window: neighbours on either side that come along with a hit.
        token_budget: most tokens of all text together, bullets included.
        narrow: the policy for calls in the middle of a task; caps ``top_k``, ``max_chunks`` and ``window``.
        left_out: ``seq`` of raw events that the view leaves out for now (``View.left_out``).
        cache: the store's vectors, kept by the caller between calls.
    """
    if narrow:
        top_k = min(top_k, PROCEDURAL_TOP_K)
        max_chunks = min(max_chunks, PROCEDURAL_CHUNKS)
        window = min(window, PROCEDURAL_WINDOW)
    candidates = behind_bullets(store, kind, left_out)
    ranked = _rank(store, query, candidates, embedder, cache)
    picked = pick(ranked.scores, candidates, max_chunks, window, token_budget)
    items = _items(store, candidates, ranked, picked, token_budget)
    tokens = sum(count_tokens(item.text) for item in items)
    bullets = _bullets(store, kind, [candidates.seqs[place] for place in picked.hits], top_k, token_budget - tokens)
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
    ranked = _rank(store, query, candidates, embedder, cache)
    picked = pick(ranked.scores, candidates, max_chunks, window, token_budget, same_event=True)
    items = _items(store, candidates, ranked, picked, token_budget)
    return RecallResult(
        ranked_by=ranked.by,
        tokens=sum(count_tokens(item.text) for item in items),
        items=items,
        warning=ranked.warning,
    )


@dataclass(frozen=True)
class _Ranked:
    """Candidates in order of merit."""

    by: str
    scores: Scores
    warning: str | None


@dataclass(frozen=True)
class Picked:
    """Places of the chunks to return."""

    hits: tuple[int, ...]
    """Best first."""
    neighbours: frozenset[int]


def _rank(
    store: MemoryStore, query: str, candidates: Candidates, embedder: Embedder | None, cache: VectorCache | None
) -> _Ranked:
    warning = None
    if not query.strip():
        arm: Ranking = Recency()
        return _Ranked(arm.name, arm.scores(query, candidates), None)
    if embedder is None:
        warning = "No embedding model is in use, so this was ranked by keyword and recency."
    elif len(candidates):
        try:
            dense, warning = _dense(store, embedder, candidates, cache or VectorCache())
            arm = Blend(dense, Keyword(store))
            return _Ranked(arm.name, arm.scores(query, candidates), warning)
        except EmbeddingUnavailable as error:
            warning = f"{error} This was ranked by keyword and recency."
    return _rank_by_keyword(store, query, candidates, warning)


def _rank_by_keyword(store: MemoryStore, query: str, candidates: Candidates, warning: str | None) -> _Ranked:
    """Chunks that share words with the question or stand beside such; where there are none, the newest."""
    import numpy as np

    scores = Spread(Keyword(store), KEYWORD_SPREAD).scores(query, candidates)
    if match_query(query) and (scores > 0).any():
        scores[scores <= 0] = np.nan
        return _Ranked("bm25+recency", scores, warning)
    return _Ranked("recency", Recency().scores(query, candidates), warning)


def _dense(
    store: MemoryStore, embedder: Embedder, candidates: Candidates, cache: VectorCache
) -> tuple[Dense, str | None]:
    """The dense arm for these candidates, and what is wanting in the store's vectors.

    Raises:
        EmbeddingUnavailable: they cannot be ranked by at all.
    """
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
    return Dense(embedder, matrix, places), warning


def pick(
    scores: Scores,
    candidates: Candidates,
    max_chunks: int,
    window: int,
    token_budget: int,
    *,
    same_event: bool = False,
) -> Picked:
    """Spend the budget best first; what does not fit is passed over for what does."""
    hits = [int(place) for place in best_first(scores)[: max(0, max_chunks)]]
    paid: set[int] = set()
    left = token_budget

    def pay(places: Iterable[int]) -> None:
        nonlocal left
        for place in places:
            if place not in paid and candidates.tokens[place] <= left:
                paid.add(place)
                left -= candidates.tokens[place]

    def around(hit: int) -> list[int]:
        near = [hit + side * distance for distance in range(1, window + 1) for side in (-1, 1)]
        near = [place for place in near if 0 <= place < len(candidates)]
        return [place for place in near if not same_event or candidates.seqs[place] == candidates.seqs[hit]]

    for hit in hits[:BEST_HITS]:
        pay([hit])
        # A neighbour of a hit that was too large would have nothing to be a neighbour of.
        pay(around(hit) if hit in paid else [])
    pay(hits[BEST_HITS:])
    for hit in hits[BEST_HITS:]:
        pay(around(hit) if hit in paid else [])
    if hits and not paid:
        # Even the best does not fit: it is returned in part.
        return Picked((hits[0],), frozenset())
    return Picked(tuple(hit for hit in hits if hit in paid), frozenset(paid.difference(hits)))


def _items(
    store: MemoryStore, candidates: Candidates, ranked: _Ranked, picked: Picked, token_budget: int
) -> tuple[RecallItem, ...]:
    places = sorted({*picked.hits, *picked.neighbours})
    events = {event.seq: event for event in store.events_at(candidates.seqs[place] for place in places)}
    chunks = {chunk.hash: chunk for found in store.chunks_of(events).values() for chunk in found}
    items = []
    for place in places:
        event, chunk = events[candidates.seqs[place]], chunks[candidates.hashes[place]]
        text = _fitting(event.text[chunk.start : chunk.end], chunk, token_budget)
        if not text:
            continue
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
    return tuple(items)


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
    """The bullets that say the best hits in other words, best first; ``hits`` are the events of the hits."""
    if top_k < 1 or not hits:
        return ()
    with store.reading() as db, _one_moment(db):
        summaries = bullet_rows.summaries_behind(db, kind, hits)
        chosen: dict[str, int] = {}
        for id, tokens in (summary for seq in hits for summary in summaries.get(seq, ())):
            if len(chosen) < top_k and tokens <= token_budget - sum(chosen.values()):
                chosen.setdefault(id, tokens)
        bullets = {bullet.id: bullet for bullet in bullet_rows.load(db, kind, chosen)}
    return tuple(bullets[id] for id in chosen)


@contextmanager
def _one_moment(db: sqlite3.Connection) -> Iterator[None]:
    """All that is read inside is of the same moment, whatever a compaction swaps in meanwhile."""
    db.execute("SAVEPOINT one_moment")
    try:
        yield
    finally:
        db.execute("RELEASE one_moment")
