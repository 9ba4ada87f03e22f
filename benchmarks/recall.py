"""What recall costs: ranking beside the least that it could, all of it beside embedding the question, and memory.

python benchmarks/recall.py [--model FOLDER] [--json]

One process, one run, ratios. The least is one matrix-vector product over all vectors and one query of the keyword
index; ranking is ``recall`` with the question's vector at hand, words and bullets read included.
The conversation is made up (``benchmarks/long_tapes.py``) and grows from one size to the next; with 100,000 chunks that
takes some minutes. ``--model`` or ``OTTO_EMBEDDING__MODEL_PATH`` names a folder with an ONNX model for fastembed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

if TYPE_CHECKING:
    from benchmarks.long_tapes import Words
    from benchmarks.ratios import Ratio
    from benchmarks.recall_timing import Times
    from memory.embeddings import Embedder
    from memory.store import MemoryStore

SIZES = (1_000, 10_000, 100_000)
"""Chunks."""

ASKED = 40
"""Questions at each size."""

WHOLE_AT = 10_000
"""Chunks at which all of ``recall`` is set beside embedding the question."""

WHOLE_TARGET = 3.0

TEXTS = 320
"""Embedded by each embedder."""

TARGETS_AT = 100_000
"""Chunks. At fewer, what each recall costs whatever the size outweighs the rest."""

RANKING_TARGET = 3.0
"""Times the least."""

MEMORY_TARGET = 300.0
"""Megabytes."""

MODEL_VARIABLE = "OTTO_EMBEDDING__MODEL_PATH"


def measure(sizes: Sequence[int], model: Path | None) -> Iterator[Ratio]:
    from benchmarks.long_tapes import Words, grow
    from benchmarks.recall_timing import megabytes_held, time_ranking
    from memory.store import MemoryStore

    before: Times | None = None
    with tempfile.TemporaryDirectory(prefix="otto-bench-") as folder:
        path = Path(folder) / "tape.db"
        words = Words()
        for place, size in enumerate(sizes):
            with MemoryStore(path) as store:
                _say(f"growing the conversation to {size:,} chunks")
                grow(store, words, size)
                questions = _questions(store, words)
                _say(f"asking {len(questions)} questions")
                times = time_ranking(store, questions)
                yield from _ranking(size, times)
                if before is not None:
                    yield _growth(sizes[place - 1], before, size, times)
                if size == min(WHOLE_AT, sizes[-1]):
                    yield from _whole(store, questions, model)
            before = times
        with MemoryStore(path, read_only=True) as store:
            held, most = megabytes_held(store, questions[0])
    yield _megabytes(f"memory_held_{sizes[-1]}", held)
    yield _megabytes(f"memory_most_{sizes[-1]}", most)
    yield from _embedders(words, model)


def _questions(store: MemoryStore, words: Words) -> list[str]:
    """Each about something that was said anywhere in the conversation."""
    events = store.counts().events
    return [words.asked(store.event(words.dice.randint(1, events)).text) for _ in range(ASKED)]


def _ranking(size: int, times: Times) -> Iterator[Ratio]:
    from benchmarks.ratios import ratio, ratio_at

    target = RANKING_TARGET if size >= TARGETS_AT else None
    yield ratio(f"ranking_{size}_p50", times.ranked, times.floor, target)
    yield ratio_at(95, f"ranking_{size}_p95", times.ranked, times.floor, target)
    yield ratio(f"ranking_{size}_after_a_turn", times.after_a_turn, times.floor, target)
    yield ratio(f"by_keyword_{size}", times.by_keyword, times.floor, target)


def _growth(small: int, before: Times, large: int, after: Times) -> Ratio:
    """The cost at the larger size beside what it would be if it had grown as the conversation has."""
    from benchmarks.ratios import ratio

    linear = [seconds * large / small for seconds in before.ranked]
    return ratio(f"growth_{small}_to_{large}", after.ranked, linear, target=1.0)


def _whole(store: MemoryStore, questions: Sequence[str], model: Path | None) -> Iterator[Ratio]:
    from benchmarks.ratios import ratio
    from benchmarks.recall_timing import time_whole

    for name, embedder in _models(model):
        # The embedder in the box takes so little that no recall could be near it.
        target = WHOLE_TARGET if name == "model" else None
        yield ratio(f"recall_to_embedding_{name}", *time_whole(store, embedder, questions), target)


def _embedders(words: Words, model: Path | None) -> Iterator[Ratio]:
    from benchmarks.ratios import ratio
    from benchmarks.recall_timing import time_embedders

    embedders = dict(_models(model))
    if "model" in embedders:
        texts = [words.said() for _ in range(TEXTS)]
        yield ratio("box_to_model_per_text", *time_embedders(embedders["box"], embedders["model"], texts), target=0.1)


def _models(model: Path | None) -> Iterator[tuple[str, Embedder]]:
    from memory.box_embeddings import BoxEmbedder
    from memory.local_embeddings import LocalEmbedder

    yield "box", BoxEmbedder()
    if model is not None:
        yield "model", LocalEmbedder(None, folder=model, cache_dir=Path(), may_fetch=False)


def _megabytes(name: str, amount: float) -> Ratio:
    from benchmarks.ratios import Ratio

    return Ratio(name, amount, MEMORY_TARGET, target=1.0, unit="MB")


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> int:
    from benchmarks.ratios import add_json_option, show
    from memory.errors import OttoError

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=os.environ.get(MODEL_VARIABLE), help="folder with an ONNX model")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="chunks, growing", metavar="CHUNKS")
    add_json_option(parser)
    given = parser.parse_args()
    if given.model is None:
        _say(f"No fastembed model is measured: name its folder by --model or {MODEL_VARIABLE}.")
    try:
        ratios = list(measure(sorted(given.sizes), given.model))
    except OttoError as error:
        _say(str(error))
        return 1
    show(ratios, as_json=given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
