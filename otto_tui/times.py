"""Times as a person reads them."""

from __future__ import annotations

from datetime import datetime


def local_time(time: str) -> str:
    """An ISO time as ``2026-11-30 14:05`` on this machine's clock; what is no time stays as it is."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
