"""Conversations of LoCoMo (snap-research/locomo, arXiv:2402.17753) read into values, from both published layouts.

One file a conversation, with ``session_N`` at its top, or ``locomo10.json``: a list whose entries hold the same under
``conversation``. Nothing of the data set is part of Otto; it is read where the person keeps it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory.errors import OttoError

CATEGORIES: Mapping[int, str] = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""As the benchmark's authors number them. Seed 000 calls 1 single-hop, 3 multi-hop and 4 open-domain."""

ADVERSARIAL = 5
"""Asks for what was never said; its evidence is where the question was taken from, not an answer."""

_SESSION = re.compile(r"session_(\d+)")
_WRITTEN_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s;,()\[\]\"'.]+")


class LocomoUnreadable(OttoError):
    """The file is missing, is not JSON, or does not hold a conversation of LoCoMo."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that one of the two said."""

    id: str
    """Such as ``D1:3``: session and place in it, without leading zeros."""
    speaker: str
    text: str
    caption: str | None
    """What a picture that was shared shows."""
    said_at: datetime
    """In UTC: one minute a turn after the date and time of its session."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the turns that the answer rests on."""

    text: str
    answer: str
    """Empty for most adversarial questions."""
    category: int
    """A key of ``CATEGORIES``."""
    evidence: tuple[str, ...]
    """Ids of turns of this conversation, each once."""
    unresolved: tuple[str, ...]
    """What else stands where the evidence is given: an id of no turn, or no id at all."""
    plain: bool = True
    """Whether an entry is the id of a turn exactly as it is written: what a reader with less care finds."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation with what is asked about it."""

    name: str
    """Such as ``26``: of the file, or the number in ``sample_id``."""
    speakers: tuple[str, str]
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(path: Path) -> tuple[Talk, ...]:
    """Return the conversations of a file, or of all ``*.json`` files of a folder in the order of their names.

    Raises:
        LocomoUnreadable: with the file and what is wrong with it.
    """
    if not path.is_dir():
        return tuple(_talks(path))
    files = sorted(path.glob("*.json"), key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise LocomoUnreadable(f"There is no *.json file in {path}; name a file or a folder with LoCoMo's.")
    return tuple(talk for file in files for talk in _talks(file))


def words_of(turn: Turn) -> str:
    """The words that go on the tape."""
    caption = f" [shares {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{caption}"


def read_evidence(given: object, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is known of the evidence of a question, and what is not.

    Some entries hold several ids in one string, zeros before the number, a colon too many, or stray characters.

    Args:
        given: the value of ``evidence``.
        ids: of all turns.
    """
    known: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for entry in given if isinstance(given, list) else [given] if given else []:
        text = str(entry)
        for found in _WRITTEN_ID.finditer(text):
            id = f"D{int(found[1])}:{int(found[2])}"
            if id in ids:
                known[id] = None
            else:
                unknown[found[0]] = None
        for stray in filter(None, _SEPARATORS.split(_WRITTEN_ID.sub(" ", text))):
            unknown[stray] = None
    return tuple(known), tuple(unknown)


def _talks(path: Path) -> Iterator[Talk]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LocomoUnreadable(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise LocomoUnreadable(f"{path} is not JSON, so it holds no conversation of LoCoMo.") from error
    entries = content if isinstance(content, list) else [content]
    for number, entry in enumerate(entries, 1):
        name = path.stem if not isinstance(content, list) else str(number)
        try:
            yield _talk(entry, name)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise LocomoUnreadable(
                f"{path} is not in LoCoMo's format: conversation {number} of {len(entries)} lacks or misspells"
                f" {_short(error)}."
            ) from error


def _talk(entry: Mapping[str, Any], name: str) -> Talk:
    said = entry.get("conversation", entry)
    if entry.get("sample_id"):
        name = str(entry["sample_id"]).removeprefix("conv-")
    turns = tuple(_turns(said))
    if not turns:
        raise KeyError("session_1")
    ids = {turn.id for turn in turns}
    return Talk(
        name=name,
        speakers=_speakers(said, turns),
        turns=turns,
        questions=tuple(_question(asked, ids) for asked in entry["qa"]),
    )


def _turns(said: Mapping[str, Any]) -> Iterator[Turn]:
    """In the order of the sessions' numbers."""
    numbers = sorted(int(found[1]) for found in map(_SESSION.fullmatch, said) if found)
    seen: Counter[str] = Counter()
    for number in numbers:
        turns = said[f"session_{number}"]
        if not turns:
            continue
        began = _moment(said[f"session_{number}_date_time"])
        for place, turn in enumerate(turns):
            id = _written(turn["dia_id"])
            seen[id] += 1
            yield Turn(
                # Evidence means the first of two turns with one id.
                id=id if seen[id] == 1 else f"{id}#{seen[id]}",
                speaker=str(turn["speaker"]),
                text=str(turn.get("text") or ""),
                caption=str(turn["blip_caption"]) if turn.get("blip_caption") else None,
                said_at=began + timedelta(minutes=place),
            )


def _moment(written: str) -> datetime:
    """``1:56 pm on 8 May, 2023``."""
    return datetime.strptime(" ".join(written.split()), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _written(id: object) -> str:
    found = _WRITTEN_ID.fullmatch(str(id).strip())
    return f"D{int(found[1])}:{int(found[2])}" if found else str(id)


def _speakers(said: Mapping[str, Any], turns: Sequence[Turn]) -> tuple[str, str]:
    heard = list(dict.fromkeys(turn.speaker for turn in turns))
    first = str(said.get("speaker_a") or heard[0])
    others = [name for name in heard if name != first]
    return first, str(said.get("speaker_b") or (others[0] if others else first))


def _question(asked: Mapping[str, Any], ids: Collection[str]) -> Question:
    evidence, unresolved = read_evidence(asked.get("evidence"), ids)
    answer = asked.get("answer")
    category = int(asked["category"])
    if category not in CATEGORIES:
        raise ValueError(f"category {category}")
    return Question(
        text=str(asked["question"]),
        answer="" if answer is None else str(answer),
        category=category,
        evidence=evidence,
        unresolved=unresolved,
        plain=any(str(entry) in ids for entry in asked.get("evidence") or ()),
    )


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
