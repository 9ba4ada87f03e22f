"""How sessions are named: ids that sort by time and can be typed, and titles."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from sessions.display import one_line
from sessions.errors import TitleRefused, UnknownSession

TITLE_LENGTH = 60
"""Most characters in a title."""

UNTITLED = "Untitled"

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Sorts as numbers do; without i, l, o and u, which are mistaken for others."""

_TIME_LETTERS = 4
_CHANCE_LETTERS = 2
_DAY_SECONDS = 86_400
_MOST_SHOWN = 5

LAST = "last"
ALL = "all"
"""What a person types instead of an id; no session is called so."""

_SESSION_ID = re.compile(r"[0-9a-z][0-9a-z_-]{0,63}")


def new_session_id(now: datetime, taken: Callable[[str], bool]) -> str:
    """Return an id that is not ``taken``, such as ``20261130-k3f97q``.

    The day and the first four letters say when, to a tenth of a second; the last two are chance, for two processes
    that start in the same moment.
    """
    moment = now.astimezone(UTC)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    share = (moment - midnight).total_seconds() / _DAY_SECONDS
    start = f"{moment:%Y%m%d}-{_spelled(int(share * len(_LETTERS) ** _TIME_LETTERS), _TIME_LETTERS)}"
    while taken(id := start + _spelled(secrets.randbelow(len(_LETTERS) ** _CHANCE_LETTERS), _CHANCE_LETTERS)):
        pass
    return id


def free_id(wanted: str, taken: Callable[[str], bool]) -> str:
    """Return ``wanted``, or it with the first free number: ``20261130-k3f97q-2``."""
    if not taken(wanted):
        return wanted
    stem = wanted[:58]
    number = 2
    while taken(f"{stem}-{number}"):
        number += 1
    return f"{stem}-{number}"


def is_session_id(text: str) -> bool:
    """Whether ``text`` may name a session's file: small letters, digits, ``-`` and ``_``, at most 64."""
    return _SESSION_ID.fullmatch(text) is not None and text not in (LAST, ALL)


def chosen_id(typed: str, newest_first: Iterable[str]) -> str:
    """Return the one id that ``typed`` means: ``last``, an id, or the beginning of just one.

    Raises:
        UnknownSession: it means none, or several.
    """
    ids = list(newest_first)
    wanted = typed.strip().lower()
    if wanted in ids:
        return wanted
    if wanted == LAST:
        if not ids:
            raise UnknownSession("There is no session yet. Type otto to start one.")
        return ids[0]
    fitting = [id for id in ids if wanted and id.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    name = one_line(typed, 40)
    if not fitting:
        raise UnknownSession(f'There is no session "{name}". Type otto sessions to see what there is.')
    shown = ", ".join(fitting[:_MOST_SHOWN]) + (", ..." if len(fitting) > _MOST_SHOWN else "")
    raise UnknownSession(f'"{name}" fits {len(fitting)} sessions: {shown}. Type more of the id.')


def title_of(prompt: str) -> str:
    """Return a title made of a session's first prompt: its first line that says anything."""
    for line in prompt.splitlines():
        if title := one_line(line, TITLE_LENGTH):
            return title
    return UNTITLED


def checked_title(typed: str) -> str:
    """Return what a person typed as a title, on one line.

    Raises:
        TitleRefused: nothing of it can be seen.
    """
    title = one_line(typed, TITLE_LENGTH)
    if not title:
        raise TitleRefused("A title needs at least one character that can be seen. The old title was kept.")
    return title


def fork_title(title: str) -> str:
    """Return the title of a fork of the session with this title."""
    mark = " (fork)"
    return title if title.endswith(mark) else one_line(title, TITLE_LENGTH - len(mark)) + mark


def _spelled(number: int, length: int) -> str:
    letters = ""
    for _ in range(length):
        number, rest = divmod(number, len(_LETTERS))
        letters = _LETTERS[rest] + letters
    return letters
