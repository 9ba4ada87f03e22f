"""The shape of an export: which keys there are, of what type and range. Import only on use: pydantic is slow to load.

What one field alone can tell is checked here; what fields must mean to each other, in ``sessions/import_checks.py``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from memory.budgets import MIN_X_BUDGET, MIN_Y_BUDGET
from memory.observations import Relevance
from memory.text import storable
from memory.values import BulletForm, CompactionMode, Tier
from sessions.display import one_line
from sessions.errors import ImportRefused
from sessions.ids import TITLE_LENGTH, is_session_id

LARGEST_NUMBER = 2**53
"""What every reader of JSON takes as it is written."""

DEEPEST = 100
"""Levels of nesting in what is kept as it is."""

_LONGEST_NAME = 1_000

T = TypeVar("T")


def _refuse(sentence: str) -> PydanticCustomError:
    return PydanticCustomError("otto", "{sentence}", {"sentence": sentence})


def _storable(text: str) -> str:
    if storable(text) != text:
        raise _refuse("holds a NUL or half of a surrogate pair, which is not text")
    return text


def _time(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise _refuse("is not a time such as 2026-11-30T02:15:07+00:00") from None
    if moment.tzinfo is None:
        raise _refuse("is a time without an offset from UTC")
    return text


def _session_id(text: str) -> str:
    if not is_session_id(text):
        raise _refuse("is not a session's id: small letters, digits, - and _, at most 64")
    return text


def _title(text: str) -> str:
    if not text or one_line(text, TITLE_LENGTH) != text:
        raise _refuse(f"is not one line of at most {TITLE_LENGTH} characters that can be seen")
    return text


def _plain_json(value: Any) -> Any:
    """It must not be too deep, and its texts whole Unicode. It is kept as JSON, so it may hold a NUL."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > DEEPEST:
            raise _refuse(f"is nested more than {DEEPEST} levels deep")
        if isinstance(part, str):
            try:
                part.encode()
            except UnicodeEncodeError:
                raise _refuse("holds half of a surrogate pair, which is not text") from None
        elif isinstance(part, dict):
            waiting.extend((key, depth) for key in part)
            waiting.extend((inner, depth + 1) for inner in part.values())
        elif isinstance(part, list):
            waiting.extend((inner, depth + 1) for inner in part)
    return value


def _in_order(pair: list[int]) -> list[int]:
    if pair[0] > pair[1]:
        raise _refuse("ends before it starts")
    return pair


Text = Annotated[str, AfterValidator(_storable)]
Name = Annotated[str, Field(max_length=_LONGEST_NAME), AfterValidator(_storable)]
Id = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_storable)]
Time = Annotated[str, Field(max_length=64), AfterValidator(_time)]
SessionId = Annotated[str, AfterValidator(_session_id)]
Number = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
TokenCount = Annotated[int, Field(ge=0, le=10**12)]
Seq = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
BulletId = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
RecordId = BulletId
ChunkHash = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Span = Annotated[list[Number], Field(min_length=2, max_length=2), AfterValidator(_in_order)]
SeqRange = Annotated[list[Seq], Field(min_length=2, max_length=2), AfterValidator(_in_order)]


