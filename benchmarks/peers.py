"""Otto's recall beside other memories for agents, on the same conversations of LoCoMo in one run.

    python -m benchmarks.peers --data FOLDER [--conversation N ...] [--model FOLDER] [--json]

The strict figure: which share of a question's evidence is among the best 5, 10 and 20 turns, with no neighbours and no
budget; the mean over all questions of categories 1 to 4. Each peer is installed from the package index into an
environment of its own and used as its documentation shows, with nothing set. Beside them stand two plain queries of
SQLite's keyword index that ask for any word of the question.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from platformdirs import user_cache_path

from benchmarks.peer_child import PEERS
from memory.bench_summarizers import CANNED, summarizer
from memory.box_embeddings import BoxEmbedder
from memory.embeddings import Embedder
from memory.errors import OttoError
from memory.local_embeddings import LocalEmbedder
from memory.locomo import ADVERSARIAL, Talk, load, words_of
from memory.recall_bench import WORKING_BUDGETS, Asked, Setting, asked_of
from memory.recall_evaluation import Wanted, evaluate
from memory.recall_scores import BUDGETS, DEPTHS

STEMMED = "porter unicode61 remove_diacritics 2"
UNSTEMMED = "unicode61 remove_diacritics 2"


class PeerFailed(OttoError):
    """A peer could not be installed, or did not answer."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one memory finds."""

    name: str
    shares: dict[int, float]
    """By how many of the best turns are looked at."""

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, **{f"at_{depth}": round(share, 4) for depth, share in self.shares.items()}}


def questions_of(talk: Talk) -> list[Asked]:
    """Those that have evidence and an answer."""
    return [asked for asked in asked_of(talk) if asked.question.category != ADVERSARIAL]


def mean_shares(found: Iterable[tuple[Asked, Mapping[int, Sequence[str]]]]) -> dict[int, float]:
    """For each depth the mean share of a question's evidence among what came back."""
    shares: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for asked, ids in found:
        for depth in DEPTHS:
            hits = {turn.id for turn in asked.evidence}.intersection(ids[depth][:depth])
            shares[depth].append(len(hits) / len(asked.evidence))
    return {depth: sum(each) / len(each) for depth, each in shares.items()}


def keyword_index(talks: Sequence[Talk], name: str, tokenizer: str) -> Line:
    """FTS5's BM25 for any word of the question, nothing else."""
    found = []
    for talk in talks:
        db = sqlite3.connect(":memory:")
        db.execute(f"CREATE VIRTUAL TABLE said USING fts5(words, tokenize='{tokenizer}')")
        db.executemany("INSERT INTO said (words) VALUES (?)", [(words_of(turn),) for turn in talk.turns])
        for asked in questions_of(talk):
            query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", asked.question.text))
            rows = db.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?", (query, max(DEPTHS)))
            ids = [talk.turns[row - 1].id for (row,) in rows]
            found.append((asked, {depth: ids[:depth] for depth in DEPTHS}))
        db.close()
    return Line(name, mean_shares(found))


def peer(talks: Sequence[Talk], name: str, python: Path) -> Line:
    """Ask a peer in a process of its own.

    Raises:
        PeerFailed: it did not answer; the sentence has the end of what it said.
    """
    given = {
        "peer": name,
        "depths": list(DEPTHS),
        "talks": [
            {
                "turns": [(turn.id, words_of(turn)) for turn in talk.turns],
                "questions": [asked.question.text for asked in questions_of(talk)],
            }
            for talk in talks
        ],
    }
    child = Path(__file__).with_name("peer_child.py")
    done = subprocess.run([python, "-I", child], input=json.dumps(given), capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(f"{name} did not answer: {_last_line(done.stderr)}.")
    answer = json.loads(done.stdout)
    found = [
        (asked, {depth: ids[str(depth)] for depth in DEPTHS})
        for talk, said in zip(talks, answer["talks"], strict=True)
        for asked, ids in zip(questions_of(talk), said, strict=True)
    ]
    return Line(f"{name} {answer['version']}", mean_shares(found))


def install(folder: Path) -> Path:
    """An environment with the peers in it; its Python.

    Raises:
        PeerFailed: they cannot be installed, as without a network.
    """
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    commands: list[list[str | Path]] = [[python, "-m", "pip", "install", "--quiet", *PEERS]]
    if not python.exists():
        commands.insert(0, [sys.executable, "-m", "venv", folder])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PeerFailed(
                f"{' and '.join(PEERS)} could not be installed into {folder}: {_last_line(done.stderr)}."
                " Look at the network, or run with --without-peers."
            )
    return python


def otto(talks: Sequence[Talk], embedders: Sequence[tuple[str, Embedder | None]], folder: Path) -> list[Line]:
    """Otto as it ships, over conversations that it has compacted."""
    report = evaluate(
        Wanted(
            talks=talks,
            sets=[[talk.name for talk in talks]],
            setting=Setting(*WORKING_BUDGETS),
            summarize=summarizer(CANNED),
            embedders=[embedder for _, embedder in embedders],
            arms=[None],
            budgets=BUDGETS[:1],
            folder=folder,
        )
    )
    return [Line(f"Otto, {name}", dict(row.at)) for (name, _), row in zip(embedders, report.rows, strict=True)]


def measure(talks: Sequence[Talk], model: Path | None, *, without_peers: bool) -> list[Line]:
    lines = [
        keyword_index(talks, "FTS5, porter, any word", STEMMED),
        keyword_index(talks, "BM25, no stemming", UNSTEMMED),
    ]
    if not without_peers:
        python = install(user_cache_path("otto") / "benchmarks" / "peers")
        lines += [peer(talks, name, python) for name in PEERS]
    embedders: list[tuple[str, Embedder | None]] = [("no embedder", None), ("embedder in the box", BoxEmbedder())]
    if model is not None:
        embedders.append((model.name, LocalEmbedder(None, folder=model, cache_dir=Path(), may_fetch=False)))
    with TemporaryDirectory(prefix="otto-bench-") as folder:
        return [*lines, *otto(talks, embedders, Path(folder))]


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "it said nothing"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a file or a folder with conversations of LoCoMo")
    parser.add_argument("--conversation", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--model", type=Path, help="folder with an ONNX embedding model, to measure it as well")
    parser.add_argument("--without-peers", action="store_true", help="install nothing")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    try:
        talks = [talk for talk in load(given.data) if not given.conversation or talk.name in given.conversation]
        if not talks:
            parser.error(f"none of {', '.join(given.conversation)} is in {given.data}")
        lines = measure(talks, given.model, without_peers=given.without_peers)
    except OttoError as error:
        print(error, file=sys.stderr)
        return 1
    names, count = [talk.name for talk in talks], sum(len(questions_of(talk)) for talk in talks)
    if given.json:
        rows = [line.as_json() for line in lines]
        print(json.dumps({"conversations": names, "questions": count, "rows": rows}))
        return 0
    print(f"{count} questions, conversations {', '.join(names)}\n")
    print(f"{'share of the evidence among the best':<40}" + "".join(f"{depth:>8}" for depth in DEPTHS))
    for line in lines:
        print(f"{line.name:<40}" + "".join(f"{line.shares[depth]:>8.3f}" for depth in DEPTHS))
    if given.model is None:
        print("\nNo transformer was measured: name a folder with one by --model.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
