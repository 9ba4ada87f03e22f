"""Where an embedding model's likeness stops meaning anything, measured on labelled pairs (seed 002, "Thresholds belong
to the embedder"): what ``otto eval-thresholds`` prints.

The pairs, in ``labelled/pairs.toml``, are questions and things that were said, written for Otto. Two figures come of
them. ``threshold`` serves recall: it is the highest that still lets ``KEPT`` of the related pairs through, because what
it hides stays hidden, while what it lets through too much only costs room. ``sure`` serves silence: it is the lowest
that keeps out all but ``LET_IN`` of the unrelated pairs, for questions of which no word was ever said.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.embeddings import Embedder

KEPT = 0.97
"""Of the related pairs, the share that ``threshold`` has to let through."""

LET_IN = 0.01
"""Of the unrelated pairs, the share that ``sure`` may let through."""

PERCENTILES = (0, 1, 3, 5, 25, 50, 75, 95, 97, 99, 100)

_STEPS_BESIDE = 3
"""Candidates that are shown on either side of the two that were chosen."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, and the id of something that was said."""

    asks: str
    memory: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """The labelled set."""

    memories: dict[str, str]
    """What was said, by id; the id begins with its domain."""
    related: tuple[Pair, ...]
    unrelated: tuple[Pair, ...]

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(id.partition("-")[0] for id in self.memories))


