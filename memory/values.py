"""The values that pass between tape, tiers, compaction and recall. All are frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from memory.observations import Observation, Reflection

MAIN_THREAD = "main"
"""The thread of a session's own conversation."""

ROLES = frozenset({"user", "assistant", "tool", "system"})

EVENT_KINDS = frozenset({"message", "tool", "document", "note", "retract"})

CONVERSATION = "message"
"""The namespace of a session's own queue (seed 000: ``kind``)."""

TIERED_KINDS = frozenset({"message", "tool", "document"})
"""Kinds of event that stand in X and Y. Notes and retractions are on the tape only."""

Tier = Literal["x", "y"]

BulletForm = Literal["whole", "excerpt", "summary", "group", "observation", "reflection"]
"""How a bullet came to be.

whole: one event, word for word. excerpt: word-for-word spans of one event. summary: a summariser's sentence.
group: a counted line that stands for many older items when their own lines no longer fit. observation, reflection: a
record of the ledger, under the record's own id.
"""

QUOTING_FORMS: frozenset[BulletForm] = frozenset({"whole", "excerpt"})

RECORD_FORMS: frozenset[BulletForm] = frozenset({"observation", "reflection"})

CompactionMode = Literal["auto", "ledger", "summarize"]
"""Where bullets come from: the ledger's records for what they cover and a summariser for the rest, the records and
word-for-word excerpts alone, or a summariser alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """Something about to be written on the tape. What is left out, the tape fills in."""

    text: str
    role: str
    """``user``, ``assistant``, ``tool`` or ``system``."""
    kind: str = "message"
    """``message``, ``tool``, ``document``, ``note`` or ``retract``."""
    source: str = ""
    """Who said it: ``person``, a model's name, a tool's name."""
    id: str | None = None
    """Unique in its thread; made when None."""
    thread: str = MAIN_THREAD
    t_event: str | None = None
    """When it was said, ISO 8601 with offset; now when None."""
    refs: tuple[str, ...] = ()
    """Ids of events that this one is about."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """JSON-able extras: ``model``, ``usage``, ``cost``, ``partial`` (why a reply is incomplete)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing on the tape. Never edited, never deleted."""

    seq: int
    id: str
    thread: str
    source: str
    role: str
    kind: str
    t_event: str
    t_ingest: str
    text: str
    refs: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def protected(self) -> bool:
        """Said by the person: never paraphrased, never shown to a summariser."""
        return self.role == "user" and self.kind == "message"

    @property
    def speaker(self) -> str:
        """``you`` for the person, else the source, else the role."""
        return speaker_of(self.role, self.source)


def speaker_of(role: str, source: str) -> str:
    return "you" if role == "user" else source or role


Span = tuple[int, int]
"""Start and end, in characters, of a piece of an event's text."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit of search: a piece of one event, at most about 160 tokens, addressed by its hash.

    The chunks of an event, joined in order, are its text.
    """

    hash: str
    seq: int
    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Item:
    """An event that stands raw in a tier."""

    event: Event
    tier: Tier
    turn: int
    """The ``seq`` of the event that opened its turn."""
    tokens: int
    """What it costs in the view."""
    spans: tuple[Span, ...] | None = None
    """None: the whole text is in the view. Else only these pieces are, since the event is larger than X."""

    @property
    def excerpt(self) -> bool:
        return self.spans is not None


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line in Y that stands for one or more events that have left the raw tiers."""

    id: str
    """12 hex digits, derived from its content; for a record of the ledger, the record's id."""
    text: str
    hash_refs: tuple[str, ...]
    """The hash of every chunk behind it, in time order."""
    seqs: tuple[int, ...]
    """The ``seq`` of every event behind it, in time order."""
    generation: int
    """The compaction that made it, counted from 1."""
    protected: bool
    form: BulletForm
    tokens: int
    spans: tuple[Span, ...] = ()
    """Where ``form`` is ``whole`` or ``excerpt``: the pieces of the one event that ``text`` joins."""


