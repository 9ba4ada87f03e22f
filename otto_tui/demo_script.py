"""The conversation that ``otto demo`` plays (``demo_script.toml``), as values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory.ids import content_id
from memory.values import NewEvent

REPLY_AFTER = timedelta(seconds=20)
"""How long after the question a reply is said to have come."""

SPEAKER = "demo"
"""The source of the replies on the tape."""


@dataclass(frozen=True, slots=True)
class Said:
    """Exact words of the person, and the turn in which they are said, counted from 1."""

    turn: int
    words: str


@dataclass(frozen=True, slots=True)
class Planted(Said):
    """What must survive every compaction, with a question that it answers."""

    question: str
    instead_of: Said | None = None
    """What was said about it before and no longer holds."""


@dataclass(frozen=True, slots=True)
class DemoTurn:
    """One message of the person and the reply to it."""

    at: datetime
    you: str
    otto: str


@dataclass(frozen=True, slots=True)
class DemoScript:
    """A whole conversation and the budgets, in tokens, at which it shows what compaction does."""

    title: str
    x_budget: int
    y_budget: int
    turns: tuple[DemoTurn, ...]
    planted: tuple[Planted, ...]

    def events(self) -> Iterator[NewEvent]:
        """Everything that is said, in order, with ids that are the same every time."""
        for number, turn in enumerate(self.turns, start=1):
            asked, answered = turn.at, turn.at + REPLY_AFTER
            yield _event(number, "user", "person", turn.you, asked)
            yield _event(number, "assistant", SPEAKER, turn.otto, answered)


def load_script() -> DemoScript:
    """The conversation in the box."""
    document = tomllib.loads((Path(__file__).parent / "demo_script.toml").read_text(encoding="utf-8"))
    return DemoScript(
        title=document["title"],
        x_budget=document["x_budget"],
        y_budget=document["y_budget"],
        turns=tuple(DemoTurn(turn["at"], turn["you"], turn["otto"]) for turn in document["turn"]),
        planted=tuple(_planted(entry) for entry in document["planted"]),
    )


def _planted(entry: dict[str, Any]) -> Planted:
    before = entry.get("instead_of")
    return Planted(entry["turn"], entry["words"], entry["question"], Said(**before) if before else None)


def _event(turn: int, role: str, source: str, text: str, at: datetime) -> NewEvent:
    id = content_id(SPEAKER, str(turn), role)
    return NewEvent(id=id, role=role, source=source, text=text, t_event=at.isoformat())
