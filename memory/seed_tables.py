"""The tables of seed 000 ("Retrieval", "Finding"), measured again: knobs of recall, and summarisers that cite badly."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memory.locomo import ADVERSARIAL
from memory.recall_bench import WORKING_BUDGETS, Asked, Replayed, Setting
from memory.recall_scores import NO_LIMIT, Asking, Returned, ask, coverage_of

CONVERSATION, TURNS = "26", 250
"""What the seed replayed, at ``WORKING_BUDGETS``."""

SEED_NAMES: Mapping[int, str] = {1: "single-hop", 2: "temporal", 3: "multi-hop", 4: "open-domain"}
"""What the seed calls LoCoMo's categories; the benchmark's authors name 1, 3 and 4 otherwise."""

SEED_QUESTIONS: Mapping[int, int] = {1: 28, 2: 24, 3: 8, 4: 41}
SEED_RECALLED: Mapping[int, float] = {1: 0.96, 2: 0.92, 3: 0.88, 4: 1.0}
SEED_RECALLED_OVERALL = 0.96


@dataclass(frozen=True, slots=True)
class Knobs:
    """A row of the seed's table of chunks and neighbours, with what the seed measured."""

    chunks: int | None
    """Most hits; None for all, of which the seed does not say with how many neighbours."""
    neighbours: int
    seed_coverage: float
    seed_characters: int


KNOBS = (
    Knobs(5, 0, 0.653, 922),
    Knobs(5, 1, 0.792, 2_112),
    Knobs(5, 2, 0.842, 3_189),
    Knobs(10, 2, 0.901, 6_293),
    Knobs(20, 2, 0.960, 11_526),
    Knobs(40, 2, 0.980, 19_660),
    Knobs(None, 2, 0.990, 38_033),
)


@dataclass(frozen=True, slots=True)
class Turned:
    """What recall returns with its knobs so, with no budget of tokens."""

    knobs: Knobs
    coverage: float
    """Share of questions with any evidence returned, as the seed counts."""
    mean: float
    all: float
    characters: float
    """Mean of what is returned for a question."""

    def as_json(self) -> dict[str, Any]:
        return {
            "chunks": self.knobs.chunks,
            "neighbours": self.knobs.neighbours,
            "any": round(self.coverage, 4),
            "mean": round(self.mean, 4),
            "all": round(self.all, 4),
            "characters": round(self.characters),
            "seed_any": self.knobs.seed_coverage,
            "seed_characters": self.knobs.seed_characters,
        }


@dataclass(frozen=True, slots=True)
class Cited:
    """What can be found behind the bullets of a summariser."""

    summarizer: str
    generations: int
    chunks: int
    reachable: int
    any: float
    mean: float
    all: float

    def as_json(self) -> dict[str, Any]:
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}


def is_seeds_own(setting: Setting, conversations: Collection[str]) -> bool:
    """Whether this is what the seed measured, so that its figures can stand beside."""
    budgets = (setting.x_budget, setting.y_budget)
    return tuple(conversations) == (CONVERSATION,) and setting.turns == TURNS and budgets == WORKING_BUDGETS


def turned(talks: Sequence[tuple[Asking, Sequence[Asked]]]) -> Iterator[Turned]:
    """Ask the questions that have answers with each of ``KNOBS``.

    Args:
        talks: each conversation's store and what is asked of it.
    """
    for knobs in KNOBS:
        limits = {
            "max_chunks": NO_LIMIT if knobs.chunks is None else knobs.chunks,
            "window": knobs.neighbours,
            "top_k": 0,
            "token_budget": NO_LIMIT,
        }
        returned = [
            ask(asking, each, **limits)
            for asking, asked in talks
            for each in asked
            if each.question.category != ADVERSARIAL
        ]
        figures = coverage_of(returned)
        characters = sum(each.characters for each in returned) / max(1, len(returned))
        yield Turned(knobs, figures.any, figures.mean, figures.all, characters)


def cited(name: str, replays: Sequence[Replayed], returned: Sequence[Returned]) -> Cited:
    """Sum up the replays under one summariser and what recall returned of them."""
    figures = coverage_of(returned)
    return Cited(
        summarizer=name,
        generations=sum(each.facts.generations for each in replays),
        chunks=sum(each.facts.chunks for each in replays),
        reachable=sum(each.facts.reachable for each in replays),
        any=figures.any,
        mean=figures.mean,
        all=figures.all,
    )
