"""The tape file: what it keeps, and how it answers files that are not as they should be."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory import chunk_rows, schema
from memory.database import connect
from memory.errors import (
    EventConflict,
    StoreDamaged,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
    UnknownId,
)
from memory.queue import TieredQueue
from memory.store import MemoryStore
from memory.values import Event, NewEvent
from memory.verify import verify
from tests.memory.conversations import said, turns
from tests.memory.summarizers import honest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "tape.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(path) as opened:
        yield opened


def test_a_new_file_and_its_folder_are_private(store: MemoryStore) -> None:
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_an_event_is_kept_with_everything_it_came_with(store: MemoryStore) -> None:
    new = NewEvent(
        text="Überraschung 🎉\n\tline two",
        role="assistant",
        source="vendor/model",
        id="m-1",
        t_event="2026-03-01T10:00:00+02:00",
        refs=("a", "b"),
        meta={"usage": {"prompt_tokens": 3}},
    )
    event = store.append(new)
    assert store.event(event.seq) == event
    assert (event.text, event.t_event, event.refs) == (new.text, new.t_event, new.refs)
    assert event.meta == {"usage": {"prompt_tokens": 3}}


def test_a_time_without_offset_is_taken_as_utc(store: MemoryStore) -> None:
    event = store.append(NewEvent(text="hi", role="user", t_event="2026-03-01T10:00:00"))
    assert event.t_event == "2026-03-01T10:00:00+00:00"


def test_a_resend_adds_nothing_and_a_conflict_is_refused(store: MemoryStore) -> None:
    first = store.append(said(1, "hello"))
    assert store.append(said(1, "hello")) == first
    with pytest.raises(EventConflict, match="says something else"):
        store.append(said(1, "something else"))
    assert store.counts().events == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\0b", "a\N{SYMBOL FOR NULL}b"),
        ("lone \ud800 half", "lone \N{REPLACEMENT CHARACTER} half"),
        ("\ud83c\udf89", "🎉"),
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
    ],
)
def test_text_that_sqlite_cannot_hold_is_made_storable_and_nothing_else_is_touched(
    store: MemoryStore, given: str, kept: str
) -> None:
    assert store.append(NewEvent(text=given, role="user")).text == kept


def test_the_tape_cannot_be_edited_even_with_sql(store: MemoryStore) -> None:
    store.append(said(1, "hello"))
    for statement in (
        "UPDATE events SET text = 'no'",
        "DELETE FROM events",
        "DELETE FROM ledger",
        "UPDATE ledger SET t = 1",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"), store.transaction() as db:
            db.execute("INSERT INTO ledger (kind, entry, t, data) VALUES ('k', 'e', 't', '{}')")
            db.execute(statement)


def test_five_megabytes_in_one_event_are_kept_whole(store: MemoryStore) -> None:
    text = "The quick brown fox jumps over the lazy dog, number 12345.\n" * 90_000
    event = store.append(NewEvent(text=text, role="user"))
    assert store.event(event.seq).text == text
    chunks = store.chunks_of([event.seq])[event.seq]
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text


def test_an_unknown_event_is_named(store: MemoryStore) -> None:
    with pytest.raises(UnknownId, match="no event number 99"):
        store.event(99)


def test_a_transaction_that_fails_leaves_nothing(store: MemoryStore) -> None:
    with pytest.raises(RuntimeError), store.transaction():
        store.append(said(1, "hello"))
        raise RuntimeError
    assert store.counts().events == 0


def test_what_fails_inside_a_transaction_is_undone_alone(store: MemoryStore) -> None:
    with store.transaction():
        store.append(said(1, "hello"))
        with pytest.raises(RuntimeError), store.transaction():
            store.append(said(2, "not this"))
            store.set_meta("half", "done")
            raise RuntimeError
        store.append(said(3, "and on"))
    assert [event.id for event in store.events()] == ["q1", "q3"]
    assert store.get_meta("half") is None
    assert verify(store).checks[0].ok


def test_a_conflict_inside_a_transaction_costs_nothing_else(store: MemoryStore) -> None:
    with store.transaction():
        store.append(said(1, "hello"))
        with pytest.raises(EventConflict):
            store.append(said(1, "something else"))
    assert [event.text for event in store.events()] == ["hello"]


def test_nothing_is_written_to_a_closed_store_and_it_is_not_called_damaged(path: Path) -> None:
    store = MemoryStore(path)
    store.append(said(1, "hello"))
    store.close()
    with pytest.raises(StoreUnavailable, match="has been closed"):
        store.append(said(2, "anyone there?"))
    with pytest.raises(StoreUnavailable, match="has been closed"), store.transaction():
        pass


def test_threads_that_have_ended_hold_no_connection(store: MemoryStore) -> None:
    held = len(_open_files(store.path))
    for _ in range(20):
        thread = threading.Thread(target=store.counts)
        thread.start()
        thread.join()
    assert len(_open_files(store.path)) <= held + 4


def _open_files(path: Path) -> list[str]:
    """What this process has open of a tape and the files beside it."""
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return [name for link in links if (name := str(link.readlink())).startswith(str(path))]


def test_nobody_waits_while_a_large_event_is_cut(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    cutting, go_on = threading.Event(), threading.Event()
    prepare = chunk_rows.prepare

    def slow(event: Event) -> list[chunk_rows.Piece]:
        cutting.set()
        assert go_on.wait(30)
        return prepare(event)

    monkeypatch.setattr("memory.chunk_rows.prepare", slow)
    queue = TieredQueue(store, x_budget=200, y_budget=400, auto_compact=False)
    with ThreadPoolExecutor(1) as thread:
        appending = thread.submit(queue.append, said(1, "very long"))
        assert cutting.wait(30)
        store.set_meta("meanwhile", "written")
        go_on.set()
        appending.result()
    assert store.get_meta("meanwhile") == "written"


def test_what_is_sent_again_is_not_cut_again(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []
    prepare = chunk_rows.prepare

    def counted(event: Event) -> list[chunk_rows.Piece]:
        cut.append(event.id)
        return prepare(event)

    monkeypatch.setattr("memory.chunk_rows.prepare", counted)
    for _ in range(3):
        store.append(said(1, "hello"))
    assert cut == ["q1"]


@pytest.mark.parametrize(("role", "kind"), [("boss", "message"), ("user", "rumour"), ("", "message"), ("user", "")])
def test_a_role_or_kind_that_does_not_exist_is_refused(store: MemoryStore, role: str, kind: str) -> None:
    with pytest.raises(ValueError, match="no event has"):
        store.append(NewEvent(text="psst", role=role, kind=kind))
    assert store.counts().events == 0


def test_counting_reads_no_rows_of_the_tape(store: MemoryStore) -> None:
    statements: list[str] = []
    store.append(said(1, "hello"))
    reader = store.reader()
    reader.set_trace_callback(statements.append)
    store.counts()
    reader.set_trace_callback(None)
    assert len(statements) == 3
    for statement in statements:
        plan = " ".join(row["detail"] for row in reader.execute(f"EXPLAIN QUERY PLAN {statement}"))
        assert "USING COVERING INDEX" in plan, plan


def test_readers_do_not_wait_for_the_writer(store: MemoryStore) -> None:
    store.append(said(1, "hello"))
    seen: list[int] = []
    with store.transaction():
        store.append(said(2, "not yet committed"))
        reader = threading.Thread(target=lambda: seen.append(store.counts().events))
        reader.start()
        reader.join()
        assert seen == [1]
        assert store.counts().events == 2


def test_a_read_only_store_reads_and_refuses_to_write(path: Path) -> None:
    with MemoryStore(path) as store:
        store.append(said(1, "hello"))
    with MemoryStore(path, read_only=True) as store:
        assert store.counts().events == 1
        with pytest.raises(StoreReadOnly, match="reading only"):
            store.append(said(2, "no"))


def test_a_file_that_is_no_database_is_refused_and_left_untouched(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"My diary. " * 100)
    with pytest.raises(StoreDamaged, match="not an Otto session file"):
        MemoryStore(path)
    assert path.read_bytes() == b"My diary. " * 100


def test_a_damaged_file_is_reported_and_left_untouched(path: Path) -> None:
    with MemoryStore(path) as store:
        for event in turns(50):
            store.append(event)
    data = bytearray(path.read_bytes())
    data[100:8_000] = b"\xff" * 7_900
    path.write_bytes(data)
    with pytest.raises(StoreDamaged, match="damaged"):
        MemoryStore(path).events()
    assert path.read_bytes() == bytes(data)


def test_damage_in_a_page_that_is_read_later_is_a_sentence_too(path: Path) -> None:
    with MemoryStore(path) as store:
        for event in turns(300):
            store.append(event)
        pages = store.reader().execute("PRAGMA page_count").fetchone()[0]
    data = bytearray(path.read_bytes())
    for page in range(4, pages, 2):
        data[page * 4096 : page * 4096 + 4096] = b"\xee" * 4096
    path.write_bytes(data)
    with MemoryStore(path, read_only=True) as store:
        report = verify(store)
    assert not report.ok
    assert any("damaged" in row or "malformed" in row or "Tree" in row for check in report.checks for row in check.rows)


def test_a_file_from_a_newer_otto_is_refused(path: Path) -> None:
    with MemoryStore(path) as store:
        store.append(said(1, "hello"))
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="newer Otto"):
        MemoryStore(path)
    assert path.read_bytes() == before


def test_a_missing_file_cannot_be_opened_for_reading(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="does not exist"):
        MemoryStore(path, read_only=True)


def test_a_folder_in_the_place_of_the_file_is_a_sentence(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        MemoryStore(path)


def test_a_full_disk_is_a_sentence_and_loses_nothing(store: MemoryStore) -> None:
    queue = TieredQueue(store, summarize=honest, x_budget=200, y_budget=400)
    events = turns(400)
    for _ in range(20):
        queue.append(next(events))
    with store.transaction() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 4}")
    written = store.counts().events
    with pytest.raises(StoreUnavailable, match="full"):
        for event in events:
            queue.append(event)
            written += 1
    assert store.counts().events == written
    with store.transaction() as db:
        db.execute("PRAGMA max_page_count = 1000000")
    view = queue.current_view()
    assert TieredQueue(store, restore=True, x_budget=200, y_budget=400, alter=False).current_view() == view
    queue.append(said(9_999, "and on it goes"))
    assert verify(store).ok


def test_an_older_file_is_backed_up_and_upgraded_in_one_transaction(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MemoryStore(path) as store:
        for event in turns(10):
            store.append(event)
    _add_migration(monkeypatch, "ALTER TABLE meta ADD COLUMN note TEXT")
    with MemoryStore(path) as store:
        assert store.counts().events == 20
        assert store.reader().execute("PRAGMA user_version").fetchone()[0] == 2
    backup = path.with_name("tape.db.v1.bak")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with sqlite3.connect(backup) as db:
        assert db.execute("SELECT count(*) FROM events").fetchone()[0] == 20
        assert db.execute("PRAGMA user_version").fetchone()[0] == 1


def test_an_upgrade_that_would_lose_events_is_not_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with MemoryStore(path) as store:
        store.append(said(1, "hello"))
    _add_migration(monkeypatch, "DROP TRIGGER events_are_never_deleted", "DELETE FROM chunks", "DELETE FROM events")
    with pytest.raises(StoreDamaged, match="would have lost events"):
        MemoryStore(path)
    monkeypatch.undo()
    with MemoryStore(path) as store:
        assert store.counts().events == 1


def _add_migration(monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    from sqlite_utils import Migrations

    import memory.database
    import memory.migrations

    migrations = Migrations("otto-tape")
    migrations(name="version_1")(memory.migrations.version_1)

    @migrations(name="version_2")
    def version_2(db: object) -> None:
        for statement in (*statements, "PRAGMA user_version = 2"):
            db.execute(statement)  # type: ignore[attr-defined]

    monkeypatch.setattr(memory.migrations, "tape_migrations", migrations)
    monkeypatch.setattr(memory.database, "SCHEMA_VERSION", 2)


def test_connecting_twice_does_not_migrate_twice(path: Path) -> None:
    connect(path, read_only=False).close()
    before = path.read_bytes()
    connect(path, read_only=False).close()
    assert path.read_bytes() == before


def test_drafts_are_kept_until_dropped(store: MemoryStore) -> None:
    store.save_draft("r1", "model", "half a ")
    store.save_draft("r1", "model", "half a reply")
    assert [(draft.id, draft.text) for draft in store.drafts()] == [("r1", "half a reply")]
    store.drop_draft("r1")
    assert store.drafts() == []


def test_closing_waits_for_a_read_that_is_under_way(store: MemoryStore) -> None:
    store.append(said(1, "still here"))
    under_way, go_on = threading.Event(), threading.Event()

    def pause() -> int:
        under_way.set()
        go_on.wait()
        return 0

    def read() -> list[str]:
        store.reader().set_progress_handler(pause, 1)
        return [event.text for event in store.events()]

    with ThreadPoolExecutor(2) as threads:
        reading = threads.submit(read)
        assert under_way.wait(60)
        closing = threads.submit(store.close)
        go_on.set()
        assert reading.result(60) == ["still here"]
        closing.result(60)
        with pytest.raises(StoreUnavailable, match="has been closed"):
            threads.submit(store.events).result(60)
    with pytest.raises(StoreUnavailable, match="has been closed"):
        store.append(said(2, "too late"))
    assert not store.path.with_name(f"{store.path.name}-wal").exists(), "everything is folded into the file"
