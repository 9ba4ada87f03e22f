"""What ``otto eval-memory`` does between its options and its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from memory.errors import OttoError, RerankerUnavailable
from otto_tui.memory_evaluation_lines import Printed
from otto_tui.progress import Progress, progress_bar
from otto_tui.ready_embedder import AS_SET_UP, ready_embedder
from otto_tui.terminal import say_aside

if TYPE_CHECKING:
    from memory.compaction import Summarize
    from memory.cross_encoder import CrossEncoder
    from memory.embeddings import Embedder
    from memory.locomo import Talk
    from memory.recall_bench import Setting
    from sessions.options import Options

EVERY_ARM = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the options of the command say."""

    data: Path | None
    conversations: Sequence[str]
    held_out: Sequence[str]
    turns: int | None
    live: bool
    arms: Sequence[str]
    embedders: Sequence[str]
    budgets: Sequence[int]
    seed_tables: bool
    summarizers: bool
    show_items: str | None
    """``failures`` or ``all``."""
    keep_store: Path | None


def measure(options: Options, request: Request) -> Printed:
    """Measure, telling on standard error how far it is.

    Raises:
        click.BadParameter: a conversation or an arm that there is not.
        OttoError: the data, the embedder, the reranker or the summariser cannot be had, or nothing was compacted.
    """
    from memory.recall_evaluation import Wanted, evaluate
    from memory.recall_scores import BUDGETS
    from memory.seed_tables import is_seeds_own
    from sessions.embedding_choice import choose_reranker

    reranker = choose_reranker(options)
    with progress_bar() as progress:
        talks = _chosen(_talks(request.data, progress), request.conversations)
        arms = _arms(request.arms, reranker)
        sets = _sets(talks, request.held_out)
        embedders = [_embedder(options, name) for name in request.embedders]
        with _summarizer(options, request) as (setting, summarize), _folder(request.keep_store) as folder:
            seeds_own = is_seeds_own(setting, [talk.name for talk in talks])
            report = evaluate(
                Wanted(
                    talks=talks,
                    sets=list(sets.values()),
                    setting=setting,
                    summarize=summarize,
                    embedders=embedders,
                    arms=arms,
                    reranker=reranker,
                    budgets=sorted(set(request.budgets or BUDGETS)),
                    folder=folder,
                    plain=seeds_own,
                    knobs=request.seed_tables or seeds_own,
                    summarizers=request.summarizers,
                    keep_items=request.show_items is not None,
                    progress=progress,
                )
            )
    return Printed(
        report,
        sets=sets,
        seeds_own=seeds_own,
        show_items=request.show_items,
        # The seed's own setting prints its tables unasked; a program gets more than rows only where it asks.
        more=request.seed_tables or request.summarizers or request.show_items is not None,
    )


def _talks(data: Path | None, progress: Progress) -> tuple[Talk, ...]:
    from memory import locomo, locomo_fetch

    if data is not None:
        return locomo.load(data)
    file = locomo_fetch.cached_file()
    if not file.exists():
        say_aside(f"Fetching LoCoMo's conversations (CC BY-NC 4.0, for measuring only) to {file}.")
        locomo_fetch.fetch(
            file, address=locomo_fetch.ADDRESS, progress=lambda got, of: progress("fetching", got, of or 0)
        )
    return locomo.load(file)


def _chosen(talks: Sequence[Talk], names: Sequence[str]) -> tuple[Talk, ...]:
    known = {talk.name: talk for talk in talks}
    wanted = [name.removeprefix("conv-") for name in names]
    for name in wanted:
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of {', '.join(known)}.", param_hint="--conversation")
    return tuple(talk for talk in known.values() if not wanted or talk.name in wanted)


def _sets(talks: Sequence[Talk], held_out: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """All conversations together, and where some are held out, these and the others apart."""
    names = tuple(talk.name for talk in talks)
    apart = {name.removeprefix("conv-") for name in held_out}
    for name in apart.difference(names):
        raise click.BadParameter(f"{name!r} is none of {', '.join(names)}.", param_hint="--held-out")
    sets = {"all together": names}
    if apart and len(apart) < len(names):
        sets["not held out"] = tuple(name for name in names if name not in apart)
        sets["held out"] = tuple(name for name in names if name in apart)
    return sets


def _arms(names: Sequence[str], reranker: CrossEncoder | None) -> list[str | None]:
    """Of all arms those that can be had; an arm that was named is never left out."""
    from memory.arms import ARMS, RERANKED

    if EVERY_ARM in names:
        try:
            _load(reranker)
        except RerankerUnavailable as error:
            say_aside(f"{RERANKED!r} is left out. {error}")
            return [name for name, arm in ARMS.items() if not arm.needs_reranker]
        return list(ARMS)
    for name in names:
        if name not in ARMS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(ARMS)}, {EVERY_ARM}.", param_hint="--arm")
    if any(ARMS[name].needs_reranker for name in names):
        # What cannot be had is told before minutes go into replays.
        _load(reranker)
    return list(dict.fromkeys(names)) or [None]


def _load(reranker: CrossEncoder | None) -> None:
    from memory.arms import NO_RERANKER

    if reranker is None:
        raise RerankerUnavailable(NO_RERANKER)
    reranker.load()


def _embedder(options: Options, name: str) -> Embedder | None:
    from memory.embeddings import MODEL_VARIABLE, NO_MODEL

    set_up = options.embedding or options.environ.get(MODEL_VARIABLE)
    return None if (set_up if name == AS_SET_UP else name) == NO_MODEL else ready_embedder(options, name)


@contextmanager
def _summarizer(options: Options, request: Request) -> Iterator[tuple[Setting, Summarize]]:
    from memory.bench_summarizers import CANNED, summarizer
    from memory.recall_bench import Setting

    setting = Setting(options.x_budget, options.y_budget, request.turns)
    if not request.live:
        yield setting, summarizer(CANNED)
        return
    from sessions.seat_summarizer import seat_summarizer

    with seat_summarizer(options) as (name, summarize):
        yield replace(setting, summarizer=name), summarize


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with TemporaryDirectory(prefix="otto-eval-") as folder:
            yield Path(folder)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OttoError(f"{keep} cannot be made ({error.strerror or error}); name another folder.") from error
    yield keep
