"""Deleted sessions: each in a numbered folder of its own, until it is taken back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory.errors import StoreUnavailable
from sessions import tapes
from sessions.ids import free_id
from sessions.private_files import FOLDER_MODE, make_folder, reason, sync_folder, write_whole
from sessions.rows import SessionRow

_ROW_FILE = "row.json"
_DIGITS = 6
_COLUMNS = ("id", "title", "workspace", "created", "updated", "turns", "parent")


class Trash:
    """The trash of a home. The caller holds the session's lock while a tape is moved."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home / "trash"

    def put(self, row: SessionRow) -> None:
        """Move a session's tape here, with its row.

        Raises:
            StoreUnavailable: it cannot be moved; the session stays where it is.
        """
        tape = tapes.tape_path(self._home, row.id)
        _checkpoint(tape)
        try:
            place = self._new_place(row.id)
            write_whole(place / _ROW_FILE, _dump(row), replace=False)
            # The tape goes first and comes back last, so that it never stands there without the rest of it.
            for part in (tape, *_side_files(tape)):
                part.rename(place / part.name)
            sync_folder(place)
            sync_folder(tape.parent)
        except OSError as error:
            raise StoreUnavailable(
                f"The session cannot be moved to {self._folder}: {reason(error)}. It was not deleted."
            ) from error

    def take_back(self, taken: Callable[[str], bool]) -> SessionRow | None:
        """Move the session that was deleted last back; None when the trash is empty.

        If its id is ``taken`` by now, it gets another and the row's notice says so.

        Raises:
            StoreUnavailable: it cannot be moved; it stays in the trash.
        """
        for place in self._places():
            tape = next(iter(sorted(place.glob(f"*{tapes.SUFFIX}"))), None)
            try:
                if tape is not None:
                    return self._restore(place, tape, taken)
                _remove(place)
            except OSError as error:
                raise StoreUnavailable(
                    f"The session cannot be moved back from {place}: {reason(error)}. It is still there."
                ) from error
        return None

    def _restore(self, place: Path, tape: Path, taken: Callable[[str], bool]) -> SessionRow:
        row = _load(place / _ROW_FILE, tape.stem)
        id = free_id(tape.stem, taken)
        target = tapes.tape_path(self._home, id)
        make_folder(target.parent)
        for part in (*_side_files(tape), tape):
            part.rename(target.with_name(target.name + part.name.removeprefix(tape.name)))
        sync_folder(target.parent)
        _remove(place)
        if id == row.id:
            return row
        return replace(row, id=id, notice=f"Another session is called {row.id} by now, so this one came back as {id}.")

    def _new_place(self, id: str) -> Path:
        make_folder(self._folder)
        number = max((_number(place) for place in self._places()), default=0) + 1
        while True:
            place = self._folder / f"{number:0{_DIGITS}}-{id}"
            try:
                place.mkdir(mode=FOLDER_MODE)
            except FileExistsError:
                number += 1
            else:
                return place

    def _places(self) -> Iterator[Path]:
        """The folders of deleted sessions, last deletion first."""
        if not self._folder.is_dir():
            return iter(())
        places = [place for place in self._folder.iterdir() if place.is_dir() and _number(place)]
        return iter(sorted(places, key=lambda place: (_number(place), place.name), reverse=True))


def _number(place: Path) -> int:
    digits = place.name.split("-", 1)[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def _side_files(tape: Path) -> list[Path]:
    """What belongs to a tape beside it: what SQLite has not folded in, and copies from before an upgrade."""
    return sorted(part for part in tape.parent.glob(f"{tape.name}?*") if part.is_file())


def _checkpoint(tape: Path) -> None:
    """Fold what SQLite holds beside the file into it. A damaged tape is moved as it is, with all its files."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(tape)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _remove(place: Path) -> None:
    for file in place.iterdir():
        file.unlink()
    place.rmdir()


def _dump(row: SessionRow) -> bytes:
    return (json.dumps({name: getattr(row, name) for name in _COLUMNS}, ensure_ascii=False) + "\n").encode()


def _load(path: Path, id: str) -> SessionRow:
    """The row that was deleted; without a readable one the tape itself says all but what the index alone knew."""
    try:
        found: Any = json.loads(path.read_bytes())
        texts = {name: found[name] for name in ("title", "workspace", "created", "updated")}
        if not all(isinstance(text, str) for text in texts.values()):
            return SessionRow(id=id, title="")
        return SessionRow(id=id, turns=int(found["turns"]), parent=found["parent"], **texts)
    except (OSError, ValueError, KeyError, TypeError):
        return SessionRow(id=id, title="")
