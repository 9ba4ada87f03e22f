"""One writer a session."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memory.errors import StoreUnavailable
from sessions.lock import SessionLock, taken_sentence
from tests.sessions.unprivileged import as_nobody

HOLDER = """
import sys, time
from pathlib import Path
from sessions.lock import SessionLock
lock = SessionLock(Path(sys.argv[1]))
print(lock.take(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "20261130-k3f97q.db"


def hold_elsewhere(tape: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tape)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "True"
    return process


def test_a_second_opener_does_not_get_the_lock_and_learns_the_owners_pid(tape: Path) -> None:
    holder = hold_elsewhere(tape)
    try:
        lock = SessionLock(tape)
        assert not lock.take()
        assert lock.owner() == holder.pid
        assert str(holder.pid) in taken_sentence(lock.owner())
    finally:
        holder.kill()
        holder.wait()


def test_sigkill_frees_the_lock(tape: Path) -> None:
    holder = hold_elsewhere(tape)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    lock = SessionLock(tape)
    assert lock.owner() is None
    assert lock.take()
    assert lock.owner() == os.getpid()
    lock.release()


def test_a_released_lock_can_be_taken_by_another_object_and_tells_of_no_owner(tape: Path) -> None:
    first, second = SessionLock(tape), SessionLock(tape)
    assert first.take()
    assert first.take()
    assert not second.take()
    assert second.owner() == os.getpid()
    first.release()
    first.release()
    assert second.owner() is None
    assert second.take()
    second.release()


def test_one_thread_may_take_what_another_releases(tape: Path) -> None:
    lock = SessionLock(tape)
    taken: list[bool] = []
    thread = threading.Thread(target=lambda: taken.append(lock.take()))
    thread.start()
    thread.join()
    assert taken == [True]
    lock.release()
    other = SessionLock(tape)
    assert other.take()
    other.release()


def test_folder_and_files_are_the_owners_alone(tape: Path) -> None:
    lock = SessionLock(tape)
    assert lock.take()
    assert stat.S_IMODE(tape.parent.stat().st_mode) == 0o700
    for file in tape.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lock.release()


def test_a_folder_that_cannot_be_written_is_one_sentence(tape: Path) -> None:
    tape.parent.mkdir(mode=0o555)

    def take() -> str:
        with pytest.raises(StoreUnavailable) as refusal:
            SessionLock(tape).take()
        return str(refusal.value)

    said = as_nobody(tape.parent, take)
    assert "can only be read" in said
    assert "\n" not in said


@pytest.mark.parametrize("junk", ["", "no number", "9" * 40, "-", "0", "-1"])
def test_a_pid_file_with_junk_names_nobody(tape: Path, junk: str) -> None:
    holder = SessionLock(tape)
    assert holder.take()
    tape.with_suffix(".pid").write_text(junk)
    assert SessionLock(tape).owner() is None
    holder.release()


def test_the_sentence_says_read_only_and_names_the_process() -> None:
    assert "read-only" in taken_sentence(4_000_000)
    assert "4000000" in taken_sentence(4_000_000)
    assert "another process" in taken_sentence(None)
    assert "this Otto" in taken_sentence(os.getpid())
