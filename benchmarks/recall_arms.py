"""How much of the evidence for a question each way of ranking finds, on conversations of LoCoMo.

    python -m benchmarks.recall_arms ../shared/data/locomo/26.json --model ../shared/models/all-MiniLM-L6-v2-int8

Each conversation is written to a tape, all of it behind one bullet, and each question is asked of ``recall``'s own
candidates and budget. A question counts as found when every turn that its answer rests on comes back; ``parts`` is
the mean share of these turns. Adversarial questions (category 5) have no answer and are left out. Also printed: the
likeness that 99 of 100 questions' best evidence exceeds, which is the embedder's threshold.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from memory.candidates import Candidates, behind_bullets
from memory.local_embeddings import LocalEmbedder
from memory.ranking import BLEND_SPREAD, Blend, Dense, Keyword, RankFusion, Ranking, Recency, Spread
from memory.retrieval import MAX_CHUNKS, TOKEN_BUDGET, WINDOW, pick
from memory.store import CONVERSATION, MemoryStore
from memory.values import Bullet, NewEvent
from memory.vector_cache import VectorCache
from memory.vectors import embed_waiting

ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: frozenset[int]
    """``seq`` of each turn that the answer rests on."""


@dataclass(frozen=True, slots=True)
class Found:
    """Of one arm over all questions."""

    whole: float
    parts: float
    tokens: float


def conversations(path: Path) -> Iterator[tuple[list[tuple[str, str]], list[Any]]]:
    """Turns as (id, words) and questions, of one file with one or with several conversations."""
    content = json.loads(path.read_text(encoding="utf-8"))
    for entry in content if isinstance(content, list) else [content]:
        talk = entry.get("conversation", entry)
        sessions = sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
        turns = [(turn["dia_id"], _words(turn)) for session in sessions for turn in talk[session]]
        yield turns, entry["qa"]


def _words(turn: dict[str, str]) -> str:
    caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def fill(store: MemoryStore, turns: Sequence[tuple[str, str]], asked: Iterable[Any]) -> list[Question]:
    """Put a conversation on the tape behind one bullet; the questions whose evidence is there."""
    seqs = {
        id: store.append(NewEvent(text=words, role="user" if n % 2 == 0 else "assistant")).seq
        for n, (id, words) in enumerate(turns)
    }
    bullet = Bullet("all", "all", (), tuple(seqs.values()), 1, False, "summary", 1)
    store.replace_bullets(CONVERSATION, (), [bullet])
    questions = []
    for qa in asked:
        ids = re.findall(r"D\d+:\d+", " ".join(qa.get("evidence", ())))
        evidence = frozenset(seqs[id] for id in ids if id in seqs)
        if evidence and qa["category"] != ADVERSARIAL:
            questions.append(Question(qa["question"], evidence))
    return questions


def arms(store: MemoryStore, dense: Dense) -> dict[str, Ranking]:
    keyword = Keyword(store)
    near = (0.3, 0.1)
    return {
        "recency": Recency(),
        "dense": dense,
        "bm25": keyword,
        "dense, spread": Spread(dense, near),
        "bm25, spread": Spread(keyword, near),
        "rrf": RankFusion((dense, keyword), k=60),
        "rrf of both spread": RankFusion((Spread(dense, near), Spread(keyword, near)), k=60),
        "rrf of both spread, k=20": RankFusion((Spread(dense, BLEND_SPREAD), Spread(keyword, BLEND_SPREAD))),
        "blend": Blend(dense, keyword, weights=()),
        "blend, spread (shipped)": Blend(dense, keyword),
    }


def measure(
    arm: Ranking, questions: Sequence[Question], candidates: Candidates, chunks: int, budget: int
) -> list[tuple[bool, float, int]]:
    results = []
    for question in questions:
        scores = arm.scores(question.text, candidates)
        picked = pick(scores, candidates, chunks, WINDOW, budget)
        places = {*picked.hits, *picked.neighbours}
        found = {candidates.seqs[place] for place in places}
        share = len(question.evidence & found) / len(question.evidence)
        results.append((share == 1, share, sum(candidates.tokens[place] for place in places)))
    return results


def likeness(dense: Dense, questions: Sequence[Question], candidates: Candidates) -> list[float]:
    """For each question that of its most alike evidence."""
    best = []
    for question in questions:
        scores = dense.scores(question.text, candidates)
        best.append(max(float(scores[n]) for n, seq in enumerate(candidates.seqs) if seq in question.evidence))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="LoCoMo conversations as JSON")
    parser.add_argument("--model", type=Path, required=True, help="folder with an ONNX embedding model")
    parser.add_argument("--chunks", type=int, default=MAX_CHUNKS)
    parser.add_argument("--budget", type=int, default=TOKEN_BUDGET)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    embedder = LocalEmbedder(None, folder=given.model, cache_dir=Path(), may_fetch=False)
    results: dict[str, list[tuple[bool, float, int]]] = {}
    best: list[float] = []
    with TemporaryDirectory() as folder:
        for number, (turns, asked) in enumerate(c for path in given.files for c in conversations(path)):
            with MemoryStore(Path(folder) / f"{number}.db") as store:
                questions = fill(store, turns, asked)
                embed_waiting(store, embedder)
                candidates = behind_bullets(store, CONVERSATION)
                dense = Dense(embedder, *VectorCache().look_up(store, embedder.stamp, candidates.hashes))
                best += likeness(dense, questions, candidates)
                for name, arm in arms(store, dense).items():
                    results.setdefault(name, []).extend(measure(arm, questions, candidates, given.chunks, given.budget))
    table = {name: Found(*(float(mean) for mean in np.mean(rows, axis=0))) for name, rows in results.items()}
    threshold = float(np.percentile(best, 1))
    if given.json:
        flat = {name: {"whole": f.whole, "parts": f.parts, "tokens": f.tokens} for name, f in table.items()}
        print(json.dumps({"arms": flat, "questions": len(best), "threshold": threshold}))
        return
    print(f"{len(best)} questions, {given.chunks} chunks, window {WINDOW}, {given.budget} tokens\n")
    print(f"{'ranked by':<28}{'found':>8}{'parts':>8}{'tokens':>8}")
    for name, found in table.items():
        print(f"{name:<28}{found.whole:>8.1%}{found.parts:>8.1%}{found.tokens:>8.0f}")
    print(f"\nthreshold: {threshold:.2f}")


if __name__ == "__main__":
    main()