class _Strict(BaseModel):
    # A key that is unknown here would be lost without a word; a later Otto raises the version instead.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Open(BaseModel):
    """Data that is kept as it is, further keys and all."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class Usage(_Open):
    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class Meta(_Open):
    """The extras that Otto itself reads."""

    model: Name | None = None
    usage: Usage | None = None
    cost: Annotated[float, Field(ge=0, le=1e12)] | None = None
    partial: Name | None = None
    error: Text | None = None
    retry: bool | None = None
    summary: Text | None = None


class _Said(_Strict):
    seq: Seq
    id: Id
    role: Literal["user", "assistant", "tool", "system"]
    kind: Literal["message", "tool", "document", "note", "retract"]
    source: Name
    t_event: Time
    t_ingest: Time
    refs: list[Name]
    meta: Annotated[Meta, BeforeValidator(_plain_json)]
    text: Text


class RecentEvent(_Said):
    tier: Tier
    spans: list[Span] | None


class TapeEvent(_Said):
    thread: Id


class CitedChunk(_Said):
    hash: ChunkHash | None
    length: Number
    start: Number


class ExportedBullet(_Strict):
    id: BulletId
    generation: Seq
    form: BulletForm
    protected: bool
    text: Text
    spans: list[Span]
    seqs: Annotated[list[Seq], Field(min_length=1)]
    hash_refs: list[ChunkHash]


class LedgerRow(_Strict):
    n: Seq
    kind: Id
    entry: Id
    t: Time
    data: Annotated[dict[str, Any], AfterValidator(_plain_json)]


class Tape(_Strict):
    events: list[TapeEvent]
    ledger: list[LedgerRow]


class ExportedSession(_Strict):
    id: SessionId
    title: Annotated[str, AfterValidator(_storable), AfterValidator(_title)]
    workspace: Annotated[str, Field(max_length=4_096), AfterValidator(_storable)]
    created: Time
    updated: Time
    turns: Number
    parent: SessionId | None


class Budgets(_Strict):
    x: Annotated[int, Field(ge=MIN_X_BUDGET, le=LARGEST_NUMBER)]
    y: Annotated[int, Field(ge=MIN_Y_BUDGET, le=LARGEST_NUMBER)]


class Export(_Strict):
    format: str
    version: int
    session: ExportedSession
    generation: Number
    budgets: Budgets | None
    recent: list[RecentEvent]
    bullets: list[ExportedBullet]
    chunks: list[CitedChunk]
    tape: Tape | None = None


class LedgerBullet(_Open):
    id: BulletId
    form: BulletForm
    generation: Seq
    protected: bool
    text: Text | None
    spans: list[Span]
    seqs: list[SeqRange]
    inherits: list[BulletId] = []


class LedgerData(_Open):
    at: Number


class HeldData(LedgerData):
    seq: Seq
    spans: list[Span]


class DemotedData(LedgerData):
    through: Number
    tokens: Number


class CompactedData(LedgerData):
    generation: Seq
    items_in: Number
    bullets_out: Number
    uncited: Number
    tokens_before: Number
    tokens_after: Number
    seconds: Annotated[float, Field(ge=0, le=1e12)]
    made_by: Name
    model_calls: Number
    through: Number
    failure: Text | None
    mode: CompactionMode = "summarize"
    full_fold: bool = False
    seen: Number | None = None
    removed: list[BulletId]
    added: list[LedgerBullet]


class ImportedHeld(_Open):
    seq: Seq
    spans: list[Span]


class ImportedData(LedgerData):
    generation: Number
    demoted_through: Number
    compacted_through: Number
    bullets: list[LedgerBullet]
    held: list[ImportedHeld]


class ObservationRecord(_Open):
    id: RecordId
    content: Text
    timestamp: Text
    relevance: Relevance
    sources: Annotated[list[Id], Field(min_length=1)]
    tokens: TokenCount


class ObservationsData(LedgerData):
    observations: Annotated[list[ObservationRecord], Field(min_length=1)]
    covers: Seq


class ReflectionRecord(_Open):
    id: RecordId
    content: Text
    supports: Annotated[list[RecordId], Field(min_length=1)]
    tokens: TokenCount


class ReflectionsData(LedgerData):
    reflections: Annotated[list[ReflectionRecord], Field(min_length=1)]
    covers: Seq


class DropsData(LedgerData):
    ids: Annotated[list[RecordId], Field(min_length=1)]
    covers: Seq


def checked(shape: type[T], value: Any, at: str = "") -> T:
    """``value`` in this shape.

    Raises:
        ImportRefused: it does not fit; the sentence begins with the path of the field below ``at``.
    """
    try:
        return shape.model_validate(value)  # type: ignore[attr-defined, no-any-return]
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise refused(path_of(first["loc"], at), _sentence(first["type"], first["msg"])) from None


def refused(path: str, what: str) -> ImportRefused:
    """The refusal of one field."""
    return ImportRefused(f"{path}: {what}. Nothing was imported.")


def path_of(parts: tuple[int | str, ...], at: str = "") -> str:
    """``("bullets", 3, "hash_refs", 0)`` as ``bullets[3].hash_refs[0]``."""
    path = at
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{one_line(part, 60)}" if path else one_line(part, 60)
    return path or "the file"


def _sentence(kind: str, message: str) -> str:
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is not a key that this Otto knows; a newer one may have written the file"
    if kind == "string_unicode":
        return "holds half of a surrogate pair, which is not text"
    return message[:1].lower() + message[1:]
