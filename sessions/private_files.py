"""Folders and files that only their owner may read, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from memory.errors import StoreUnavailable

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_folder(folder: Path) -> None:
    """Make ``folder`` and what is missing above it, each 0700. Folders that exist are left as they are.

    Raises:
        StoreUnavailable: it cannot be made.
    """
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        try:
            each.mkdir(mode=FOLDER_MODE, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"The folder {each} cannot be made: {reason(error)}. Choose another with OTTO_HOME."
            ) from error


def write_whole(path: Path, data: bytes, *, replace: bool) -> None:
    """Write ``data`` to ``path``, 0600, so that a kill leaves the old file or the new one, never a part.

    Raises:
        FileExistsError: ``path`` exists and ``replace`` is false.
        OSError: it cannot be written; nothing is left behind.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            _name_once(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def move_once(source: Path, target: Path) -> None:
    """Move a file, on one file system, to a name that must be free, and make that last.

    Raises:
        FileExistsError: ``target`` exists; ``source`` stays where it is.
    """
    _name_once(source, target)
    source.unlink(missing_ok=True)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` last through a power cut, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        # Windows opens no folders; there the file's own sync is all there is.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reason(error: OSError) -> str:
    """The system's own words for what went wrong, without numbers and paths."""
    return error.strerror or str(error)


def _name_once(source: Path, target: Path) -> None:
    """Give ``source`` the name ``target`` unless that is taken; ``source`` may keep its old name too."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        # File systems without hard links: as close as they come to it.
        if target.exists():
            raise FileExistsError(17, os.strerror(17), str(target)) from None
        source.rename(target)
