"""Opening ``sessions.db``: missing, current, older, newer, damaged, on a disk that cannot be written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from memory.errors import OttoError, StoreDamaged, StoreTooNew, StoreUnavailable
from sessions.private_files import FILE_MODE, make_folder, reason

INDEX_VERSION = 1
"""Kept in ``PRAGMA user_version``; a file with a higher one was written by a newer Otto."""

BUSY_SECONDS = 30.0
"""How long one process waits for another one's write."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """A connection that cannot write; None when the file does not exist or is empty.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable.
    """
    with sentences(path):
        if not _has_content(path):
            yield None
            return
        with closing(_connect_to_read(path)) as db:
            _refuse_newer(db, path)
            yield db


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection inside one transaction; the file is made or brought up to date first.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable: nothing was written.
    """
    make_folder(path.parent)
    with sentences(path):
        if not _has_content(path):
            _make_current(path)
        with closing(_connect(path, "rw")) as db:
            if _version(db) < INDEX_VERSION:
                _make_current(path)
            _refuse_newer(db, path)
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


def set_aside(path: Path) -> Path | None:
    """Give a damaged index another name, its bytes untouched; the new path, or None if it is in order by now.

    Raises:
        StoreUnavailable: the folder cannot be written.
    """
    with _alone(path):
        try:
            with reading(path) as db:
                if db is not None:
                    db.execute("SELECT count(*) FROM sessions").fetchone()
            return None
        except StoreDamaged:
            number = 1
            while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
                number += 1
            for end in ("-wal", "-shm", ""):
                part = path.with_name(path.name + end)
                if part.exists():
                    part.rename(aside.with_name(aside.name + end))
            return aside


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into a sentence."""
    try:
        yield
    except OttoError:
        raise
    except sqlite3.OperationalError as error:
        raise _operational(error, path) from error
    except sqlite3.DatabaseError as error:
        raise StoreDamaged(f"{path} is damaged ({error}). It has been left as it is.") from error
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be used: {reason(error)}.") from error


def _operational(error: sqlite3.OperationalError, path: Path) -> OttoError:
    said = str(error)
    if "full" in said:
        return StoreUnavailable(
            f"The disk that holds {path} is full, so the list of sessions was not updated. Free some space;"
            " the sessions themselves are not affected."
        )
    if "locked" in said or "busy" in said:
        return StoreUnavailable(f"{path} is busy in another process. Try again in a moment.")
    if "no such table" in said or "no such column" in said or "malformed" in said:
        return StoreDamaged(f"{path} is damaged ({said}). It has been left as it is.")
    if "readonly" in said or "read-only" in said or not os.access(path.parent, os.W_OK):
        return StoreUnavailable(
            f"{path} cannot be written, so the list of sessions was not updated. Make {path.parent} writable,"
            " or choose another folder with OTTO_HOME."
        )
    return StoreUnavailable(f"{path} cannot be used: {said}.")


def _make_current(path: Path) -> None:
    """Create or upgrade the file, one process at a time, so that none sees half a table."""
    with _alone(path):
        there = _has_content(path)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, FILE_MODE))
        with closing(_connect(path, "rw")) as db:
            version = _version(db)
            if version >= INDEX_VERSION:
                return
            from sqlite_utils import Database

            from sessions.index_schema import index_migrations

            db.execute("PRAGMA journal_mode = WAL")
            if there:
                _back_up(db, path.with_name(f"{path.name}.v{version}.bak"))
            index_migrations.apply(Database(db))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock under which the file itself is made, upgraded or renamed."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(path.with_name(f"{path.name}.lock"), timeout=BUSY_SECONDS, mode=FILE_MODE):
            yield
    except Timeout as error:
        raise StoreUnavailable(f"{path} is busy in another process. Try again in a moment.") from error
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be written: {reason(error)}. Make {path.parent} writable, or choose another folder"
            " with OTTO_HOME."
        ) from error


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    db.row_factory = sqlite3.Row
    # One title that is not UTF-8 must not hide the others.
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db


def _connect_to_read(path: Path) -> sqlite3.Connection:
    db = _connect(path, "ro")
    try:
        _version(db)
    except sqlite3.OperationalError:
        # A folder that cannot be written has no room for SQLite's side files; without those nobody else writes.
        db.close()
        if os.access(path.parent, os.W_OK):
            raise
        db = _connect(path, "ro&immutable=1")
    return db


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _refuse_newer(db: sqlite3.Connection, path: Path) -> None:
    version = _version(db)
    if version > INDEX_VERSION:
        raise StoreTooNew(
            f"{path} was written by a newer Otto (version {version}; this one knows {INDEX_VERSION})."
            " Upgrade Otto to use it."
        )


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _back_up(db: sqlite3.Connection, target: Path) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_RDWR, FILE_MODE))
    with closing(sqlite3.connect(target)) as copy:
        db.backup(copy)
