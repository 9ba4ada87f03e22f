"""A process that chats, takes notes, compacts and embeds is killed again and again, and goes on where it was."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory.store import CONVERSATION
from memory.verify import verify
from tests.kill.lives import Death, FromInside, FromOutside, Life, live, make_mortal
from tests.kill.tape_state import UnkilledRun, state_of
from tests.kill.workload import Step, appended_by, open_queue, open_store, steps

MOST_STEPS = 12
MOST_STATEMENTS = 160
"""In one life."""

LONGEST_AIM = 0.004
"""Seconds after an acknowledgement; several steps fit into them."""


@pytest.fixture(scope="module")
def work() -> Sequence[Step]:
    return steps()


@pytest.fixture(scope="module")
def unkilled(tmp_path_factory: pytest.TempPathFactory, work: Sequence[Step]) -> UnkilledRun:
    return UnkilledRun(tmp_path_factory.mktemp("unkilled") / "tape.db", work)


def test_the_unkilled_run_does_what_is_to_be_killed(unkilled: UnkilledRun, work: Sequence[Step]) -> None:
    assert unkilled.generations >= 5
    assert len(unkilled.states) > len(work)
    done = {step.name.split()[0] for step in work}
    assert done == {"say", "draft", "note", "conclude", "retire", "compact", "embed", "reembed"}


@pytest.mark.parametrize("seed", range(4))
def test_ten_kills_lose_nothing(tmp_path: Path, unkilled: UnkilledRun, work: Sequence[Step], seed: int) -> None:
    assert _kill(10, seed, tmp_path, unkilled, work) == 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_thirty_kills_lose_nothing(tmp_path: Path, unkilled: UnkilledRun, work: Sequence[Step], seed: int) -> None:
    assert _kill(30, seed, tmp_path, unkilled, work) == 30


def test_a_run_through_many_kills_ends_as_the_unkilled_one(
    tmp_path: Path, unkilled: UnkilledRun, work: Sequence[Step]
) -> None:
    chance = random.Random("many kills")
    path = tmp_path / "tape.db"
    done = lives = 0
    while done < len(work):
        # A life may end inside one long step; a re-embedding then goes on where it was.
        done += _live(path, work, done, FromInside(chance.randint(80, 400)), tmp_path / "log").acknowledged
        lives += 1
        assert lives < 200, f"stuck after {done} steps"
    assert lives > 10
    with open_store(path) as store:
        assert state_of(store.reader()) == unkilled.states[-1]


def _kill(times: int, seed: int, folder: Path, unkilled: UnkilledRun, work: Sequence[Step]) -> int:
    """Kill so many processes, each of which goes on with the file of the one before; how many were killed."""
    chance = random.Random(seed)
    killed = files = done = 0
    path = folder / "tape0.db"
    while killed < times:
        life = _live(path, work, done, _death(chance), folder / "log")
        killed += life.killed
        done += life.acknowledged
        if path.exists():
            _check(path, done, unkilled, work)
        if done == len(work):
            files, done = files + 1, 0
            path = folder / f"tape{files}.db"
    return killed


def _death(chance: random.Random) -> Death:
    if chance.random() < 0.5:
        return FromOutside(chance.randint(0, MOST_STEPS), LONGEST_AIM * chance.random())
    return FromInside(chance.randint(0, MOST_STATEMENTS))


def _live(path: Path, work: Sequence[Step], done: int, death: Death, log: Path) -> Life:
    def go_on(acknowledge: object) -> None:
        assert callable(acknowledge)
        make_mortal(death)
        with open_store(path) as store:
            queue = open_queue(store)
            for step in work[done:]:
                step.do(queue)
                acknowledge()

    return live(go_on, death, log)


def _check(path: Path, done: int, unkilled: UnkilledRun, work: Sequence[Step]) -> None:
    """The file is sound, has what was acknowledged once, and is where an unkilled run was at this step or the next."""
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()
    with open_store(path) as store:
        ids = [event.id for event in store.events()]
        expected = [id for step in work if (id := appended_by(step)) is not None]
        acknowledged = [id for step in work[:done] if (id := appended_by(step)) is not None]
        assert ids == expected[: len(ids)]
        assert len(ids) >= len(acknowledged)
        assert state_of(store.reader()) in unkilled.between(done)
        queue = open_queue(store)
        assert queue.generation == store.generation(CONVERSATION)
        assert [item.event.seq for item in (*queue.overflow, *queue.recent_items)] == [
            item.event.seq for item in store.pending(CONVERSATION)
        ]
        assert [check for check in verify(store).checks if not check.ok] == []
