"""LoCoMo replayed through a ``TieredQueue``, so that recall can be asked about it (seed 000, "Evaluation").

A replay leaves a tape as a session leaves one: turns went through X and Y, and compactions put bullets in front of
them. At the end one closing turn is said and X is let run empty, so that every turn of the conversation has left the
raw view and recall may return it. ``memory/recall_scores.py`` then scores what recall returns.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from memory import vectors
from memory.bench_summarizers import CANNED
from memory.budgets import MIN_X_BUDGET
from memory.candidates import behind_bullets
from memory.compaction import Summarize
from memory.embeddings import Embedder
from memory.errors import OttoError, StoreUnavailable
from memory.locomo import ADVERSARIAL, Question, Talk, Turn, words_of
from memory.queue import TieredQueue
from memory.store import CONVERSATION, MemoryStore
from memory.tokens import count_tokens
from memory.values import NewEvent

WORKING_BUDGETS = (200, 400)
"""X and Y in tokens: small enough that a conversation of LoCoMo is compacted many times, as the seed did it."""

MOST_FAILURES = 3
"""A summariser that fails so many times in a row, or the first time, is not asked again."""

FACTS_KEY = "replay"
"""Where a tape keeps what is known of the replay that made it."""

_CLOSING = "That is all."

_LAYOUT = 2
"""Counts up when a replay writes something else for the same settings."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, and how much of how much is."""


class NothingCompacted(OttoError):
    """No compaction fired, so there is nothing to recall and nothing to measure."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How conversations are replayed."""

    x_budget: int
    y_budget: int
    turns: int | None = None
    """Only so many of the first; None for all."""
    summarizer: str = CANNED
    """Its name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the turns of its evidence that were replayed."""

    question: Question
    evidence: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a replay came to."""

    generations: int
    """Compactions before the closing turn."""
    model_calls: int
    failures: int
    """Compactions in which the summariser failed and items kept excerpts of their own."""
    chunks: int
    """Pieces of the conversation on the tape."""
    reachable: int
    """Of these, the pieces that stand behind a live bullet."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One conversation on a tape."""

    talk: Talk
    setting: Setting
    path: Path
    """The tape, without vectors."""
    facts: Facts

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.talk.turns[: self.setting.turns]


def asked_of(talk: Talk, turns: int | None = None, *, plain: bool = False) -> list[Asked]:
    """The questions that have evidence in the first ``turns``, and the adversarial ones that are about these.

    Args:
        plain: only those of which a reader with less care finds evidence (``Question.plain``), as the seed's did.
    """
    said = {turn.id: turn for turn in talk.turns[:turns]}
    asked = []
    for question in talk.questions:
        evidence = tuple(said[id] for id in question.evidence if id in said)
        if evidence or (question.category == ADVERSARIAL and not question.evidence):
            asked.append(Asked(question, evidence))
    return [each for each in asked if each.question.plain or not plain]


def replay(
    talk: Talk, setting: Setting, summarize: Summarize, folder: Path, progress: Progress = lambda *_: None
) -> Replayed:
    """Replay a conversation to a tape in ``folder``, or take the tape that an earlier call with the same left there.

    Raises:
        NothingCompacted: the budgets are too large for this conversation; the sentence names them.
        OttoError: the summariser fails.
        StoreUnavailable: the folder cannot be written.
    """
    path = folder / f"{_file_name(talk.name)}-{_digest(talk, setting)}.db"
    facts = _facts_of(path) or _write(talk, setting, summarize, path, progress)
    if not facts.generations:
        raise NothingCompacted(
            f"Nothing was compacted in {_described(talk, setting)} at budgets of {setting.x_budget:,} (X) and"
            f" {setting.y_budget:,} (Y) tokens, so there is nothing to measure; give smaller ones, such as"
            f" --x-budget {WORKING_BUDGETS[0]} --y-budget {WORKING_BUDGETS[1]}."
        )
    return Replayed(talk, setting, path, facts)


def embedded(replayed: Replayed, embedder: Embedder, progress: Progress = lambda *_: None) -> Path:
    """A copy of the tape with this embedder's vectors; made once, beside the tape.

    Raises:
        EmbeddingUnavailable: the embedder fails; what was made stays for the next call.
        StoreUnavailable: the folder cannot be written.
    """
    stamp = hashlib.sha256(embedder.stamp.encode()).hexdigest()[:8]
    path = replayed.path.with_name(f"{replayed.path.stem}.{stamp}.db")
    if not path.exists():
        with _told(path.parent):
            half = path.with_suffix(".half")
            shutil.copyfile(replayed.path, half)
            half.replace(path)
    with MemoryStore(path) as store:
        label = f"embedding {replayed.talk.name}"
        vectors.embed_waiting(store, embedder, progress=lambda done, total: progress(label, done, total))
    return path


