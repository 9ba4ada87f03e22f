"""An import that is killed leaves no session or a whole one, and does not stand in the way of the next."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.store import MemoryStore
from memory.verify import verify
from sessions import tapes
from sessions.export import export
from sessions.importing import import_file
from sessions.options import Options
from sessions.rows import SessionRow
from tests.kill.lives import Death, FromInside, FromOutside, live, make_mortal
from tests.kill.workload import NOW, open_queue, open_store, steps

ID = "2026-03-02-090000-aaaa"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with several compactions, with its whole tape."""
    home = tmp_path_factory.mktemp("home")
    row = SessionRow(id=ID, title="Ports", workspace="/work", created=NOW.isoformat())
    path = tapes.tape_path(home, ID)
    with open_store(path) as store:
        queue = open_queue(store)
        for step in steps()[:150]:
            step.do(queue)
        tapes.write_facts(store, row)
        summary = tapes.summary_of(store, ID)
        assert summary is not None
        assert queue.generation > 1
    return _export(home, summary.row, home / "session.json")


@pytest.fixture(scope="module")
def statements(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many there are in one import."""
    home = tmp_path_factory.mktemp("count")
    low, high = 0, 1
    while _live(exported, home / str(high), FromInside(high)):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _live(exported, home / f"m{middle}", FromInside(middle)) else (low, middle)
    return high


def test_killed_before_some_of_its_statements(exported: Path, statements: int, tmp_path: Path) -> None:
    chance = random.Random("statements")
    for place in (0, 1, statements - 1, *(chance.randrange(statements) for _ in range(12))):
        home = tmp_path / f"before{place}"
        assert _live(exported, home, FromInside(place))
        _check(exported, home)


def test_killed_at_some_moments(exported: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    assert not _live(exported, tmp_path / "whole", FromInside(10**9))
    whole = time.monotonic() - began
    chance = random.Random("moments")
    for place in range(12):
        home = tmp_path / f"moment{place}"
        _live(exported, home, FromOutside(1, whole * chance.random()))
        _check(exported, home)


def _live(exported: Path, home: Path, death: Death) -> bool:
    """Import in a process of its own; whether it was killed."""
    home.mkdir(exist_ok=True)

    def bring_in(acknowledge: Callable[[], None]) -> None:
        make_mortal(death)
        acknowledge()
        import_file(_options(home), exported)

    return live(bring_in, death, home / "log").killed


def _check(exported: Path, home: Path) -> None:
    there = tapes.tape_ids(home)
    assert there <= {ID}
    if there:
        with MemoryStore(tapes.tape_path(home, ID)) as store:
            assert [check for check in verify(store).checks if not check.ok] == []
    row = import_file(_options(home), exported)
    assert (row.id == ID) == (not there)
    assert [path.name for path in tapes.folder(home).glob(".*")] == []
    if not there:
        assert _export(home, row, home / "again.json").read_bytes() == exported.read_bytes()


def _export(home: Path, row: SessionRow, path: Path) -> Path:
    return export(_options(home), row, path, format="json", tape=True, overwrite=False)


def _options(home: Path) -> Options:
    return Options(home=home, now=lambda: NOW)
