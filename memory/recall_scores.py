"""What recall returns for the questions of a replayed conversation, scored against their evidence.

A turn counts as returned when its exact words stand in what ``recall`` returned of it. Of a question's evidence three
figures are told together: whether any of it came back, which share of it, and whether all of it did. The strict
figures look at the best 5, 10 and 20 turns with no neighbours and no budget.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memory.locomo import ADVERSARIAL, CATEGORIES, words_of
from memory.recall_bench import Asked, Progress
from memory.retrieval import recall
from memory.store import CONVERSATION, MemoryStore
from memory.timed_embedder import TimedEmbedder
from memory.values import RecallItem, RecallResult
from memory.vector_cache import VectorCache

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder

BUDGETS = (600, 1_500, 3_000)
"""Tokens."""

DEPTHS = (5, 10, 20)
"""How many of the best turns the strict figures look at."""

NO_LIMIT = 10_000_000
"""Tokens; more than any conversation has."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A store that is asked with one arm."""

    store: MemoryStore
    embedder: TimedEmbedder | None
    arm: str | None
    """None for the one that ships."""
    cache: VectorCache
    reranker: CrossEncoder | None = None
    """For arms that need one; the one that ships does not."""

    def recall(self, question: str, **limits: Any) -> RecallResult:
        """Raises EmbeddingUnavailable where the embedder failed, instead of an answer that did without it."""
        result = recall(
            self.store,
            CONVERSATION,
            question,
            embedder=self.embedder,
            cache=self.cache,
            reranker=None if self.arm is None else self.reranker,
            arm=self.arm,
            **limits,
        )
        if self.embedder is not None and self.embedder.failure is not None:
            raise self.embedder.failure
        return result


@dataclass(frozen=True, slots=True)
class Returned:
    """What came back for one question within one budget."""

    found: tuple[bool, ...]
    """For each turn of the evidence."""
    items: tuple[RecallItem, ...]
    """Empty where they were not to be kept."""
    pieces: int
    """How many came back."""
    tokens: int
    characters: int
    ms_embed: float
    ms_rank: float

    @property
    def share(self) -> float:
        return sum(self.found) / len(self.found) if self.found else 0.0


@dataclass(frozen=True, slots=True)
class Answered:
    """One question, asked at every budget."""

    conversation: str
    asked: Asked
    by_budget: Mapping[int, Returned]
    at: Mapping[int, float]
    """For each of ``DEPTHS`` the share of the evidence among so many best turns; empty for adversarial questions."""

    @property
    def category(self) -> int:
        return self.asked.question.category


def answer(
    asking: Asking,
    conversation: str,
    asked: Sequence[Asked],
    budgets: Sequence[int],
    *,
    keep: int | None = None,
    progress: Progress = lambda *_: None,
    label: str = "asking",
) -> list[Answered]:
    """Ask every question at every budget, and for the strict figures.

    Args:
        keep: the budget of which what came back is kept to be read; None keeps figures only.
    """
    answers = []
    for place, each in enumerate(asked, 1):
        by_budget = {budget: ask(asking, each, token_budget=budget) for budget in budgets}
        for budget in set(budgets) - {keep}:
            by_budget[budget] = replace(by_budget[budget], items=())
        at = {} if each.question.category == ADVERSARIAL else _at_depths(asking, each)
        answers.append(Answered(conversation, each, by_budget, at))
        progress(label, place, len(asked))
    return answers


def ask(asking: Asking, asked: Asked, **limits: int) -> Returned:
    """Ask one question once; ``limits`` as ``recall`` takes them."""
    embedder = asking.embedder
    waited, cost = (embedder.waited, embedder.cost) if embedder else (0.0, 0.0)
    began = time.perf_counter()
    result = asking.recall(asked.question.text, **limits)
    seconds = time.perf_counter() - began
    if embedder:
        waited, cost = embedder.waited - waited, embedder.cost - cost
    return Returned(
        found=found(asked, result.items),
        items=result.items,
        pieces=len(result.items),
        tokens=result.tokens,
        characters=sum(len(item.text) for item in result.items),
        ms_embed=1000 * cost,
        ms_rank=1000 * (seconds - waited),
    )


def found(asked: Asked, items: Iterable[RecallItem]) -> tuple[bool, ...]:
    """For each turn of the evidence whether its exact words are in these items."""
    texts: dict[str, str] = {}
    for item in items:
        texts[item.id] = texts.get(item.id, "") + item.text
    return tuple(words_of(turn) in texts.get(turn.id, "") for turn in asked.evidence)


