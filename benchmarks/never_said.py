"""How often recall stays silent: on questions that have an answer, and on those about what was never said.

    python -m benchmarks.never_said tests/recall/skarvik.json ../shared/data/locomo --embedder box

For each file or folder, one line for each kind of question: with an answer, adversarial (category 5 of LoCoMo, asks
one speaker about what the other said) and about what was never said at all (those that name no evidence). Told are the
share of questions for which nothing comes back, the share of which no word stands anywhere in what can be recalled, and
the likeness of the best candidate at the 5th, 50th and 95th percentile.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from memory.bench_summarizers import CANNED, summarizer
from memory.candidates import behind_bullets
from memory.embeddings import Embedder, choose_embedder
from memory.local_embeddings import LocalEmbedder
from memory.locomo import ADVERSARIAL, Question, load
from memory.recall_bench import WORKING_BUDGETS, Setting, asked_of, embedded, replay
from memory.retrieval import recall
from memory.store import CONVERSATION, MemoryStore
from memory.timed_embedder import TimedEmbedder
from memory.vector_cache import VectorCache
from memory.word_arms import Keyword

ANSWERED, SWAPPED, NEVER_SAID = "with an answer", "adversarial", "never said"


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question."""

    kind: str
    silent: bool
    wordless: bool
    """No word of it stands anywhere in what can be recalled."""
    likeness: float
    """Of the best candidate."""


@dataclass(frozen=True, slots=True)
class Row:
    """All questions of one kind."""

    source: str
    kind: str
    questions: int
    silent: float
    wordless: float
    likeness: tuple[float, float, float]
    """At the 5th, 50th and 95th percentile."""


def kind_of(question: Question) -> str:
    if question.category != ADVERSARIAL:
        return ANSWERED
    return SWAPPED if question.evidence else NEVER_SAID


def ask(path: Path, embedder: Embedder, folder: Path) -> Iterator[Asked]:
    """Replay each conversation and ask production's ``recall`` every question at its default settings."""
    timed, cache = TimedEmbedder(embedder), VectorCache()
    for talk in load(path):
        tape = replay(talk, Setting(*WORKING_BUDGETS), summarizer(CANNED), folder)
        with MemoryStore(embedded(tape, timed), read_only=True) as store:
            candidates = behind_bullets(store, CONVERSATION)
            texts = [event.text for event in store.events_at(dict.fromkeys(candidates.seqs))]
            rows = timed.embed_passages(texts)
            for asked in asked_of(talk):
                question = asked.question
                result = recall(store, CONVERSATION, question.text, embedder=timed, cache=cache)
                words = Keyword(store).scores(question.text, candidates)
                likeness = float((rows @ timed.embed_query(question.text)).max())
                yield Asked(kind_of(question), not result.items, not (words > 0).any(), likeness)


def rows(source: str, asked: Sequence[Asked]) -> Iterator[Row]:
    for kind in (ANSWERED, SWAPPED, NEVER_SAID):
        these = [each for each in asked if each.kind == kind]
        if these:
            low, middle, high = np.percentile([each.likeness for each in these], (5, 50, 95))
            yield Row(
                source,
                kind,
                len(these),
                silent=sum(each.silent for each in these) / len(these),
                wordless=sum(each.wordless for each in these) / len(these),
                likeness=(round(float(low), 3), round(float(middle), 3), round(float(high), 3)),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="conversations in LoCoMo's layout, or folders with them")
    parser.add_argument("--embedder", default="box", help="as in the settings, or a folder with weights")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if Path(given.embedder).is_dir():
        embedder: Embedder | None = LocalEmbedder(None, folder=Path(given.embedder), cache_dir=Path(), may_fetch=False)
    else:
        embedder = choose_embedder(given.embedder, environ=os.environ, local_only=False, wait=True).embedder
    if embedder is None:
        parser.error("without an embedder recall is never silent: it falls back to the newest")
    with TemporaryDirectory() as folder:
        told = [row for path in given.paths for row in rows(path.stem, list(ask(path, embedder, Path(folder))))]
    if given.json:
        print(json.dumps([asdict(row) for row in told]))
        return
    print(f"{embedder.stamp}, threshold {embedder.threshold}, sure {embedder.sure}\n")
    print(f"{'':<12}{'questions':<18}{'number':>7}{'silent':>8}{'no word':>9}   likeness at 5, 50 and 95%")
    for row in told:
        figures = " ".join(f"{value:.2f}" for value in row.likeness)
        print(f"{row.source:<12}{row.kind:<18}{row.questions:>7}{row.silent:>8.1%}{row.wordless:>9.1%}   {figures}")


if __name__ == "__main__":
    main()
