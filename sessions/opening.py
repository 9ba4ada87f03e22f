"""Opening a session's tape: whether this process may write it, and what a person is told when it may not."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory.errors import OttoError, StoreUnavailable
from sessions import tapes
from sessions.live import LiveMemory
from sessions.lock import SessionLock, taken_sentence
from sessions.options import Options


@dataclass(frozen=True, slots=True)
class Opened:
    """A session's memory, and what hindered it from being opened for writing."""

    memory: LiveMemory
    hindrance: str | None
    """Why it is read-only though it was to be written, as a sentence."""


async def open_memory(options: Options, id: str, budgets: tuple[int, int], *, read_only: bool) -> Opened:
    """Open the tape of session ``id``, for writing unless ``read_only`` or another owner has it; made if missing.

    A caller that is cancelled meanwhile leaves neither a file open nor a lock taken.

    Raises:
        StoreDamaged, StoreTooNew, StoreUnavailable.
    """
    path = tapes.tape_path(options.home, id)
    opening = asyncio.ensure_future(asyncio.to_thread(_open, options, path, budgets, read_only))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        # A thread cannot be cancelled: what it opens is closed as soon as it has.
        with suppress(OttoError):
            await (await opening).memory.close()
        raise


def _open(options: Options, path: Path, budgets: tuple[int, int], read_only: bool) -> Opened:
    lock = SessionLock(path)
    mine, hindrance = (False, None) if read_only else _take(lock, path)
    try:
        memory = LiveMemory.open(path, options, budgets, lock if mine else None)
    except BaseException:
        lock.release()
        raise
    return Opened(memory, hindrance)


def _take(lock: SessionLock, tape: Path) -> tuple[bool, str | None]:
    """Whether the session is this process's to write; if not, why, as a sentence.

    Raises:
        StoreUnavailable: the folder cannot be written, and there is no tape yet that could be read.
    """
    try:
        return (True, None) if lock.take() else (False, taken_sentence(lock.owner()))
    except StoreUnavailable as error:
        if not tape.exists():
            raise
        return False, str(error)