@dataclass(frozen=True, slots=True)
class Measured:
    """One pair with what a model makes of it."""

    pair: Pair
    likeness: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a threshold would do to the pairs, as shares."""

    threshold: float
    recall: float
    """Of the related pairs, those let through."""
    precision: float
    """Of the pairs let through, those that are related; 1 where none is."""
    let_in: float
    """Of the unrelated pairs, those let through."""

    def as_json(self) -> dict[str, float]:
        shares = {"recall": self.recall, "precision": self.precision, "let_in": self.let_in}
        return {"threshold": self.threshold, **{name: round(share, 4) for name, share in shares.items()}}


@dataclass(frozen=True, slots=True)
class Report:
    """How alike a model finds the pairs of each kind."""

    embedder: str
    """Its stamp."""
    carried: tuple[float | None, float | None]
    """``threshold`` and ``sure`` as the embedder has them now."""
    related: tuple[Measured, ...]
    """The least alike first."""
    unrelated: tuple[Measured, ...]
    """The most alike first."""

    @property
    def threshold(self) -> float:
        """The highest, in hundredths, that at least ``KEPT`` of the related pairs reach."""
        may_go = math.floor(len(self.related) * (1 - KEPT) + 1e-9)
        return math.floor(self.related[may_go].likeness * 100) / 100

    @property
    def sure(self) -> float:
        """The lowest, in hundredths, that at most ``LET_IN`` of the unrelated pairs reach, but no less than
        ``threshold``."""
        may_come = math.floor(len(self.unrelated) * LET_IN + 1e-9)
        above = math.floor(self.unrelated[may_come].likeness * 100 + 1) / 100
        return max(above, self.threshold)

    @property
    def hidden(self) -> tuple[Measured, ...]:
        """The related pairs that ``threshold`` keeps out."""
        return tuple(each for each in self.related if each.likeness < self.threshold)

    def at(self, threshold: float) -> Candidate:
        kept = sum(each.likeness >= threshold for each in self.related)
        let_in = sum(each.likeness >= threshold for each in self.unrelated)
        return Candidate(
            threshold,
            recall=kept / len(self.related),
            precision=kept / (kept + let_in) if kept + let_in else 1.0,
            let_in=let_in / len(self.unrelated),
        )

    def candidates(self) -> list[Candidate]:
        """Thresholds around the two that were chosen, a hundredth apart."""
        near = {
            round(chosen + step / 100, 2)
            for chosen in (self.threshold, self.sure)
            for step in range(-_STEPS_BESIDE, _STEPS_BESIDE + 1)
        }
        return [self.at(threshold) for threshold in sorted(near)]

    def as_json(self) -> dict[str, Any]:
        return {
            "embedder": self.embedder,
            "related": _spread(self.related),
            "unrelated": _spread(self.unrelated),
            "candidates": [candidate.as_json() for candidate in self.candidates()],
            "threshold": self.threshold,
            "sure": self.sure,
            "carried": {"threshold": self.carried[0], "sure": self.carried[1]},
            "hidden": [
                {"question": each.pair.asks, "memory": each.pair.memory, "likeness": round(each.likeness, 4)}
                for each in self.hidden
            ],
        }


def load_pairs() -> Pairs:
    """The labelled set in the box."""
    document = tomllib.loads((Path(__file__).parent / "labelled" / "pairs.toml").read_text(encoding="utf-8"))
    asked = document["questions"]
    return Pairs(
        memories={memory["id"]: memory["text"] for memory in document["memories"]},
        related=tuple(Pair(each["asks"], id) for each in asked for id in each["about"]),
        unrelated=tuple(Pair(each["asks"], id) for each in asked for id in each["unlike"]),
    )


def measure(embedder: Embedder, pairs: Pairs, progress: Callable[[int, int], None] = lambda *_: None) -> Report:
    """Embed the set and compare each pair; ``progress(done, total)`` counts questions.

    Raises:
        EmbeddingUnavailable: the embedder fails.
    """
    ids = {id: row for row, id in enumerate(pairs.memories)}
    rows = embedder.embed_passages(list(pairs.memories.values()))
    asked = list(dict.fromkeys(pair.asks for pair in (*pairs.related, *pairs.unrelated)))
    likeness = {}
    for done, question in enumerate(asked, 1):
        likeness[question] = rows @ embedder.embed_query(question)
        progress(done, len(asked))

    def measured(labelled: Sequence[Pair]) -> list[Measured]:
        alike = [Measured(pair, float(likeness[pair.asks][ids[pair.memory]])) for pair in labelled]
        return sorted(alike, key=lambda each: (each.likeness, each.pair.asks, each.pair.memory))

    return Report(
        embedder.stamp,
        (embedder.threshold, embedder.sure),
        related=tuple(measured(pairs.related)),
        unrelated=tuple(reversed(measured(pairs.unrelated))),
    )


def format_report(report: Report) -> str:
    """The distributions, the candidates with the two that were chosen, and the related pairs that are hidden."""
    heads = "".join(f"{percent:>7}%" for percent in PERCENTILES)
    lines = [
        f"{report.embedder}: {len(report.related)} related and {len(report.unrelated)} unrelated pairs",
        "",
        f"{'likeness at':<11}{heads}",
    ]
    for name, pairs in (("related", report.related), ("unrelated", report.unrelated)):
        lines.append(f"{name:<11}" + "".join(f"{value:>8.3f}" for value in _percentiles(pairs)))
    lines += ["", f"{'threshold':<11}{'recall':>8}{'precision':>11}{'let in':>8}"]
    for each in report.candidates():
        chosen = {report.threshold: "  <- threshold", report.sure: "  <- sure"}.get(each.threshold, "")
        lines.append(f"{each.threshold:<11.2f}{each.recall:>8.1%}{each.precision:>11.1%}{each.let_in:>8.1%}{chosen}")
    lines += ["", *(f"hidden, {each.likeness:.3f}: {each.pair.asks} ({each.pair.memory})" for each in report.hidden)]
    return "\n".join(lines).rstrip()


def _spread(measured: Sequence[Measured]) -> dict[str, Any]:
    shares = {
        f"p{percent}": round(value, 4) for percent, value in zip(PERCENTILES, _percentiles(measured), strict=True)
    }
    return {"pairs": len(measured), **shares}


def _percentiles(measured: Sequence[Measured]) -> list[float]:
    import numpy as np

    return [float(value) for value in np.percentile([each.likeness for each in measured], PERCENTILES)]
