"""Processes that are killed: forked from this warm one, so that a life costs no import."""

from __future__ import annotations

import os
import signal
import sqlite3
import struct
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import memory.database

_ACK = struct.Struct("i")
_FAILED = 70


@dataclass(frozen=True, slots=True)
class FromOutside:
    """Killed by this process a moment after it has acknowledged so many things."""

    acknowledged: int
    seconds: float
    """How long after that."""


@dataclass(frozen=True, slots=True)
class FromInside:
    """Kills itself right before the n-th SQL statement of its tape's writer."""

    statement: int


Death = FromOutside | FromInside


@dataclass(frozen=True, slots=True)
class Life:
    """What is known of a process when it is over."""

    acknowledged: int
    killed: bool
    """False when it had done everything before it could be killed."""


Work = Callable[[Callable[[], None]], None]
"""Is given how to acknowledge."""


def live(work: Work, death: Death, log: Path) -> Life:
    """Run ``work`` in a process of its own until it is killed.

    Raises:
        AssertionError: it failed by itself; what it said is in the message.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _in_the_child(work, writing, log)
    os.close(writing)
    with os.fdopen(reading, "rb") as acks:
        count = 0
        if isinstance(death, FromOutside):
            while count < death.acknowledged and len(acks.read(_ACK.size)) == _ACK.size:
                count += 1
            time.sleep(death.seconds)
            os.kill(pid, signal.SIGKILL)
        count += len(acks.read()) // _ACK.size
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, log.read_text()
    return Life(count, killed=os.WIFSIGNALED(status))


def make_mortal(death: Death) -> None:
    """In the child: have the n-th statement to a tape never happen, if that is how it is to die."""
    if not isinstance(death, FromInside):
        return
    connect = memory.database._raw_connection
    left = death.statement

    def count(sql: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def mortal_connection(path: Path, *, read_only: bool, unshared: bool = False) -> sqlite3.Connection:
        connection = connect(path, read_only=read_only, unshared=unshared)
        if not read_only:
            connection.set_trace_callback(count)
        return connection

    # This is a fork, so nobody else is killed by it.
    memory.database._raw_connection = mortal_connection


def _in_the_child(work: Work, writing: int, log: Path) -> None:
    code = _FAILED
    try:
        work(lambda: _acknowledge(writing))
        code = 0
    except BaseException:
        log.write_text(traceback.format_exc())
    finally:
        # Not sys.exit: nothing of pytest's may run in this copy of it.
        os._exit(code)


def _acknowledge(writing: int) -> None:
    os.write(writing, _ACK.pack(1))
