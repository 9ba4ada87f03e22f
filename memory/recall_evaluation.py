"""``otto eval-memory`` without its printing: replay, embed, ask, sum up (seed 000, "Evaluation")."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory.arms import ARMS, WITH_EMBEDDER, WITHOUT_EMBEDDER
from memory.bench_summarizers import SUMMARIZERS, summarizer
from memory.budgets import TOKEN_BUDGET
from memory.compaction import Summarize
from memory.embeddings import Embedder
from memory.errors import OttoError
from memory.locomo import ADVERSARIAL, CATEGORIES, Talk
from memory.recall_bench import Asked, Progress, Replayed, Setting, asked_of, embedded, in_store, replay
from memory.recall_scores import Answered, Asking, Row, answer, ask, row_of
from memory.seed_tables import Cited, Turned, cited, turned
from memory.store import MemoryStore
from memory.timed_embedder import TimedEmbedder
from memory.vector_cache import VectorCache

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder

NO_EMBEDDER = "none"


class NothingAsked(OttoError):
    """There is nothing to score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to measure."""

    talks: Sequence[Talk]
    sets: Sequence[Sequence[str]]
    """Names of conversations; a row sums up one set."""
    setting: Setting
    summarize: Summarize
    embedders: Sequence[Embedder | None]
    arms: Sequence[str | None]
    """None for the one that ships."""
    reranker: CrossEncoder | None = None
    """For arms that need one."""
    budgets: Sequence[int]
    folder: Path
    """Where tapes are written, or taken from."""
    plain: bool = False
    """Ask only what the seed's reader could resolve (``asked_of``)."""
    knobs: bool = False
    """Measure the seed's table of chunks and neighbours as well."""
    summarizers: bool = False
    """Replay under summarisers that cite badly as well."""
    keep_items: bool = False
    """Keep what came back at the largest budget, for the first arm and embedder."""
    progress: Progress = field(default=lambda *_: None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the questions name as their evidence, counted; adversarial ones apart."""

    turns: int
    """Ids that lead to a turn of the conversation."""
    unresolved: tuple[str, ...]
    """Ids and stray characters that do not, each with its conversation."""
    beyond: int
    """Turns that were not replayed, where only the first are."""
    questions: int
    without: int
    """Questions that name no turn at all, or none that was replayed; they are not asked."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Of one category: the questions, and the share whose evidence stands on the tape word for word."""

    questions: int
    share: float


@dataclass(frozen=True, slots=True)
class KnobTable:
    """The seed's table for one arm and embedder."""

    arm: str
    embedder: str
    rows: tuple[Turned, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured."""

    evidence: Evidence
    replays: tuple[Replayed, ...]
    kept: Mapping[int, Kept]
    """By category."""
    rows: tuple[Row, ...]
    answers: tuple[Answered, ...]
    """Of the first arm and embedder, where they were to be kept."""
    knobs: tuple[KnobTable, ...]
    summarizers: tuple[Cited, ...]


def evaluate(wanted: Wanted) -> Report:
    """Measure. Takes seconds for each conversation, and what an embedder takes for its texts.

    Raises:
        NothingAsked: no question has evidence in what is replayed.
        NothingCompacted: the budgets are too large.
        EmbeddingUnavailable: an embedder fails.
        OttoError: the summariser fails, or a tape cannot be written.
    """
    asked = {talk.name: asked_of(talk, wanted.setting.turns, plain=wanted.plain) for talk in wanted.talks}
    evidence = _evidence(wanted, asked)
    if not evidence.questions:
        raise NothingAsked("No question has evidence in the turns that are replayed, so there is nothing to measure.")
    replays = _replays(wanted, wanted.setting.summarizer, wanted.summarize)
    rows: list[Row] = []
    answers: list[Answered] = []
    knobs: list[KnobTable] = []
    embedders = [None if embedder is None else TimedEmbedder(embedder) for embedder in wanted.embedders]
    for embedder in embedders:
        with _Stores(wanted, replays, embedder) as stores:
            for arm in _askable(wanted.arms, embedder):
                keep = max(wanted.budgets) if wanted.keep_items and not rows else None
                told = list(_answers(wanted, stores, asked, arm, keep))
                answers += told if keep else []
                rows += _rows(wanted, told, name_of(arm, embedder), stores.embedder_name)
                if wanted.knobs:
                    table = tuple(turned([(stores.asking(name, arm), questions) for name, questions in asked.items()]))
                    knobs.append(KnobTable(name_of(arm, embedder), stores.embedder_name, table))
    return Report(
        evidence=evidence,
        replays=tuple(replays),
        kept=_kept(replays, asked),
        rows=tuple(rows),
        answers=tuple(answers),
        knobs=tuple(knobs),
        summarizers=tuple(_summarizers(wanted, asked, embedders[0])) if wanted.summarizers else (),
    )


def name_of(arm: str | None, embedder: object | None) -> str:
    """What a row calls an arm: where none is named, the one that ``recall`` takes."""
    return arm or (WITHOUT_EMBEDDER if embedder is None else WITH_EMBEDDER)


def _askable(arms: Sequence[str | None], embedder: object | None) -> list[str | None]:
    """Without an embedder only arms that do without; where no such was asked for, recall says what is wanting."""
    if embedder is not None:
        return list(arms)
    return [arm for arm in arms if arm is None or not ARMS[arm].needs_embedder] or list(arms)


class _Stores:
    """The tapes of all conversations with one embedder's vectors, open for reading."""

    def __init__(self, wanted: Wanted, replays: Sequence[Replayed], embedder: TimedEmbedder | None) -> None:
        self._wanted = wanted
        self._replays = replays
        self._embedder = embedder
        self._open: dict[str, tuple[MemoryStore, VectorCache]] = {}
        self._closing = ExitStack()
        self.embedder_name = NO_EMBEDDER if embedder is None else embedder.stamp

    def __enter__(self) -> _Stores:
        for each in self._replays:
            embedder, progress = self._embedder, self._wanted.progress
            path = each.path if embedder is None else embedded(each, embedder, progress)
            store = self._closing.enter_context(MemoryStore(path, read_only=True))
            self._open[each.talk.name] = (store, VectorCache())
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def asking(self, conversation: str, arm: str | None) -> Asking:
        store, cache = self._open[conversation]
        return Asking(store, self._embedder, arm, cache, self._wanted.reranker)


def _replays(wanted: Wanted, name: str, summarize: Summarize) -> list[Replayed]:
    setting = replace(wanted.setting, summarizer=name)
    return [replay(talk, setting, summarize, wanted.folder, wanted.progress) for talk in wanted.talks]


def _answers(
    wanted: Wanted, stores: _Stores, asked: Mapping[str, Sequence[Asked]], arm: str | None, keep: int | None
) -> Iterator[Answered]:
    for name, questions in asked.items():
        yield from answer(
            stores.asking(name, arm),
            name,
            questions,
            wanted.budgets,
            keep=keep,
            progress=wanted.progress,
            label=f"asking {name}, {stores.embedder_name.partition(':')[0]}, {arm or 'shipped'}",
        )


def _rows(wanted: Wanted, told: Sequence[Answered], arm: str, embedder: str) -> Iterator[Row]:
    for names in wanted.sets:
        for budget in wanted.budgets:
            yield row_of(told, arm=arm, embedder=embedder, budget=budget, conversations=names)


def _summarizers(
    wanted: Wanted, asked: Mapping[str, Sequence[Asked]], embedder: TimedEmbedder | None
) -> Iterator[Cited]:
    """With the first arm and recall's own limits."""
    arm = wanted.arms[0]
    for name in SUMMARIZERS:
        replays = _replays(wanted, name, summarizer(name))
        with _Stores(wanted, replays, embedder) as stores:
            returned = [
                ask(stores.asking(conversation, arm), each, token_budget=TOKEN_BUDGET)
                for conversation, questions in asked.items()
                for each in questions
                if each.question.category != ADVERSARIAL
            ]
        yield cited(name, replays, returned)


def _kept(replays: Sequence[Replayed], asked: Mapping[str, Sequence[Asked]]) -> dict[int, Kept]:
    whole: dict[int, list[bool]] = {number: [] for number in CATEGORIES}
    for each in replays:
        with MemoryStore(each.path, read_only=True) as store:
            there = in_store(store, each.turns)
        for question in asked[each.talk.name]:
            whole[question.question.category].append(all(turn.id in there for turn in question.evidence))
    return {number: Kept(len(found), sum(found) / len(found)) for number, found in whole.items() if found}


def _evidence(wanted: Wanted, asked: Mapping[str, Collection[Asked]]) -> Evidence:
    scored = [(talk, each) for talk in wanted.talks for each in talk.questions if each.category != ADVERSARIAL]
    told = [each for questions in asked.values() for each in questions if each.question.category != ADVERSARIAL]
    resolved = sum(len(question.evidence) for _, question in scored)
    replayed = {talk.name: {turn.id for turn in talk.turns[: wanted.setting.turns]} for talk in wanted.talks}
    within = sum(id in replayed[talk.name] for talk, question in scored for id in question.evidence)
    return Evidence(
        turns=resolved,
        unresolved=tuple(f"{talk.name}: {id}" for talk, question in scored for id in question.unresolved),
        beyond=resolved - within,
        questions=len(told),
        without=len(scored) - len(told),
    )
