"""Workers that need no model: what the compaction evaluation puts in the place of observer, reflector and dropper.

They keep the ledger as workers with a model do, and lose what those lose. The observer takes about one note for two
entries, in telegram style, so never in anybody's exact words; it passes over small talk, cuts long sentences short, and
now and then names an entry that does not exist, which costs it the note. The reflector concludes from notes that share
a name, the dropper proposes what conclusions cover. What each would have read and written is counted in tokens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.dropping import choose_drops, coverage_of
from memory.ledger_fold import LedgerState, read_state
from memory.observations import (
    MINUTE,
    Observation,
    Reflection,
    observation,
    record_drops,
    record_observations,
    record_reflections,
    reflection,
)
from memory.store import MemoryStore
from memory.tokens import count_tokens
from memory.values import Event
from memory.weight import BOUNDING_POINTS, LASTING_POINTS, weight

OBSERVER_TOKENS = 600
REFLECTOR_TOKENS = 450
DROPPER_TOKENS = 450
"""What the instructions of each and the description of its tool cost in every request."""

ENTRY_TOKENS = 25
"""What the mark before an entry costs that a worker reads: its id, who speaks, and when."""

REQUESTS = 2
"""A run of a worker: one request that calls the tool, and one with the receipt in it that ends the run."""

RECEIPT_TOKENS = 60

NOTES_A_ENTRY = 0.5
NOTE_WORDS = 18
"""The most of a sentence that a note keeps."""

NAMES_NOTHING_EVERY = 9
"""Of so many notes one names an entry that does not exist."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_NAME = re.compile(r"\w+/\w[\w./]*|\w+_\w+")
_PARTICULAR = re.compile(r"\d|\w[_/]\w|(?<=\s)[A-Z]")
_LITTLE_WORD = re.compile(
    r"\b(?:the|a|an|is|are|was|were|has|have|had|be|been|to|of|and|it|so|that|as|by)\b\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Cadence:
    """When workers run, in tokens."""

    observe_after: int
    reflect_after: int
    pool_target: int
    most_known: int
    """Of what is remembered already, a worker is told at most so much."""


@dataclass(frozen=True, slots=True)
class _Note:
    event: Event
    text: str
    weight: int
    place: int


class BenchWorkers:
    """The workers of one store. ``hear`` each event once it is on the tape."""

    def __init__(self, store: MemoryStore, cadence: Cadence) -> None:
        self.calls = 0
        """Requests so far."""
        self.tokens = 0
        """Of all requests and replies so far."""
        self._store = store
        self._cadence = cadence
        self._unread: list[Event] = []
        self._unread_tokens = 0
        self._since_reflection = 0
        self._notes = 0
        self._state = LedgerState()

    def hear(self, event: Event) -> None:
        """Take note of an event's coming; a reply wakes the workers that are due by then."""
        tokens = count_tokens(event.text)
        self._unread.append(event)
        self._unread_tokens += tokens
        self._since_reflection += tokens
        if event.role != "assistant" or self._unread_tokens < self._cadence.observe_after:
            return
        self._observe(self._state)
        if self._since_reflection >= self._cadence.reflect_after and self._state.observations:
            self._reflect(self._state)

    def _observe(self, state: LedgerState) -> None:
        made = [made for made in self._notes_on(self._unread) if made is not None]
        covers = self._unread[-1].seq
        read = self._unread_tokens + ENTRY_TOKENS * len(self._unread) + self._known_tokens(state)
        self._spend(OBSERVER_TOKENS + read, sum(one.tokens + ENTRY_TOKENS for one in made))
        record_observations(self._store, [one for one in made if one.id not in state.observations], covers=covers)
        self._unread = []
        self._unread_tokens = 0
        self._state = read_state(self._store)

    def _notes_on(self, events: Sequence[Event]) -> Iterator[Observation | None]:
        """A note each, or None for one that was rejected."""
        found = [note for event in events for note in _sentences(event)]
        found.sort(key=lambda note: (-note.weight, note.event.seq, note.place))
        best = found[: max(1, int(len(events) * NOTES_A_ENTRY))]
        for note in sorted(best, key=lambda note: (note.event.seq, note.place)):
            self._notes += 1
            if note.weight == 0 or self._notes % NAMES_NOTHING_EVERY == 0:
                yield None
                continue
            yield observation(
                f"{'The person' if note.event.protected else 'Report'}: {_telegram(note.text)}",
                timestamp=datetime.fromisoformat(note.event.t_event).strftime(MINUTE),
                relevance=_relevance(note),
                sources=[note.event.id],
            )

    def _reflect(self, state: LedgerState) -> None:
        made = _conclusion(state)
        self._spend(REFLECTOR_TOKENS + self._known_tokens(state), made.tokens + ENTRY_TOKENS if made else 0)
        self._since_reflection = 0
        if made is None:
            return
        record_reflections(self._store, [made], covers=state.observed_through)
        self._state = read_state(self._store)
        if self._state.pool_tokens > self._cadence.pool_target:
            self._drop(self._state)

    def _drop(self, state: LedgerState) -> None:
        coverage = coverage_of(state)
        proposed = [id for id, made in state.observations.items() if coverage[id] != "none" or made.relevance == "low"]
        self._spend(DROPPER_TOKENS + self._known_tokens(state), 8 * len(proposed))
        covers = min(state.observed_through, state.reflected_through)
        record_drops(self._store, choose_drops(state, proposed, self._cadence.pool_target), covers=covers)
        self._state = read_state(self._store)

    def _known_tokens(self, state: LedgerState) -> int:
        known = state.pool_tokens + sum(made.tokens for made in state.reflections.values())
        return min(known, self._cadence.most_known)

    def _spend(self, prompt: int, reply: int) -> None:
        self.calls += REQUESTS
        self.tokens += prompt + reply + (prompt + reply + RECEIPT_TOKENS)


def _sentences(event: Event) -> Iterator[_Note]:
    """What may be worth a note: of small talk nothing."""
    for place, sentence in enumerate(_SENTENCE_END.split(event.text)):
        particulars = min(4, len(_PARTICULAR.findall(sentence)))
        told = weight(sentence) if event.protected else particulars
        yield _Note(event, sentence, told if particulars or told >= BOUNDING_POINTS else 0, place)


def _telegram(sentence: str) -> str:
    words = _LITTLE_WORD.sub("", sentence).split()
    return " ".join(words[:NOTE_WORDS]).rstrip(".;,:") or sentence


def _relevance(note: _Note) -> str:
    if note.event.protected and note.weight >= LASTING_POINTS:
        return "critical" if note.weight >= 2 * LASTING_POINTS else "high"
    return "medium" if note.weight >= BOUNDING_POINTS - 1 else "low"


def _conclusion(state: LedgerState) -> Reflection | None:
    """On the name of which most notes speak that no conclusion covers yet; None where that is one note alone."""
    coverage = coverage_of(state)
    about: dict[str, list[Observation]] = defaultdict(list)
    for made in state.observations.values():
        if coverage[made.id] == "none":
            for name in dict.fromkeys(_NAME.findall(made.content)):
                about[name].append(made)
    name, notes = max(about.items(), key=lambda found: (len(found[1]), found[0]), default=("", []))
    if len(notes) < 2:
        return None
    return reflection(
        f"{name} keeps changing ({len(notes)} notes); last: {_telegram(notes[-1].content)}",
        supports=[made.id for made in notes],
    )
