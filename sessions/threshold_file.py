"""``thresholds.json`` in Otto's folder: what ``otto eval-thresholds --set`` measured, by the model's stamp."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memory.errors import OttoError
from memory.thresholds import Thresholds
from sessions.private_files import make_folder, reason, write_whole

LARGEST = 1_000_000
"""Bytes. A larger file is not one that Otto wrote."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the file holds."""

    by_stamp: dict[str, Thresholds] = field(default_factory=dict)
    complaint: str | None = None
    """A sentence, where the file is there and is no good."""


def thresholds_file(home: Path) -> Path:
    """Where it is kept; it need not exist."""
    return home / "thresholds.json"


def load_thresholds(home: Path) -> Stored:
    """What was measured on this machine. Never raises: what cannot be read counts as not measured, and is said."""
    path = thresholds_file(home)
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(LARGEST))
    except FileNotFoundError:
        return Stored()
    except OSError as error:
        return Stored(complaint=_left_out(path, f"cannot be read ({reason(error)})"))
    except (ValueError, RecursionError):
        return Stored(complaint=_left_out(path, "is not JSON"))
    try:
        return Stored(dict(_entries(content)))
    except (TypeError, KeyError, AttributeError):
        return Stored(complaint=_left_out(path, "holds something else"))


def save_thresholds(home: Path, stamp: str, thresholds: Thresholds) -> Path:
    """Keep one model's thresholds beside those of others; return the file. A kill leaves the old file or the new one.

    Raises:
        OttoError: the file that is there cannot be read, or this one cannot be written.
    """
    known = load_thresholds(home)
    if known.complaint is not None:
        raise OttoError(known.complaint)
    path = thresholds_file(home)
    make_folder(home)
    document = json.dumps(
        {stamp: asdict(each) for stamp, each in sorted((known.by_stamp | {stamp: thresholds}).items())}, indent=2
    )
    try:
        write_whole(path, f"{document}\n".encode(), replace=True)
    except OSError as error:
        raise OttoError(f"{path} cannot be written: {reason(error)}. Nothing was set.") from error
    return path


def _entries(content: Any) -> Iterator[tuple[str, Thresholds]]:
    for stamp, entry in content.items():
        yield stamp, Thresholds(_likeness(entry["threshold"]), _likeness(entry["sure"]))


def _likeness(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and -1 <= value <= 1:
        return float(value)
    raise TypeError(value)


def _left_out(path: Path, why: str) -> str:
    return (
        f"{path} {why}, so thresholds measured on this machine are left out; remove it, and measure anew with"
        " otto eval-thresholds MODEL --set."
    )
