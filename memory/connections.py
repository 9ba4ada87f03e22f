"""The connections to one open tape file: one that writes, behind a lock, and one for each thread that reads.

The file is in WAL mode, so a reader never waits for the writer.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memory.database import connect, connect_reader, readable_errors
from memory.errors import StoreReadOnly, StoreUnavailable

_OUTERMOST = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
_INNER = ("SAVEPOINT joined", "RELEASE joined", ("ROLLBACK TO joined", "RELEASE joined"))
"""How a transaction begins, is kept, and is undone."""


@contextmanager
def one_moment(db: sqlite3.Connection) -> Iterator[None]:
    """All that is read inside is of the same moment, whatever others commit meanwhile."""
    if db.in_transaction:
        # That is so in a transaction anyway.
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        # Also on a failure: nothing was written.
        if db.in_transaction:
            db.execute("COMMIT")


@dataclass(frozen=True, slots=True)
class _Reader:
    """One thread's read connection. SQLite crashes where one is closed that is in use."""

    connection: sqlite3.Connection
    in_use: threading.RLock = field(default_factory=threading.RLock)
    thread: threading.Thread = field(default_factory=threading.current_thread)


class Connections:
    """All connections to the file at ``path``. Safe to use from any thread.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable: on opening.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.writer = connect(path, read_only=read_only)
        self._write_lock = threading.RLock()
        self._depth = 0
        self._local = threading.local()
        self._readers: list[_Reader] = []
        self._readers_lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Close every connection, as soon as what is being read and written has been. Safe to call twice."""
        with self._readers_lock:
            self._closed = True
            readers, self._readers = self._readers, []
        for reader in readers:
            with reader.in_use:
                reader.connection.close()
        with self._write_lock:
            self.writer.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The writer connection inside one transaction.

        A use inside another joins it: if it fails, what it wrote is undone alone; if the outermost one does, with it.

        Raises:
            StoreReadOnly, StoreUnavailable: nothing of the outermost one was written.
        """
        if self.read_only:
            raise StoreReadOnly(f"{self.path} is open for reading only, so this was not written.")
        with self._write_lock, readable_errors(self.path):
            if not self._depth:
                self._refuse_closed()
            begin, keep, undo = _INNER if self._depth else _OUTERMOST
            self.writer.execute(begin)
            self._depth += 1
            try:
                yield self.writer
                self.writer.execute(keep)
            except BaseException:
                # Some errors, such as a full disk, have undone everything already.
                for statement in undo if self.writer.in_transaction else ():
                    self.writer.execute(statement)
                raise
            finally:
                self._depth -= 1

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to read from, which must not be used afterwards. It never waits for the writer.

        It is this thread's own and sees what is committed; inside a transaction of this thread it is the writer's, and
        sees what that has written.

        Raises:
            StoreUnavailable, StoreDamaged: the file cannot be read, or the store has been closed.
        """
        with readable_errors(self.path):
            if self._depth and self._write_lock.acquire(blocking=False):
                try:
                    yield self.writer
                finally:
                    self._write_lock.release()
            else:
                reader = self._own_reader()
                with reader.in_use:
                    self._refuse_closed()
                    yield reader.connection

    def reader(self) -> sqlite3.Connection:
        """This thread's own read connection, where it is known that nobody closes the store meanwhile."""
        return self._own_reader().connection

    def _own_reader(self) -> _Reader:
        reader: _Reader | None = getattr(self._local, "reader", None)
        if reader is None:
            with self._readers_lock:
                self._refuse_closed()
                reader = _Reader(connect_reader(self.path))
                self._let_ended_threads_go()
                self._readers.append(reader)
            self._local.reader = reader
        return reader

    def _let_ended_threads_go(self) -> None:
        for reader in self._readers:
            if not reader.thread.is_alive():
                reader.connection.close()
        self._readers = [reader for reader in self._readers if reader.thread.is_alive()]

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.path} has been closed. Open the session again.")