def _at_depths(asking: Asking, asked: Asked) -> dict[int, float]:
    shares = dict.fromkeys(DEPTHS, 1.0)
    for depth in sorted(DEPTHS):
        ids = _best_turns(asking, asked.question.text, depth)
        shares[depth] = sum(turn.id in ids for turn in asked.evidence) / len(asked.evidence)
        if shares[depth] == 1.0:
            # What is among the best 5 is among the best 10 as well.
            break
    return shares


def _best_turns(asking: Asking, question: str, depth: int) -> set[str]:
    """So many of the best turns. A long turn has several pieces, so that more pieces than turns may be needed."""
    pieces, before = depth, -1
    while True:
        result = asking.recall(question, max_chunks=pieces, window=0, top_k=0, token_budget=NO_LIMIT)
        turns = {item.id for item in result.items}
        if len(turns) >= depth or len(result.items) == before:
            return turns
        pieces, before = pieces + depth - len(turns), len(result.items)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The three figures, over some questions; shares between 0 and 1."""

    questions: int
    any: float
    mean: float
    all: float

    def as_json(self) -> dict[str, Any]:
        shares = {"any": self.any, "mean": self.mean, "all": self.all}
        return {"questions": self.questions, **{name: round(share, 4) for name, share in shares.items()}}


@dataclass(frozen=True, slots=True)
class Adversarial:
    """What comes back for questions about what was never said."""

    questions: int
    nothing: float
    """Share of questions for which nothing is returned."""
    items_mean: float
    tokens_mean: float

    def as_json(self) -> dict[str, Any]:
        means = {"nothing": self.nothing, "items_mean": self.items_mean, "tokens_mean": self.tokens_mean}
        return {"questions": self.questions, **{name: round(mean, 4) for name, mean in means.items()}}


@dataclass(frozen=True, slots=True)
class Row:
    """One arm with one embedder at one budget, over a set of conversations; adversarial questions apart."""

    arm: str
    embedder: str
    budget: int
    conversations: tuple[str, ...]
    coverage: Coverage
    by_category: Mapping[int, Coverage]
    at: Mapping[int, float]
    tokens_mean: float
    tokens_p95: float
    ms_embed_p50: float
    ms_rank_p50: float
    adversarial: Adversarial

    def as_json(self) -> dict[str, Any]:
        return {
            "arm": self.arm,
            "embedder": self.embedder,
            "budget": self.budget,
            "conversations": list(self.conversations),
            **self.coverage.as_json(),
            "by_category": {str(number): each.as_json() for number, each in self.by_category.items()},
            **{f"at_{depth}": round(share, 4) for depth, share in self.at.items()},
            "tokens_mean": round(self.tokens_mean, 1),
            "tokens_p95": round(self.tokens_p95, 1),
            "ms_embed_p50": round(self.ms_embed_p50, 3),
            "ms_rank_p50": round(self.ms_rank_p50, 3),
        }


def row_of(answers: Iterable[Answered], *, arm: str, embedder: str, budget: int, conversations: Collection[str]) -> Row:
    """Sum up the answers that are about these conversations."""
    about = [each for each in answers if each.conversation in conversations]
    scored = [each for each in about if each.category != ADVERSARIAL]
    returned = [each.by_budget[budget] for each in scored]
    return Row(
        arm=arm,
        embedder=embedder,
        budget=budget,
        conversations=tuple(conversations),
        coverage=coverage_of(returned),
        by_category={
            number: coverage_of([each.by_budget[budget] for each in scored if each.category == number])
            for number in CATEGORIES
            if number != ADVERSARIAL
        },
        at={depth: _mean([each.at[depth] for each in scored]) for depth in DEPTHS},
        tokens_mean=_mean([each.tokens for each in returned]),
        tokens_p95=_percentile([each.tokens for each in returned], 95),
        ms_embed_p50=_percentile([each.ms_embed for each in returned], 50),
        ms_rank_p50=_percentile([each.ms_rank for each in returned], 50),
        adversarial=_adversarial([each.by_budget[budget] for each in about if each.category == ADVERSARIAL]),
    )


def coverage_of(returned: Sequence[Returned]) -> Coverage:
    """The three figures; zeros for no questions."""
    return Coverage(
        questions=len(returned),
        any=_mean([any(each.found) for each in returned]),
        mean=_mean([each.share for each in returned]),
        all=_mean([all(each.found) for each in returned]),
    )


def _adversarial(returned: Sequence[Returned]) -> Adversarial:
    return Adversarial(
        questions=len(returned),
        nothing=_mean([not each.pieces for each in returned]),
        items_mean=_mean([each.pieces for each in returned]),
        tokens_mean=_mean([each.tokens for each in returned]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _percentile(values: Sequence[float], percent: int) -> float:
    import numpy as np

    return float(np.percentile(values, percent)) if values else 0.0
