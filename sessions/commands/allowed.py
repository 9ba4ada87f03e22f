"""Which commands a model may run in a workspace without being asked for: what the person answered with "always"."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from memory.errors import OttoError
from sessions.private_files import FILE_MODE, make_folder, move_once, reason, write_whole

FILE_NAME = "allowed_commands.json"

LARGEST_FILE = 1_000_000
"""Bytes."""

LOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the file says of one workspace."""

    prefixes: frozenset[str]
    notice: str | None = None
    """What was wrong with the file, as a sentence; it has been moved aside and counts as empty."""


class AllowedCommands:
    """``allowed_commands.json`` in Otto's home: ``{"workspaces": {"/folder": ["git status", ...]}}``.

    The person may edit or delete it; it is read anew each time. It only ever names prefixes: what one covers is decided
    by ``prefix_of`` when a command is about to run. All methods block; run them in a thread.
    """

    def __init__(self, home: Path, workspace: Path) -> None:
        self._file = home / FILE_NAME
        self._workspace = os.path.realpath(workspace)

    def read(self) -> Allowed:
        """Never raises: a file that cannot be read allows nothing, and says why."""
        try:
            return Allowed(frozenset(self._all().get(self._workspace, ())))
        except _Damaged as damaged:
            return Allowed(frozenset(), self._set_aside(damaged))
        except OSError as error:
            return Allowed(frozenset(), f"{self._file} cannot be read: {reason(error)}. Each command is asked for.")

    def add(self, prefix: str) -> str | None:
        """Allow ``prefix`` in the workspace from now on, also for other Ottos. A notice where a file was damaged.

        Raises:
            OttoError: it cannot be written.
        """
        from filelock import FileLock, Timeout

        make_folder(self._file.parent)
        try:
            with FileLock(self._file.with_suffix(".lock"), timeout=LOCK_SECONDS, mode=FILE_MODE):
                return self._add_locked(prefix)
        except Timeout as error:
            raise OttoError(f"Another Otto is writing {self._file}, so the answer holds for this time only.") from error
        except OSError as error:
            raise OttoError(
                f"{self._file} cannot be written: {reason(error)}. The answer holds for this time only."
            ) from error

    def _add_locked(self, prefix: str) -> str | None:
        notice = None
        try:
            everything = self._all()
        except _Damaged as damaged:
            notice = self._set_aside(damaged)
            everything = {}
        here = sorted({*everything.get(self._workspace, ()), prefix})
        shape = {"workspaces": {**everything, self._workspace: here}}
        write_whole(self._file, json.dumps(shape, indent=2, ensure_ascii=False).encode() + b"\n", replace=True)
        return notice

    def _all(self) -> dict[str, list[str]]:
        """Prefixes by workspace. Raises ``_Damaged`` and OSError."""
        try:
            with self._file.open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
        except FileNotFoundError:
            return {}
        if len(data) > LARGEST_FILE:
            raise _Damaged("is far too large")
        try:
            shape = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _Damaged("is not valid JSON") from error
        workspaces = shape.get("workspaces") if isinstance(shape, dict) else None
        if not isinstance(workspaces, dict) or not all(_is_list_of_words(each) for each in workspaces.values()):
            raise _Damaged("does not have the shape that Otto writes")
        return workspaces

    def _set_aside(self, damaged: _Damaged) -> str:
        """Move the file to a free name beside it; what to tell the person."""
        for number in range(1, 100):
            aside = self._file.with_name(f"{FILE_NAME}.damaged-{number}")
            try:
                move_once(self._file, aside)
            except FileExistsError:
                continue
            except OSError as error:
                return f"{self._file} {damaged} and cannot be moved ({reason(error)}). Each command is asked for again."
            return f"{self._file} {damaged}. It is now {aside.name}, and each command is asked for again."
        return f"{self._file} {damaged}. Each command is asked for again until you delete it."


class _Damaged(Exception):
    """The words say what is wrong with the file."""


def _is_list_of_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
