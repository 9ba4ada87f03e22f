"""Opening a tape file: new, current, older (backed up and upgraded), newer, damaged, read-only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from memory.errors import OttoError, StoreDamaged, StoreReadOnly, StoreTooNew, StoreUnavailable
from memory.schema import SCHEMA_VERSION

SQLITE_HEADER = b"SQLite format 3\x00"
BUSY_TIMEOUT_MS = 10_000


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open a tape file, creating or upgrading it unless ``read_only``.

    Raises:
        StoreDamaged: it is not a database; it is left untouched.
        StoreTooNew: a newer Otto wrote it.
        StoreUnavailable: it cannot be read, or written where that is needed.
    """
    with readable_errors(path):
        exists = _looks_like_a_database(path)
        if read_only and not exists:
            raise StoreUnavailable(f"{path} does not exist yet, so it cannot be opened for reading.")
        if not exists:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = _raw_connection(path, read_only=read_only)
        try:
            _refuse_newer(connection, path)
            if not read_only:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                _upgrade(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """A second connection to a file that is open already, for reading beside its writer."""
    with readable_errors(path):
        return _raw_connection(path, read_only=True)


def connect_to_look(path: Path) -> sqlite3.Connection:
    """A read connection for a moment, to a file that nobody may have open. It leaves no files of SQLite's beside it.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable: as ``connect``.
    """
    with readable_errors(path):
        if not _looks_like_a_database(path):
            raise StoreUnavailable(f"{path} does not exist yet, so it cannot be opened for reading.")
        connection = _raw_connection(path, read_only=True, unshared=not _has_unfolded_writes(path))
        try:
            _refuse_newer(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into a sentence."""
    try:
        yield
    except OttoError:
        raise
    except sqlite3.OperationalError as error:
        raise _operational(error, path) from error
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        # Neither says anything about the file: a constraint held, or the caller made a mistake.
        raise
    except sqlite3.DatabaseError as error:
        raise StoreDamaged(
            f"{path} is damaged ({error}). It has been left as it is: restore it from a backup or an export."
        ) from error
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be used: {error.strerror or error}.") from error


def _operational(error: sqlite3.OperationalError, path: Path) -> OttoError:
    text = str(error)
    if "readonly" in text or "read-only" in text:
        return StoreReadOnly(f"{path} is open for reading only, so this was not written.")
    if "full" in text:
        return StoreUnavailable(f"The disk that holds {path} is full. Free some space and try again; nothing is lost.")
    if "locked" in text:
        return StoreUnavailable(f"{path} is busy in another process. Close the other Otto and try again.")
    if "malformed" in text or "no such table" in text or "no such column" in text:
        return StoreDamaged(f"{path} is damaged ({text}). It has been left as it is: restore it from a backup.")
    return StoreUnavailable(f"{path} cannot be used: {text}.")


def _looks_like_a_database(path: Path) -> bool:
    """False for a file that is missing or empty."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        if file.read(len(SQLITE_HEADER)) != SQLITE_HEADER:
            raise StoreDamaged(f"{path} is not an Otto session file. It has been left as it is.")
    return True


def _raw_connection(path: Path, *, read_only: bool, unshared: bool = False) -> sqlite3.Connection:
    mode = "ro" if read_only else "rw"
    # Where SQLite cannot make its side files, it reads only what it is told that nobody writes.
    if unshared or (read_only and not os.access(path.parent, os.W_OK) and not _has_unfolded_writes(path)):
        mode = "ro&immutable=1"
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_TIMEOUT_MS / 1000,
    )
    connection.row_factory = sqlite3.Row
    return connection


def _has_unfolded_writes(path: Path) -> bool:
    """Whether words stand beside the file that SQLite has not folded into it yet, as while a session is open."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreTooNew(
            f"{path} was written by a newer Otto (file version {version}, this Otto reads up to {SCHEMA_VERSION})."
            " Upgrade Otto to open it."
        )


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == SCHEMA_VERSION:
        return
    from sqlite_utils import Database

    from memory.migrations import tape_migrations

    holds_data = version > 0
    before = _event_count(connection) if holds_data else 0
    if holds_data:
        _back_up(connection, path.with_name(f"{path.name}.v{version}.bak"))
    database = Database(connection)
    with database.atomic():
        tape_migrations.apply(database)
        if _event_count(connection) != before:
            raise StoreDamaged(f"Upgrading {path} would have lost events, so it was not upgraded.")


def _event_count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_RDWR, 0o600))
    with sqlite3.connect(target) as copy:
        connection.backup(copy)
    copy.close()
