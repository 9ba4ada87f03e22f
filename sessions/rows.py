"""``SessionRow``: what a list of sessions shows of each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session, as the index knows it. Times are ISO 8601 with offset."""

    id: str
    title: str
    workspace: str = ""
    """The folder in which it began."""
    created: str = ""
    updated: str = ""
    turns: int = 0
    """How often the person said something."""
    parent: str | None = None
    """The id of the session that this one was forked from."""
    snippet: str | None = None
    """Where the words that were searched for were said."""
    notice: str | None = None
    """What a person should know of how the row came to be, such as an import that got another id."""


def newest_first(rows: list[SessionRow]) -> list[SessionRow]:
    """Rows in the order of a list: last used first; of the same time, the later id first."""
    return sorted(rows, key=lambda row: (moment(row.updated), row.id), reverse=True)


def moment(time: str) -> datetime:
    """The moment that ``time`` names; the earliest of all when it names none."""
    try:
        parsed = datetime.fromisoformat(time)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
