"""An invented conversation of 458 turns, what is asked about it, and what recall returned when the ranking landed.

``skarvik.json`` is written for Otto, in LoCoMo's layout: a person builds a tide gauge with an assistant over two
months. Names, dates, code, errors, paths, decisions that change and lists that are spread over weeks are asked for, a
few of them in other languages, and some things that were never said. Each question also has a ``kind``.

    python -m tests.recall.gate

prints the figures that ``FIGURES`` holds, and what was missed. ``otto eval-memory --data tests/recall/skarvik.json``
measures the same file (its questions are numbered as LoCoMo's: 1 multi-hop, 2 date, 3 paraphrase, 4 all others, 5 never
said).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memory.bench_summarizers import CANNED, summarizer
from memory.budgets import TOKEN_BUDGET
from memory.embeddings import Embedder
from memory.local_embeddings import LocalEmbedder
from memory.locomo import ADVERSARIAL, load
from memory.recall_bench import WORKING_BUDGETS, Asked, Replayed, Setting, asked_of, embedded, replay
from memory.recall_scores import Asking, ask
from memory.store import MemoryStore
from memory.timed_embedder import TimedEmbedder
from memory.vector_cache import VectorCache
from tests.memory.embedders import MINILM

FILE = Path(__file__).parent / "skarvik.json"
BUDGETS = (TOKEN_BUDGET, 600)

NONE, BOX, MODEL = "none", "box", "model"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the questions that have an answer, how many are found; and of those about what was never said, how many are
    met with nothing."""

    any: int
    """Questions with any of their evidence returned."""
    shares: float
    """The shares of evidence returned, added up."""
    all: int
    nothing: int


FIGURES: Mapping[tuple[str, int], Figures] = {
    (NONE, 3_000): Figures(67, 66.13, 65, 0),
    (NONE, 600): Figures(59, 56.03, 54, 0),
    (BOX, 3_000): Figures(70, 69.5, 69, 18),
    (BOX, 600): Figures(62, 58.73, 56, 18),
    (MODEL, 3_000): Figures(71, 69.83, 69, 17),
    (MODEL, 600): Figures(68, 64.7, 62, 17),
}
"""As measured when the shipped ranking landed; ``MODEL`` is all-MiniLM-L6-v2 (int8)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question."""

    kind: str
    asked: Asked
    found: tuple[bool, ...]
    pieces: int


def model_folder() -> Path | None:
    """A folder with the transformer's weights, where there is one."""
    named = os.environ.get("OTTO_EMBEDDING__MODEL_PATH")
    if named:
        return Path(named)
    return MINILM if MINILM.is_dir() else None


def embedders() -> list[str]:
    """What can be tried on this machine: without an embedder and with the one in the box anywhere."""
    return [NONE, BOX, *([MODEL] if model_folder() else [])]


def open_embedder(name: str) -> Embedder | None:
    if name == NONE:
        return None
    if name == BOX:
        from memory.box_embeddings import BoxEmbedder

        return BoxEmbedder()
    return LocalEmbedder(None, folder=model_folder(), cache_dir=Path(), may_fetch=False)


def replayed(folder: Path) -> Replayed:
    """The conversation on a tape that has been compacted some forty times; nothing of it stands raw in the view."""
    (talk,) = load(FILE)
    return replay(talk, Setting(*WORKING_BUDGETS), summarizer(CANNED), folder)


def kinds() -> dict[str, str]:
    """Of each question."""
    return {asked["question"]: asked["kind"] for asked in document()["qa"]}


def document() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def answers(tape: Replayed, name: str) -> dict[int, list[Answer]]:
    """Ask production's ``recall`` every question, at its default settings but for the budget; by budget."""
    kind = kinds()
    told: dict[int, list[Answer]] = {budget: [] for budget in BUDGETS}
    with _asking(tape, name) as asking:
        for asked in asked_of(tape.talk):
            for budget in BUDGETS:
                returned = ask(asking, asked, token_budget=budget)
                told[budget].append(Answer(kind[asked.question.text], asked, returned.found, returned.pieces))
    return told


def figures(told: Sequence[Answer]) -> Figures:
    scored = [each for each in told if each.asked.question.category != ADVERSARIAL]
    return Figures(
        any=sum(any(each.found) for each in scored),
        shares=round(sum(sum(each.found) / len(each.found) for each in scored), 2),
        all=sum(all(each.found) for each in scored),
        nothing=sum(not each.pieces for each in told if each.asked.question.category == ADVERSARIAL),
    )


@contextmanager
def _asking(tape: Replayed, name: str) -> Iterator[Asking]:
    embedder = open_embedder(name)
    timed = TimedEmbedder(embedder) if embedder else None
    path = embedded(tape, timed) if timed else tape.path
    with MemoryStore(path, read_only=True) as store:
        yield Asking(store, timed, None, VectorCache())


def main() -> None:
    with TemporaryDirectory() as folder:
        tape = replayed(Path(folder))
        for name in embedders():
            for budget, told in answers(tape, name).items():
                print(f"    ({name.upper()}, {budget:_}): Figures{astuple(figures(told))},")
                missed = [each for each in told if not all(each.found)]
                for each in missed:
                    lost = [t.id for t, found in zip(each.asked.evidence, each.found, strict=True) if not found]
                    print(f"        # {each.kind}: {each.asked.question.text} {' '.join(lost)}")


if __name__ == "__main__":
    main()