@dataclass(frozen=True, slots=True)
class Voices:
    """Who said what a bullet stands for, and when the newest of it was said."""

    speakers: tuple[str, ...]
    """In the order in which they first spoke."""
    newest: str
    """ISO 8601 with offset."""


@dataclass(frozen=True, slots=True)
class View:
    """What a prompt reads of the conversation, oldest first (DESIGN: "The live view")."""

    bullets: tuple[Bullet, ...]
    overflow: tuple[Item, ...]
    """Y's raw part, not yet compacted."""
    recent: tuple[Item, ...]
    """X."""
    left_out: tuple[Item, ...] = ()
    """Raw items of Y that wait for a running compaction and do not fit meanwhile; recall finds them."""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Demotion:
    """Whole turns moved from X to Y."""

    seqs: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """What one compaction did; the inspector's event line."""

    generation: int
    items_in: int
    bullets_out: int
    uncited: int
    """Items that no valid citation covered and that got a bullet of their own."""
    tokens_before: int
    """Tokens in Y before and after."""
    tokens_after: int
    seconds: float
    made_by: str
    """The model's name, or ``excerpts`` for the deterministic way."""
    model_calls: int
    through: int
    """The ``seq`` of the last event compacted."""
    failure: str | None = None
    """Why the summariser was not used or not used fully, as a sentence."""
    mode: CompactionMode = "summarize"
    """How it was made in fact: ``summarize`` also where the ledger had nothing to show."""
    full_fold: bool = False
    """Whether the ledger's drops took effect and its records were laid out anew, rather than added to."""


@dataclass(frozen=True, slots=True)
class EmbeddingState:
    """Which model's vectors a store holds, and how far they reach."""

    stamp: str | None
    embedded: int
    waiting: int


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """The whole live memory at one moment, for the inspector, ``otto status`` and tests."""

    generation: int
    x_tokens: int
    x_budget: int
    y_tokens: int
    y_budget: int
    recent: tuple[Item, ...]
    overflow: tuple[Item, ...]
    bullets: tuple[Bullet, ...]
    turns: int
    events: int
    chunks: int
    embedding: EmbeddingState
    compacting: bool
    notice: str | None = None
    """Why the memory is not at its best right now (no embedder, summariser given up), if so."""
    voices: Mapping[str, Voices] = field(default_factory=dict)
    """By bullet id."""


@dataclass(frozen=True, slots=True)
class RecallItem:
    """One exact piece of text that recall returns."""

    seq: int
    id: str
    """The event's id."""
    chunk: str
    """The chunk's hash; give it to ``recall_id``."""
    speaker: str
    kind: str
    t_event: str
    text: str
    score: float
    neighbour: bool
    """True when it came along as context of a hit."""


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Answer to a question: hits and their neighbours in time order, within a token budget."""

    ranked_by: str
    """How hits were ranked: for example ``dense+bm25``, ``bm25+recency``, ``recency``."""
    tokens: int
    items: tuple[RecallItem, ...]
    warning: str | None = None
    """Why ranking is not at its best, and what to do about it."""
    bullets: tuple[Bullet, ...] = ()
    """Summaries that stand for the best hits in the view, as context above them; their tokens are counted
    in."""


@dataclass(frozen=True, slots=True)
class RecalledSource:
    """Answer to an id: exact words, whoever said them, and where they stand now."""

    id: str
    found_as: Literal["event", "chunk", "bullet", "observation", "reflection"]
    events: tuple[Event, ...]
    chunk: Chunk | None = None
    bullet: Bullet | None = None
    """The bullet with this id; for a record of the ledger, the one that shows it now, if one does."""
    standing: str = ""
    """Where the events stand: ``x``, ``y raw``, ``behind bullet ID``, or a mix."""
    observations: tuple[Observation, ...] = ()
    """The observations with this id, or those behind the reflection."""
    reflections: tuple[Reflection, ...] = ()
    dropped: frozenset[str] = frozenset()
    """Which of ``observations`` are retired, by id."""
    missing: tuple[str, ...] = ()
    """Ids that the records name and that lead to nothing."""
    collision: str | None = None
    """What else has this id, as a sentence."""