def in_store(store: MemoryStore, turns: Collection[Turn]) -> set[str]:
    """The ids of those turns whose exact words the pieces on the tape make up."""
    numbers = store.numbers_of(turn.id for turn in turns)
    events = {event.id: event for event in store.events_at(numbers.values())}
    chunks = store.chunks_of(numbers.values())
    kept = set()
    for turn in turns:
        event = events.get(turn.id)
        pieces = chunks.get(event.seq, []) if event else []
        if event and words_of(turn) in "".join(event.text[chunk.start : chunk.end] for chunk in pieces):
            kept.add(turn.id)
    return kept


def _write(talk: Talk, setting: Setting, summarize: Summarize, path: Path, progress: Progress) -> Facts:
    """To a file of another name first, so that a replay that was interrupted is never taken for a whole one."""
    half = path.with_suffix(".half")
    with _told(path.parent):
        for left in (half, *(half.with_name(f"{half.name}{end}") for end in ("-wal", "-shm"))):
            left.unlink(missing_ok=True)
    turns = talk.turns[: setting.turns]
    watched = _Watched(summarize)
    with MemoryStore(half) as store:
        queue = TieredQueue(
            store,
            summarize=watched,
            x_budget=setting.x_budget,
            y_budget=setting.y_budget,
            summarizer_name=setting.summarizer,
            mode="summarize",
        )
        for place, turn in enumerate(turns):
            queue.append(_event(turn, talk.speakers[0]))
            watched.raise_if_hopeless()
            progress(f"replaying {talk.name}", place + 1, len(turns))
        generations = queue.generation
        if generations:
            _close(queue, turns[-1])
        numbers = set(store.numbers_of(turn.id for turn in turns).values())
        facts = Facts(
            generations=generations,
            model_calls=watched.calls,
            failures=watched.failures,
            chunks=sum(map(len, store.chunks_of(numbers).values())),
            reachable=sum(seq in numbers for seq in behind_bullets(store, CONVERSATION).seqs),
        )
        store.set_meta(FACTS_KEY, json.dumps(asdict(facts)))
    with _told(path.parent):
        half.replace(path)
    return facts


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Have what a disk refuses said in a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"{folder} cannot be written ({error.strerror or error}); name another folder."
        ) from error


def _event(turn: Turn, person: str) -> NewEvent:
    """One of the two is the person, whose words ride through compactions; the other is the model."""
    return NewEvent(
        id=turn.id,
        text=words_of(turn),
        role="user" if turn.speaker == person else "assistant",
        source=turn.speaker,
        t_event=turn.said_at.isoformat(),
    )


def _close(queue: TieredQueue, last: Turn) -> None:
    """Let everything that was said leave the raw view, as it does in a session that goes on."""
    words = _CLOSING
    while count_tokens(words) <= MIN_X_BUDGET:
        # It fills the smallest X alone, so that nothing stays there beside it.
        words += f" {_CLOSING}"
    at = (last.said_at + timedelta(minutes=1)).isoformat()
    queue.append(NewEvent(id="closing", text=words, role="user", t_event=at))
    queue.set_budgets(MIN_X_BUDGET, queue.y_budget)
    queue.compact()


class _Watched:
    """A summariser whose calls and failures are counted. What it raises goes on to the queue."""

    def __init__(self, summarize: Summarize) -> None:
        self._summarize = summarize
        self.calls = 0
        self.failures = 0
        self._in_a_row: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.calls += 1
        try:
            reply = self._summarize(prompt)
        except Exception as error:
            self.failures += 1
            self._in_a_row.append(str(error) or type(error).__name__)
            raise
        self._in_a_row.clear()
        return reply

    def raise_if_hopeless(self) -> None:
        """A replay without a summariser would be another measurement, and costs as much."""
        if self._in_a_row and (self.failures == self.calls or len(self._in_a_row) >= MOST_FAILURES):
            raise OttoError(f"The summariser failed, so the replay was stopped. {self._in_a_row[-1]}")


def _facts_of(path: Path) -> Facts | None:
    if not path.exists():
        return None
    with MemoryStore(path, read_only=True) as store:
        noted = store.get_meta(FACTS_KEY)
    return Facts(**json.loads(noted)) if noted else None


def _digest(talk: Talk, setting: Setting) -> str:
    """12 hex digits of everything that a tape depends on."""
    said: Sequence[tuple[str, str, str]] = [
        (turn.id, words_of(turn), turn.said_at.isoformat()) for turn in talk.turns[: setting.turns]
    ]
    content = json.dumps([_LAYOUT, asdict(setting), talk.speakers[0], said])
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)[:60] or "talk"


def _described(talk: Talk, setting: Setting) -> str:
    turns = len(talk.turns[: setting.turns])
    return f"the {turns:,} turns of conversation {talk.name}"
