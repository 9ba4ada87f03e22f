"""A file that is killed while it is made or upgraded is as it was before, or done; the next start finishes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlite_utils import Database, Migrations

import memory.database
import memory.migrations
from memory.store import MemoryStore
from memory.verify import verify
from tests.kill.lives import FromInside, live, make_mortal
from tests.kill.workload import open_queue, open_store, steps

MOST_STATEMENTS = 200


def test_a_new_file_that_is_killed_at_any_statement_opens(tmp_path: Path) -> None:
    kills = _kill_at_every_statement(tmp_path, prepare=lambda path: None)
    assert kills > 20
    for path in tmp_path.glob("*.db"):
        with open_store(path) as store:
            assert store.counts().events == 0
            steps()[0].do(open_queue(store))
            assert verify(store).ok


def test_an_upgrade_that_is_killed_at_any_statement_is_made_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model.db"
    with open_store(model) as store:
        queue = open_queue(store)
        for step in steps()[:40]:
            step.do(queue)
    expected = _events(model)
    _add_version_2(monkeypatch)
    kills = _kill_at_every_statement(tmp_path, prepare=lambda path: _copy(model, path))
    assert kills > 5
    for path in tmp_path.glob("killed*.db"):
        assert _events(path) == expected
    monkeypatch.undo()
    for backup in tmp_path.glob("killed*.v1.bak"):
        assert _events(backup) == expected


def _kill_at_every_statement(folder: Path, *, prepare: Callable[[Path], None]) -> int:
    """Open files of their own, each killed one statement later, until one lives; how many were killed."""
    for place in range(MOST_STATEMENTS):
        path = folder / f"killed{place}.db"
        prepare(path)
        death = FromInside(place)

        def open_it(acknowledge: Callable[[], None], path: Path = path, death: FromInside = death) -> None:
            make_mortal(death)
            open_store(path)

        if not live(open_it, death, folder / "log").killed:
            return place
    raise AssertionError(f"opening takes more than {MOST_STATEMENTS} statements")


def _copy(model: Path, path: Path) -> None:
    path.write_bytes(model.read_bytes())


def _events(path: Path) -> list[tuple[str, str]]:
    with MemoryStore(path) as store:
        assert verify(store).ok
        return [(event.id, event.text) for event in store.events()]


def _add_version_2(monkeypatch: pytest.MonkeyPatch) -> None:
    migrations = Migrations("otto-tape")
    migrations(name="version_1")(memory.migrations.version_1)

    @migrations(name="version_2")
    def version_2(db: Database) -> None:
        db.execute("ALTER TABLE meta ADD COLUMN note TEXT")
        db.execute("UPDATE meta SET note = 'upgraded'")
        db.execute("CREATE INDEX chunks_by_tokens ON chunks (tokens)")
        db.execute("PRAGMA user_version = 2")

    monkeypatch.setattr(memory.migrations, "tape_migrations", migrations)
    monkeypatch.setattr(memory.database, "SCHEMA_VERSION", 2)
