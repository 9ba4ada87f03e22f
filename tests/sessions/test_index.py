"""The index of sessions."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from memory.errors import StoreTooNew, StoreUnavailable
from sessions.index import SessionIndex
from sessions.index_file import sentences
from sessions.rows import SessionRow, moment, newest_first
from tests.sessions.unprivileged import as_nobody


def row(number: int, **fields: object) -> SessionRow:
    values: dict[str, object] = {
        "id": f"20261130-{number:04d}aa",
        "title": f"Title {number}",
        "workspace": "/home/sam/garden",
        "created": f"2026-11-30T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}+00:00",
        "updated": f"2026-11-30T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}+00:00",
        "turns": number,
        "parent": None,
    }
    return SessionRow(**{**values, **fields})  # type: ignore[arg-type]


@pytest.fixture
def index(tmp_path: Path) -> SessionIndex:
    return SessionIndex(tmp_path / "home")


def by_hand(index: SessionIndex, *statements: str) -> None:
    index.path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(index.path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def test_reading_an_index_that_does_not_exist_creates_nothing(index: SessionIndex) -> None:
    assert index.rows() == []
    assert index.row("x") is None
    assert not index.path.parent.exists()


def test_rows_come_back_as_they_were_written_last_used_first(index: SessionIndex) -> None:
    written = [row(number) for number in (3, 1, 2)]
    written.append(row(4, title="a\nb [/bold] 漢字", parent="20261130-0001aa", workspace=""))
    index.put(*written)
    assert index.rows() == sorted(written, key=lambda each: each.turns, reverse=True)
    assert index.row("20261130-0002aa") == row(2)
    assert index.row("20261130-0002a") is None


def test_a_finished_turn_changes_times_and_turns_but_not_the_title_that_a_person_chose(index: SessionIndex) -> None:
    index.record(row(1, title="first words"))
    assert index.rename("20261130-0001aa", "The garden")
    later = row(1, title="first words", updated="2026-12-01T00:00:00+00:00", turns=9)
    index.record(later)
    found = index.row("20261130-0001aa")
    assert found is not None
    assert (found.title, found.turns, found.updated) == ("The garden", 9, "2026-12-01T00:00:00+00:00")


def test_renaming_or_removing_what_is_not_there_says_so_or_does_nothing(index: SessionIndex) -> None:
    index.put(row(1))
    assert not index.rename("nothing", "x")
    index.remove("nothing")
    assert index.rows() == [row(1)]
    index.remove(row(1).id)
    assert index.rows() == []


def test_folder_and_files_are_the_owners_alone(index: SessionIndex) -> None:
    index.put(row(1))
    with closing(sqlite3.connect(index.path)) as other:
        other.execute("SELECT * FROM sessions").fetchall()
        index.put(row(2))
        names = {file.name for file in index.path.parent.iterdir()}
        assert "sessions.db-wal" in names
        for file in index.path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE(index.path.parent.stat().st_mode) == 0o700


def test_a_folder_that_was_there_before_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    SessionIndex(tmp_path).put(row(1))
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_the_index_waits_for_another_writer_instead_of_failing(index: SessionIndex) -> None:
    index.put(row(1))
    with closing(sqlite3.connect(index.path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        blocked: list[StoreUnavailable] = []
        started = threading.Event()

        def record() -> None:
            started.set()
            try:
                index.record(row(2))
            except StoreUnavailable as error:
                blocked.append(error)

        writer = threading.Thread(target=record)
        writer.start()
        started.wait()
        assert index.rows() == [row(1)]
        other.execute("COMMIT")
        writer.join()
    assert blocked == []
    assert index.rows() == [row(2), row(1)]


WRITER = """
import sys
from pathlib import Path
from sessions.index import SessionIndex
from sessions.rows import SessionRow
index = SessionIndex(Path(sys.argv[1]))
for number in range(40):
    index.record(SessionRow(id=f"p{sys.argv[2]}-{number}", title="t", updated="2026-11-30T00:00:00+00:00", turns=1))
    index.rows()
