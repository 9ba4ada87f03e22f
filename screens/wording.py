"""Numbers, ages and times in the few characters that a panel has for them."""

from __future__ import annotations

from datetime import UTC, datetime


def grouped(number: int) -> str:
    """``12,310``."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """``1 turn``, ``2 turns``, ``1,204 turns``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def brief(number: int) -> str:
    """``812``, ``12.3k``, ``1.2M``: for columns."""
    if number < 10_000:
        return f"{number:,}"
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def lasted(seconds: float) -> str:
    """``less than 0.1 s``, ``0.4 s``, ``12 s``, ``2 min 5 s``."""
    if seconds < 0.1:
        return "less than 0.1 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def age(moment: str, now: datetime) -> str:
    """How long ago an ISO 8601 time was: ``now``, ``5 min``, ``3 h``, ``4 d``, ``6 wk``, ``2 y``, or ``?``."""
    then = _parsed(moment)
    if then is None:
        return "?"
    seconds = (now - then).total_seconds()
    if seconds < 60:
        return "now"
    for limit, size, unit in _AGE_UNITS:
        if seconds < limit:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds // _YEAR)} y"


def moment_of(moment: str, now: datetime) -> str:
    """An ISO 8601 time on the local clock: ``10:04`` today, ``12 Nov 10:04`` this year, else ``12 Nov 2024 10:04``."""
    then = _parsed(moment)
    if then is None:
        return "?"
    local, today = then.astimezone(), now.astimezone()
    if local.date() == today.date():
        return f"{local:%H:%M}"
    if local.year == today.year:
        return f"{local.day} {local:%b %H:%M}"
    return f"{local.day} {local:%b %Y %H:%M}"


def _parsed(moment: str) -> datetime | None:
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return then if then.tzinfo else then.replace(tzinfo=UTC)


_YEAR = 365 * 86_400
_AGE_UNITS = (
    (3600, 60, "min"),
    (86_400, 3600, "h"),
    (14 * 86_400, 86_400, "d"),
    (_YEAR, 7 * 86_400, "wk"),
)
