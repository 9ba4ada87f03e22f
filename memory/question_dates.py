"""The days that a question is about: "on 8 May 2023", "2023-05-08", "in June", "last May", "two weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TO_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: n for n, word in enumerate(_TO_TEN, 1)}
_NUMBERS |= {"a": 1, "an": 1, "a couple of": 2, "a few": 3}

# Short forms only beside a number: "may" and "mar" are words too.
_MONTH = "|".join(f"{month}|{month[:3]}\\.?" for month in _MONTHS)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_LATE = r"(?:early|late|mid|the (?:beginning|start|middle|end) of|the (?:first|second) half of)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}[-/.](?P<number>\d{{1,2}})[-/.](?P<day>\d{{1,2}})\b",
        rf"\b{_DAY}(?: of)? (?P<month>{_MONTH})(?:,? {_YEAR})?\b",
        rf"\b(?P<month>{_MONTH}) {_DAY}(?:,? {_YEAR})?(?!\d)",
        rf"\b(?P<month>{_MONTH}),?(?: of)? {_YEAR}\b",
        rf"\b{_YEAR}-(?P<number>\d{{2}})\b(?!-)",
        rf"\b(?:in|during|since|by|until|before|after|last|this|of) (?:{_LATE} )?(?P<month>{'|'.join(_MONTHS)})\b",
        r"\b(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + r") (?P<unit>day|week|month)s? ago\b",
        r"\b(?P<word>yesterday|today|this morning|this week|last week|this month|last month)\b",
        rf"\b(?:last|on) (?P<weekday>{'|'.join(_WEEKDAYS)})\b",
    )
)
_MOST_SPANS = 16


@dataclass(frozen=True, slots=True)
class Days:
    """A span of days, as ``date.toordinal`` counts, both included."""

    first: int
    last: int
    relative: bool = False
    """Whether it was counted back from now, which is not always the moment that the question is about."""


def days_asked(question: str, earliest: int, newest: int) -> tuple[Days, ...]:
    """The days that ``question`` speaks of. Never raises.

    Args:
        earliest, newest: the first and the last day of what may be recalled: where no year is said every year between
            them is meant, and relative dates count back from the newest.
    """
    spans: dict[Days, None] = {}
    taken = [False] * len(question)
    for pattern in _PATTERNS:
        for match in pattern.finditer(question):
            if any(taken[match.start() : match.end()]):
                continue
            found = list(_spans(match.groupdict(), earliest, newest))
            if found:
                taken[match.start() : match.end()] = [True] * (match.end() - match.start())
                spans.update(dict.fromkeys(found))
    return tuple(spans)[:_MOST_SPANS]


def _spans(said: dict[str, str | None], earliest: int, newest: int) -> Iterator[Days]:
    if any(said.get(name) for name in ("count", "word", "weekday")):
        yield _counted_back(said, newest)
        return
    month = int(said["number"] or 0) if "number" in said else _month(said.get("month") or "")
    years = [int(said["year"] or 0)] if said.get("year") else _years(earliest, newest)
    for year in years:
        span = _day_or_month(year, month, said.get("day"))
        if span is not None:
            yield span


def _years(earliest: int, newest: int) -> range:
    first, last = (date.fromordinal(max(1, day)).year for day in (earliest, newest))
    return range(max(first, last - _MOST_SPANS), last + 1)


def _month(name: str) -> int:
    return next((n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.lower().rstrip("."))), 0)


def _day_or_month(year: int, month: int, day: str | None) -> Days | None:
    try:
        first = date(year, month, int(day) if day else 1)
    except ValueError:
        return None
    if day:
        return Days(first.toordinal(), first.toordinal())
    following = date(year + month // 12, month % 12 + 1, 1) if year < MAXYEAR else date.max
    return Days(first.toordinal(), following.toordinal() - 1)


def _counted_back(said: dict[str, str | None], newest: int) -> Days:
    today = date.fromordinal(max(1, newest))
    if said.get("weekday"):
        back = (today.weekday() - _WEEKDAYS.index(str(said["weekday"]).lower())) % 7 or 7
        return _back(today, back, 0)
    if said.get("count"):
        count = _NUMBERS.get(str(said["count"]).lower()) or int(str(said["count"]))
        days, slack = {"day": (1, 0), "week": (7, 3), "month": (30, 10)}[str(said["unit"]).lower()]
        return _back(today, count * days, slack)
    word = str(said["word"]).lower()
    if word.endswith("week"):
        monday = today - timedelta(days=min(today.weekday(), today.toordinal() - 1))
        return _back(monday, 7, 0, length=7) if word.startswith("last") else _back(monday, 0, 0, length=7)
    if word.endswith("month"):
        first = today.replace(day=1)
        if word.startswith("last") and first.toordinal() > 1:
            first = (first - timedelta(days=1)).replace(day=1)
        return Days(first.toordinal(), first.toordinal() + 30, relative=True)
    return _back(today, 1 if word == "yesterday" else 0, 0)


def _back(today: date, days: int, slack: int, length: int = 1) -> Days:
    first = today.toordinal() - days
    return Days(max(1, first - slack), max(1, first + slack + length - 1), relative=True)
