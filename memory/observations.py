"""The records of the ledger: observations, reflections and drops (seed 003, "three layers and a ledger").

An observation is one fact with the events it comes from; a reflection is a conclusion with the observations that it
rests on; a drop retires observations. Records are written to the tape's append-only ledger, one batch an entry, each
with the ``seq`` up to which its batch covers the conversation. Their ids are 12 hex digits that derive from the content
alone, so the same text has the same id everywhere.

    observations  {"observations": [{id, content, timestamp, relevance, sources, tokens}, ...], "covers": seq}
    reflections   {"reflections": [{id, content, supports, tokens}, ...], "covers": seq}
    drops         {"ids": [id, ...], "covers": seq}

``memory/ledger_fold.py`` replays entries; ``memory/projection.py`` says which records a compaction shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

from memory.ids import record_id
from memory.text import storable
from memory.tokens import count_tokens
from memory.values import CONVERSATION

if TYPE_CHECKING:
    from memory.store import MemoryStore

Relevance = Literal["low", "medium", "high", "critical"]
"""How much an observation matters. Critical ones are never dropped."""

RELEVANCES: Final[tuple[Relevance, ...]] = get_args(Relevance)
"""From the least to the most."""

OBSERVATIONS = "observations"
REFLECTIONS = "reflections"
DROPS = "drops"
RECORD_ENTRIES = (OBSERVATIONS, REFLECTIONS, DROPS)
"""The names of the ledger entries that hold records."""

MOST_CHARACTERS = 10_000
"""Of a record's content; the rest is cut off and counted."""

MINUTE = "%Y-%m-%d %H:%M"
"""How an observation says when something happened: local time, to the minute."""

_ID = re.compile(r"[0-9a-f]{12}")
_MINUTE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_RELEVANCE_IN_TEXT = re.compile(rf"{_MINUTE.pattern} \[({'|'.join(RELEVANCES)})\] ")

_Record = TypeVar("_Record")


class InvalidRecord(ValueError):
    """A record, or a ledger entry that holds one, is not what it should be; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One fact from the conversation. Make one with ``observation``."""

    id: str
    content: str
    timestamp: str
    """``YYYY-MM-DD HH:MM``, local time."""
    relevance: Relevance
    sources: tuple[str, ...]
    """Ids of the events that say so, in the order of the tape; at least one."""
    tokens: int
    """What its line costs."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """A durable conclusion. Make one with ``reflection``."""

    id: str
    content: str
    supports: tuple[str, ...]
    """Ids of the observations that it rests on; at least one."""
    tokens: int
    """What its line costs."""


# -- making records ------------------------------------------------------------------------------------------------


def observation(content: str, *, timestamp: str, relevance: str, sources: Iterable[str]) -> Observation:
    """An observation with its id and cost. ``content`` beyond ``MOST_CHARACTERS`` is cut off and counted.

    Whether ``sources`` are events of the tape is for the caller to know; they are kept in the order given, without
    repeats.

    Raises:
        InvalidRecord: nothing is said, no source is named, or the time or relevance is not one.
    """
    content = cut_content(content)
    made = Observation(
        id=record_id(content),
        content=content,
        timestamp=timestamp,
        relevance=_relevance(relevance),
        sources=tuple(dict.fromkeys(map(storable, sources))),
        tokens=count_tokens(_observation_line(record_id(content), timestamp, relevance, content)),
    )
    _check_observation(made)
    return made


def reflection(content: str, *, supports: Iterable[str]) -> Reflection:
    """A reflection with its id and cost. ``content`` is trimmed, and cut as an observation's is.

    Whether ``supports`` are live observations is for the caller to know; they are kept in the order given, without
    repeats.

    Raises:
        InvalidRecord: nothing is said, it has more than one line, or no observation is named.
    """
    content = cut_content(content.strip())
    made = Reflection(
        id=record_id(content),
        content=content,
        supports=tuple(dict.fromkeys(supports)),
        tokens=count_tokens(_reflection_line(record_id(content), content)),
    )
    _check_reflection(made)
    return made


def cut_content(content: str) -> str:
    """``content`` as it is recorded: storable, and beyond ``MOST_CHARACTERS`` cut off with a mark that says so."""
    content = storable(content)
    beyond = len(content) - MOST_CHARACTERS
    return content if beyond <= 0 else f"{content[:MOST_CHARACTERS]} … [{beyond:,} characters cut]"


# -- how records read ----------------------------------------------------------------------------------------------


def observation_line(made: Observation) -> str:
    """``[id] YYYY-MM-DD HH:MM [relevance] content``, on one line."""
    return _observation_line(made.id, made.timestamp, made.relevance, made.content)


def reflection_line(made: Reflection) -> str:
    """``[id] content``, on one line."""
    return _reflection_line(made.id, made.content)


def observation_text(made: Observation) -> str:
    """The line without the id: what a bullet says that stands for the observation."""
    return f"{made.timestamp} [{made.relevance}] {made.content}"


def relevance_in(text: str) -> Relevance | None:
    """The relevance that an ``observation_text`` tells; None where the text is no such."""
    match = _RELEVANCE_IN_TEXT.match(text)
    return None if match is None else _relevance(match[1])


# -- writing records -----------------------------------------------------------------------------------------------


def record_observations(
    store: MemoryStore, observations: Sequence[Observation], *, covers: int, kind: str = CONVERSATION
) -> int | None:
    """Append one batch to the ledger; the number of the entry. An empty batch records nothing and covers nothing.

    Args:
        covers: ``seq`` of the last event that the observer has read for this batch.

    Raises:
        StoreReadOnly, StoreUnavailable: it could not be written.
    """
    if not observations:
        return None
    return store.record(kind, OBSERVATIONS, {"observations": [_plain(made) for made in observations], "covers": covers})


def record_reflections(
    store: MemoryStore, reflections: Sequence[Reflection], *, covers: int, kind: str = CONVERSATION
) -> int | None:
    """Append one batch to the ledger; the number of the entry. An empty batch records nothing and covers nothing.

    Args:
        covers: up to which ``seq`` the observations reach that the reflector has read.

    Raises:
        StoreReadOnly, StoreUnavailable: it could not be written.
    """
    if not reflections:
        return None
    return store.record(kind, REFLECTIONS, {"reflections": [_plain(made) for made in reflections], "covers": covers})


def record_drops(store: MemoryStore, ids: Sequence[str], *, covers: int, kind: str = CONVERSATION) -> int | None:
    """Retire observations: append their tombstones to the ledger; the number of the entry. None for no ids.

    Which observations may go is decided by ``memory/dropping.py``.

    Args:
        covers: the earlier of what the observations and the reflections cover that the drop rests on.

    Raises:
        StoreReadOnly, StoreUnavailable: it could not be written.
    """
    if not ids:
        return None
    return store.record(kind, DROPS, {"ids": list(dict.fromkeys(ids)), "covers": covers})


# -- reading records -----------------------------------------------------------------------------------------------


def covers_of(data: Mapping[str, Any]) -> int:
    """The ``seq`` up to which an entry covers the conversation.

    Raises:
        InvalidRecord: it does not say so.
    """
    covers = data.get("covers")
    if not isinstance(covers, int) or isinstance(covers, bool) or covers < 1:
        raise InvalidRecord("covers is not the number of an event")
    return covers


def observations_in(data: Mapping[str, Any]) -> tuple[Observation, ...]:
    """The records of an ``observations`` entry.

    Raises:
        InvalidRecord: any of them is wrong, which makes the whole entry worth nothing.
    """
    return _records(data, "observations", _observation_of)


def reflections_in(data: Mapping[str, Any]) -> tuple[Reflection, ...]:
    """The records of a ``reflections`` entry.

    Raises:
        InvalidRecord: any of them is wrong, which makes the whole entry worth nothing.
    """
    return _records(data, "reflections", _reflection_of)


def drops_in(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The observations that a ``drops`` entry retires; some may be unknown.

    Raises:
        InvalidRecord: any of them is no id, which makes the whole entry worth nothing.
    """
    return _records(data, "ids", _id_of)