"""


def test_processes_that_start_the_index_together_lose_no_row(index: SessionIndex) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(index.path.parent), str(number)]) for number in range(4)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert len(index.rows()) == 160


def test_missing_and_unknown_columns_and_odd_values_hide_no_session(index: SessionIndex) -> None:
    by_hand(
        index,
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, title, turns, colour TEXT)",
        "INSERT INTO sessions VALUES ('a', 'First', 3, 'red'), ('b', NULL, 'many', NULL), ('c', x'ff41', NULL, '')",
        "INSERT INTO sessions VALUES ('d', CAST(x'ff42' AS TEXT), 1, '')",
    )
    titles = {each.id: (each.title, each.turns, each.updated) for each in index.rows()}
    assert titles == {"a": ("First", 3, ""), "b": ("", 0, ""), "c": ("�A", 0, ""), "d": ("�B", 1, "")}


def test_an_index_without_version_is_completed_and_backed_up_and_keeps_its_rows(index: SessionIndex) -> None:
    by_hand(
        index,
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, colour TEXT)",
        "INSERT INTO sessions VALUES ('a', 'First', 'red')",
    )
    index.record(row(1))
    assert {each.id for each in index.rows()} == {"a", row(1).id}
    with closing(sqlite3.connect(index.path)) as db:
        assert db.execute("SELECT colour FROM sessions WHERE id = 'a'").fetchone() == ("red",)
    backup = index.path.with_name("sessions.db.v0.bak")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as db:
        assert db.execute("SELECT id FROM sessions").fetchall() == [("a",)]


def test_a_newer_index_is_refused_and_left_alone(index: SessionIndex) -> None:
    index.put(row(1))
    by_hand(index, "PRAGMA user_version = 99")
    before = index.path.read_bytes()
    with pytest.raises(StoreTooNew, match="newer Otto"):
        index.rows()
    with pytest.raises(StoreTooNew, match="newer Otto"):
        index.record(row(2))
    assert index.path.read_bytes() == before


@pytest.mark.parametrize("junk", [b"this is not a database at all, " * 40, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_index_is_kept_under_another_name_and_said(index: SessionIndex, junk: bytes) -> None:
    index.path.parent.mkdir()
    index.path.write_bytes(junk)
    assert index.rows() == []
    assert index.path.with_name("sessions.db.damaged-1").read_bytes() == junk
    notices = index.take_notices()
    assert len(notices) == 1
    assert "sessions.db.damaged-1" in notices[0]
    assert index.take_notices() == []
    index.record(row(1))
    assert index.rows() == [row(1)]


def test_damage_found_while_writing_loses_neither_the_old_file_nor_the_new_row(index: SessionIndex) -> None:
    for number in (1, 2):
        index.path.parent.mkdir(exist_ok=True)
        index.path.write_bytes(b"rubbish " * 100)
        index.record(row(number))
        assert index.rows() == [row(number)]
        assert index.path.with_name(f"sessions.db.damaged-{number}").exists()
        index.path.unlink()


def test_a_full_disk_is_one_sentence(index: SessionIndex) -> None:
    index.put(row(1))

    def fill() -> None:
        with sentences(index.path), closing(sqlite3.connect(index.path)) as db:
            pages = db.execute("PRAGMA page_count").fetchone()[0]
            db.execute(f"PRAGMA max_page_count = {pages}")
            db.execute("INSERT INTO sessions (id, title) VALUES ('big', ?)", ("x" * 100_000,))

    with pytest.raises(StoreUnavailable, match="is full") as refusal:
        fill()
    assert "\n" not in str(refusal.value)


def test_a_home_that_cannot_be_written_is_one_sentence_and_can_still_be_listed(index: SessionIndex) -> None:
    index.put(row(1))
    home = index.path.parent
    index.path.chmod(0o444)
    home.chmod(0o555)

    def try_both() -> str:
        reader = SessionIndex(home)
        assert [each.id for each in reader.rows()] == [row(1).id]
        with pytest.raises(StoreUnavailable) as refusal:
            reader.record(row(2))
        return str(refusal.value)

    said = as_nobody(home, try_both)
    home.chmod(0o755)
    assert "cannot be written" in said
    assert "OTTO_HOME" in said


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)

    def try_it() -> str:
        with pytest.raises(StoreUnavailable) as refusal:
            SessionIndex(tmp_path / "otto").record(row(1))
        return str(refusal.value)

    said = as_nobody(tmp_path, try_it)
    assert "OTTO_HOME" in said


def test_an_index_that_is_deleted_while_in_use_is_begun_anew(index: SessionIndex) -> None:
    index.put(row(1))
    index.path.unlink()
    assert index.rows() == []
    index.record(row(2))
    assert index.rows() == [row(2)]


def test_five_thousand_rows_are_listed_in_one_query(index: SessionIndex) -> None:
    index.put(*(row(number) for number in range(5000)))
    rows = index.rows()
    assert len(rows) == 5000
    assert rows[0].turns == 4999


def test_rows_are_sorted_by_the_moment_not_by_how_it_is_written() -> None:
    early = row(1, updated="2026-11-30T12:00:00+05:00")
    late = row(2, updated="2026-11-30T08:00:00+00:00")
    unknown = row(3, updated="yesterday")
    assert newest_first([unknown, early, late]) == [late, early, unknown]
    assert moment("2026-11-30T12:00:00") == moment("2026-11-30T12:00:00+00:00")


def test_an_up_to_date_index_is_read_and_written_without_loading_the_migrations(index: SessionIndex) -> None:
    index.put(row(1))
    code = (
        "import sys; from pathlib import Path; from sessions.index import SessionIndex;"
        f"index = SessionIndex(Path({str(index.path.parent)!r})); row, = index.rows(); index.record(row);"
        "print(sorted({'sqlite_utils', 'pydantic', 'litellm', 'numpy', 'textual'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
