"""What memory says to a question: the conversation and what tools printed, each ranked by itself (seed 000).

Tool output has no bullet layer: its chunks are ranked directly and never compete with what people said.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory.asked_once import AskedOnce
from memory.budgets import MAX_CHUNKS, TOKEN_BUDGET, WINDOW
from memory.embeddings import Embedder
from memory.retrieval import recall, recall_chunks
from memory.store import CONVERSATION, MemoryStore
from memory.tool_events import TOOL_KIND
from memory.values import RecallResult
from memory.vector_cache import VectorCache
from sessions.options import Options

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder

TOOLS_SHARE = 1 / 3
"""Of a recall's tokens, what tool output may take; what it leaves goes to the conversation."""


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How much one recall returns."""

    max_chunks: int = MAX_CHUNKS
    window: int = WINDOW
    token_budget: int = TOKEN_BUDGET

    @classmethod
    def of(cls, options: Options) -> RecallPolicy:
        """As the person has set it."""
        return cls(options.recall_chunks, options.recall_window, options.recall_tokens)


@dataclass(frozen=True, slots=True)
class InView:
    """What the asker has before its eyes, beyond what the tiers say."""

    left_out: tuple[int, ...] = ()
    """``seq`` of events that stand raw in the tiers, but not in the view for now."""
    verbatim: Collection[int] = ()
    """``seq`` of tool events that stand word for word in a running turn."""
    gone: Collection[int] = ()
    """``seq`` of tool events of which a running turn shows only a line."""


def recall_everything(
    store: MemoryStore,
    question: str,
    policy: RecallPolicy,
    *,
    embedder: Embedder | None = None,
    narrow: bool = False,
    in_view: InView = InView(),
    cache: VectorCache | None = None,
    reranker: CrossEncoder | None = None,
) -> RecallResult:
    """Exact words that are not in view, in time order; items of the kind ``tool`` are what tools printed.

    Never an error for any question. Without a hit, the newest of the conversation is returned, and no tool's output.
    """
    asked = AskedOnce(embedder) if embedder is not None else None
    printed = recall_chunks(
        store,
        TOOL_KIND,
        question,
        embedder=asked,
        max_chunks=policy.max_chunks,
        window=policy.window,
        token_budget=int(policy.token_budget * TOOLS_SHARE),
        narrow=narrow,
        exclude=in_view.verbatim,
        left_out=in_view.gone,
        cache=cache,
        reranker=reranker,
    )
    if printed.ranked_by == "recency" and question.strip():
        printed = replace(printed, items=(), tokens=0)
    said = recall(
        store,
        CONVERSATION,
        question,
        embedder=asked,
        max_chunks=policy.max_chunks,
        window=policy.window,
        token_budget=policy.token_budget - printed.tokens,
        narrow=narrow,
        left_out=in_view.left_out,
        cache=cache,
        reranker=reranker,
    )
    if not printed.items:
        return said
    return replace(
        said,
        ranked_by=said.ranked_by if said.items else printed.ranked_by,
        tokens=said.tokens + printed.tokens,
        items=tuple(sorted((*said.items, *printed.items), key=lambda item: item.seq)),
        warning=said.warning or printed.warning,
    )
