"""One writer a session: a lock that the operating system frees when its owner dies, and who the owner is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import StoreUnavailable
from sessions.private_files import FILE_MODE, make_folder, reason

if TYPE_CHECKING:
    from filelock import BaseFileLock


class SessionLock:
    """The lock of one session's tape. Take it before writing the tape; whoever cannot, reads only."""

    def __init__(self, tape: Path) -> None:
        """``tape`` is the session's file, which need not exist yet."""
        self._lock_path = tape.with_suffix(".lock")
        self._pid_path = tape.with_suffix(".pid")
        self._lock: BaseFileLock | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._lock is not None

    def take(self) -> bool:
        """Take the lock without waiting; False when another owner has it (``owner`` says who).

        Raises:
            StoreUnavailable: the folder cannot be written.
        """
        from filelock import FileLock, Timeout

        if self._lock is not None:
            return True
        make_folder(self._lock_path.parent)
        lock = FileLock(self._lock_path, timeout=0, mode=FILE_MODE, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return False
        except OSError as error:
            raise StoreUnavailable(
                f"{self._lock_path.parent} cannot be written: {reason(error)}. The session can only be read."
            ) from error
        self._lock = lock
        try:
            self._write_pid()
        except OSError as error:
            self.release()
            raise StoreUnavailable(
                f"{self._pid_path} cannot be written: {reason(error)}. The session can only be read."
            ) from error
        return True

    def owner(self) -> int | None:
        """The process that holds the lock, to be asked when ``take`` said False; None when it has not said."""
        try:
            pid = int(self._pid_path.read_text("ascii"))
            if pid < 1:
                return None
            if os.name == "posix":
                os.kill(pid, 0)
        except PermissionError:
            # Another user's process is a live one.
            return pid
        except (OSError, ValueError, OverflowError):
            # What a killed owner left behind.
            return None
        return pid

    def release(self) -> None:
        """Let the next one take it. Safe to call twice."""
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        # The pid goes first: once the lock is free, the file is the next owner's.
        self._pid_path.unlink(missing_ok=True)
        lock.release()

    def _write_pid(self) -> None:
        descriptor = os.open(self._pid_path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(str(os.getpid()))


def taken_sentence(owner: int | None) -> str:
    """What to tell a person who finds the session open elsewhere."""
    if owner == os.getpid():
        return "This session is already open in this Otto."
    process = f"process {owner}" if owner is not None else "another process"
    return f"This session is open in another Otto ({process}), so it is read-only here. Close that one to write."