def _records(data: Mapping[str, Any], key: str, read: Callable[[Any], _Record]) -> tuple[_Record, ...]:
    covers_of(data)
    found = data.get(key)
    if not isinstance(found, list) or not found:
        raise InvalidRecord(f"{key} is not a list with at least one entry")
    records: list[_Record] = []
    for place, record in enumerate(found):
        try:
            records.append(read(record))
        except InvalidRecord as error:
            raise InvalidRecord(f"{key}[{place}]: {error}") from None
    return tuple(records)


def _observation_of(record: Any) -> Observation:
    fields = _fields(record)
    made = Observation(
        id=_id_of(fields.get("id")),
        content=_text(fields, "content"),
        timestamp=_text(fields, "timestamp"),
        relevance=_relevance(fields.get("relevance")),
        sources=_names(fields, "sources"),
        tokens=_cost(fields),
    )
    _check_observation(made)
    return made


def _reflection_of(record: Any) -> Reflection:
    fields = _fields(record)
    made = Reflection(
        id=_id_of(fields.get("id")),
        content=_text(fields, "content"),
        supports=_names(fields, "supports"),
        tokens=_cost(fields),
    )
    _check_reflection(made)
    return made


def _check_observation(made: Observation) -> None:
    _check_content(made.id, made.content)
    if not made.sources or not all(made.sources):
        raise InvalidRecord("sources does not name an event")
    if not _MINUTE.fullmatch(made.timestamp) or not _is_moment(made.timestamp):
        raise InvalidRecord("timestamp is not a time such as 2026-11-30 02:15")


def _check_reflection(made: Reflection) -> None:
    _check_content(made.id, made.content)
    if len(made.content.splitlines()) > 1:
        raise InvalidRecord("content has more than one line")
    if not made.supports or not all(map(_ID.fullmatch, made.supports)):
        raise InvalidRecord("supports does not name an observation")


def _check_content(id: str, content: str) -> None:
    if not content.strip():
        raise InvalidRecord("content says nothing")
    if id != record_id(content):
        raise InvalidRecord("id does not derive from the content")


def _is_moment(minute: str) -> bool:
    try:
        datetime.fromisoformat(minute)
    except ValueError:
        return False
    return True


def _fields(record: Any) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise InvalidRecord("it is not a record")
    return record


def _id_of(value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise InvalidRecord("id is not 12 hex digits")
    return value


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise InvalidRecord(f"{key} is not text")
    return value


def _names(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidRecord(f"{key} is not a list of ids")
    return tuple(value)


def _relevance(value: Any) -> Relevance:
    for relevance in RELEVANCES:
        if value == relevance:
            return relevance
    raise InvalidRecord(f"relevance is not one of {', '.join(RELEVANCES)}")


def _cost(fields: Mapping[str, Any]) -> int:
    tokens = fields.get("tokens")
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
        raise InvalidRecord("tokens is not a count")
    return tokens


def _plain(made: Observation | Reflection) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(made).items()}


def _observation_line(id: str, timestamp: str, relevance: str, content: str) -> str:
    return f"[{id}] {timestamp} [{relevance}] {' '.join(content.split())}"


def _reflection_line(id: str, content: str) -> str:
    return f"[{id}] {' '.join(content.split())}"
