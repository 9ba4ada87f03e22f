"""All sessions of a home: listed, found, renamed, deleted and brought back."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from memory.store import MemoryStore
from memory.values import NewEvent
from sessions import tapes
from sessions.errors import SessionBusy, TitleRefused, UnknownSession
from sessions.index import SessionIndex
from sessions.library import Library
from sessions.lock import SessionLock
from sessions.options import Options
from sessions.rows import SessionRow
from tests.sessions.made_sessions import conversation, made, options_for
from tests.sessions.unprivileged import as_nobody

BEANS, KALE, ROOF = "20260301-beans1", "20260302-kale11", "20260303-roof11"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return options_for(tmp_path / "home")


@pytest.fixture
def library(options: Options) -> Library:
    made(options, BEANS, conversation(3), title="Beans")
    made(options, KALE, conversation(3, words="the kale wants lime and shade"), title="Kale")
    made(options, ROOF, [person("Fix the roof"), reply("Use slate, not KALE.")], title="The roof")
    return Library(options)


def person(text: str) -> NewEvent:
    return NewEvent(text=text, role="user", source="person")


def reply(text: str) -> NewEvent:
    return NewEvent(text=text, role="assistant", source="fake/model")


async def ids(library: Library, query: str = "") -> list[str]:
    return [row.id for row in await library.list(query)]


# -- listing ---------------------------------------------------------------------------------------------------


async def test_a_library_of_an_empty_home_lists_nothing_and_creates_nothing(options: Options) -> None:
    library = Library(options)
    await library.start()
    assert await library.list() == []
    assert await library.list("words") == []
    assert await library.undo_delete() is None
    with pytest.raises(UnknownSession, match="no session yet"):
        await library.open("last")
    assert not options.home.exists()


async def test_sessions_are_listed_last_used_first(library: Library) -> None:
    rows = await library.list()
    assert [row.id for row in rows] == [ROOF, KALE, BEANS]
    assert [row.title for row in rows] == ["The roof", "Kale", "Beans"]
    assert [row.turns for row in rows] == [1, 3, 3]
    assert {row.workspace for row in rows} == {"/home/sam/garden"}


async def test_a_lost_index_is_rebuilt_from_the_tapes_and_then_used(library: Library, options: Options) -> None:
    before = await library.list()
    (options.home / "sessions.db").unlink()
    fresh = Library(options)
    assert await fresh.list() == before
    assert SessionIndex(options.home).rows() == before


async def test_a_damaged_index_costs_no_session_and_is_said_once(library: Library, options: Options) -> None:
    before = await library.list()
    (options.home / "sessions.db").write_bytes(b"rubbish" * 999)
    assert await library.list() == before
    assert len(library.take_notices()) == 1
    assert await library.list() == before
    assert library.take_notices() == []


async def test_a_newer_index_costs_no_session_and_is_said(library: Library, options: Options) -> None:
    before = await library.list()
    with closing(sqlite3.connect(options.home / "sessions.db")) as db:
        db.execute("PRAGMA user_version = 99")
    fresh = Library(options)
    assert await fresh.list() == before
    assert any("newer Otto" in notice for notice in fresh.take_notices())


async def test_a_session_killed_in_its_first_turn_is_listed_but_not_yet_in_the_index(options: Options) -> None:
    made(options, BEANS, [person("Plan the beans\nplease")], indexed=False)
    library = Library(options)
    rows = await library.list()
    assert [(row.id, row.title, row.turns) for row in rows] == [(BEANS, "Plan the beans", 1)]
    assert SessionIndex(options.home).rows() == []
    with MemoryStore(tapes.tape_path(options.home, BEANS), now=options.now) as store:
        store.append(reply("Gladly."))
    assert [row.updated for row in await library.list()] > [row.updated for row in rows]
    assert [row.id for row in SessionIndex(options.home).rows()] == [BEANS]


async def test_tapes_in_which_nothing_was_said_are_not_listed(options: Options) -> None:
    tapes.folder(options.home).mkdir(parents=True)
    MemoryStore(tapes.tape_path(options.home, BEANS)).close()
    tapes.tape_path(options.home, KALE).touch()
    library = Library(options)
    assert await library.list() == []
    assert library.take_notices() == []


async def test_a_damaged_tape_is_named_and_hides_no_other(library: Library, options: Options) -> None:
    damaged = tapes.tape_path(options.home, "20260304-broken")
    damaged.write_bytes(b"not a tape" * 100)
    assert await ids(library) == [ROOF, KALE, BEANS]
    notices = library.take_notices()
    assert len(notices) == 1
    assert "20260304-broken" in notices[0]
    assert damaged.read_bytes() == b"not a tape" * 100
    assert await ids(library) == [ROOF, KALE, BEANS]
    assert library.take_notices() == []
    with pytest.raises(UnknownSession, match="left as it is"):
        await library.verify("20260304-broken")


async def test_a_damaged_tape_that_is_gone_or_whole_again_is_not_named_with_the_next(
    library: Library, options: Options
) -> None:
    names = ["20260304-gone", "20260304-whole", "20260304-broken"]
    gone, whole, broken = (tapes.tape_path(options.home, name) for name in names)
    gone.write_bytes(b"not a tape" * 100)
    whole.write_bytes(b"not a tape" * 100)
    await library.list()
    assert "2 sessions" in library.take_notices()[0]
    gone.unlink()
    whole.write_bytes(tapes.tape_path(options.home, KALE).read_bytes())
    broken.write_bytes(b"not a tape" * 100)
    await library.list()
    (notice,) = library.take_notices()
    assert notice.startswith("1 session cannot be read: 20260304-broken")


async def test_a_row_without_a_tape_is_not_listed_and_said(library: Library, options: Options) -> None:
    tapes.tape_path(options.home, KALE).unlink()
    assert await ids(library) == [ROOF, BEANS]
    (notice,) = library.take_notices()
    assert KALE in notice
    with pytest.raises(UnknownSession):
        await library.rename(KALE, "Gone")


async def test_listing_opens_no_tape_that_the_index_knows(
    library: Library, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_fields: object) -> None:
        raise AssertionError("a tape was opened")

    monkeypatch.setattr(tapes, "connect_to_look", refuse)
    assert await ids(library) == [ROOF, KALE, BEANS]


async def test_five_thousand_sessions_are_listed_from_the_index(options: Options) -> None:
    folder = tapes.folder(options.home)
    folder.mkdir(parents=True)
    rows = [
        SessionRow(id=f"2026-{number:05d}", title=f"T{number}", updated="2026-03-01T00:00:00+00:00", turns=1)
        for number in range(5_000)
    ]
    SessionIndex(options.home).put(*rows)
    for row in rows:
        (folder / f"{row.id}.db").touch()
    assert await Library(options).list() == rows[::-1]


async def test_looking_at_sessions_leaves_no_files_beside_them(library: Library, options: Options) -> None:
    (options.home / "sessions.db").unlink()
    await library.list()
    await library.list("slate")
    names = {path.name for path in tapes.folder(options.home).iterdir()}
    assert names == {f"{id}.db" for id in (BEANS, KALE, ROOF)}


async def test_a_home_that_cannot_be_written_can_be_listed_and_read(library: Library, options: Options) -> None:
    made(options, "20260305-unlisted", conversation(2), indexed=False)
    await library.list()
    SessionIndex(options.home).remove("20260305-unlisted")
    folders = [options.home, tapes.folder(options.home)]
    for folder in folders:
        for file in folder.iterdir():
            if file.is_file():
                file.chmod(0o444)
        folder.chmod(0o555)

    def look() -> str:
        import asyncio

        reader = Library(options)
        listed = asyncio.run(reader.list())
        assert asyncio.run(reader.verify("20260305-unlisted")).ok
        assert len(asyncio.run(reader.transcript(ROOF))) == 2
        assert [row.id for row in asyncio.run(reader.list("slate"))] == [ROOF]
        return " ".join([*(row.id for row in listed), *reader.take_notices()])

    said = as_nobody(tapes.folder(options.home), look)
    for folder in folders:
        folder.chmod(0o755)
    assert ROOF in said
    assert BEANS in said
    assert "20260305-unlisted" in said
    assert "cannot be written" in said


# -- finding ---------------------------------------------------------------------------------------------------


async def test_a_search_finds_titles_first_and_then_what_was_said(library: Library) -> None:
    rows = await library.list("KALE")
    assert [row.id for row in rows] == [KALE, ROOF, BEANS]
    assert rows[0].snippet is None
    assert rows[1].snippet == "Use slate, not KALE."
    assert rows[2].snippet is not None
    assert "`kale`" in rows[2].snippet


async def test_a_search_wants_every_word_in_one_passage(library: Library) -> None:
    assert await ids(library, "lime shade") == [KALE]
    assert await ids(library, "lime slate") == []
    assert await ids(library, "roof THE") == [ROOF]


@pytest.mark.parametrize(
    "query", ['"', "a OR", "NEAR(", "*", "-", "^x", "col:val", "\0", "\ud800", "(((", "'; DROP", "[/]", "…"]
)
async def test_no_query_is_an_error(library: Library, query: str) -> None:
    assert isinstance(await library.list(query), list)


@pytest.mark.parametrize(
    ("said", "query"),
    [("今天下雨了", "下雨"), ("Привет мир", "мир"), ("مرحبا بالعالم", "مرحبا"), ("fooBar_baz.py", "baz")],
)
async def test_a_search_works_in_any_script(options: Options, said: str, query: str) -> None:
    made(options, BEANS, [person("x"), reply(said)], title="t")
    assert await ids(Library(options), query) == [BEANS]


async def test_a_search_stops_at_its_limit_and_can_be_left_early(library: Library, options: Options) -> None:
    assert [row.id async for row in library.search("kale", limit=2)] == [KALE, ROOF]
    assert [row.id async for row in library.search("kale", limit=1)] == [KALE]
    hits = library.search("kale")
    assert (await anext(hits)).id == KALE
    await hits.aclose()  # type: ignore[attr-defined]


async def test_a_search_passes_over_a_damaged_tape_and_names_it(library: Library, options: Options) -> None:
    damaged = tapes.tape_path(options.home, ROOF)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert await ids(library, "kale") == [KALE, BEANS]
    notices = " ".join(library.take_notices())
    assert ROOF in notices


async def test_a_snippet_shows_the_words_and_no_control_characters(options: Options) -> None:
    made(options, BEANS, [person("x"), reply("word " * 60 + "\x1b[2J the needle\nis here " + "word " * 60)], title="t")
    (row,) = await Library(options).list("needle")
    assert row.snippet is not None
    assert "needle" in row.snippet
    assert "\x1b" not in row.snippet
    assert "\n" not in row.snippet
    assert len(row.snippet) <= 80


# -- renaming --------------------------------------------------------------------------------------------------


async def test_a_new_title_survives_the_index(library: Library, options: Options) -> None:
    await library.rename(BEANS, " Runner\nbeans ")
    assert (await library.list())[-1].title == "Runner beans"
    (options.home / "sessions.db").unlink()
    assert (await Library(options).list())[-1].title == "Runner beans"


async def test_a_title_of_nothing_is_refused(library: Library) -> None:
    with pytest.raises(TitleRefused):
        await library.rename(BEANS, " \u200b")
    assert (await library.list())[-1].title == "Beans"


async def test_a_session_that_is_open_elsewhere_can_be_renamed_in_the_list(library: Library, options: Options) -> None:
    path = tapes.tape_path(options.home, BEANS)
    lock = SessionLock(path)
    assert lock.take()
    before = path.read_bytes()
    await library.rename(BEANS, "Runner beans")
    lock.release()
    assert (await library.list())[-1].title == "Runner beans"
    assert path.read_bytes() == before


# -- deleting --------------------------------------------------------------------------------------------------


async def test_deletions_are_taken_back_last_first_also_after_a_restart(library: Library, options: Options) -> None:
    before = {row.id: row for row in await library.list()}
    for id in (KALE, ROOF, BEANS):
        await library.delete(id)
    assert await library.list() == []
    assert list(tapes.folder(options.home).glob("*.db*")) == []
    back = []
    while (row := await Library(options).undo_delete()) is not None:
        back.append(row)
        report = await library.verify(row.id)
        assert report.ok
    assert back == [before[BEANS], before[ROOF], before[KALE]]
    assert {row.id: row for row in await library.list()} == before
    assert list((options.home / "trash").iterdir()) == []


async def test_the_trash_is_the_owners_alone(library: Library, options: Options) -> None:
    await library.delete(BEANS)
    for path in (options.home / "trash").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


async def test_an_open_session_is_not_deleted(library: Library, options: Options) -> None:
    lock = SessionLock(tapes.tape_path(options.home, BEANS))
    assert lock.take()
    with pytest.raises(SessionBusy, match="not deleted"):
        await library.delete(BEANS)
    lock.release()
    assert BEANS in await ids(library)
    await library.delete(BEANS)
    assert BEANS not in await ids(library)


async def test_a_session_comes_back_under_another_id_when_its_own_is_in_use(library: Library, options: Options) -> None:
    await library.delete(BEANS)
    made(options, BEANS, conversation(1), title="New beans")
    row = await library.undo_delete()
    assert row is not None
    assert row.id == f"{BEANS}-2"
    assert row.notice is not None
    assert BEANS in row.notice
    assert {each.id: each.title for each in await library.list()}[row.id] == "Beans"


async def test_a_kill_in_the_middle_of_a_deletion_loses_nothing(library: Library, options: Options) -> None:
    before = await library.list()
    place = options.home / "trash" / f"000001-{BEANS}"
    place.mkdir(parents=True)
    (place / "row.json").write_text("{")
    assert await library.list() == before
    assert await library.undo_delete() is None
    tape = tapes.tape_path(options.home, KALE)
    place = options.home / "trash" / f"000002-{KALE}"
    place.mkdir()
    tape.rename(place / tape.name)
    assert await ids(library) == [ROOF, BEANS]
    row = await library.undo_delete()
    assert row == next(each for each in before if each.id == KALE)
    assert await library.list() == before


async def test_a_session_with_words_that_are_not_yet_folded_in_is_deleted_and_restored_whole(options: Options) -> None:
    made(options, BEANS, conversation(2))
    library = Library(options)
    path = tapes.tape_path(options.home, BEANS)
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM events").fetchone()
        with MemoryStore(path, now=options.now) as store:
            store.append(person("the last word"))
            count = store.counts().events
            await library.delete(BEANS)
    await library.undo_delete()
    with MemoryStore(path, read_only=True) as store:
        assert store.counts().events == count
        assert store.events()[-1].text == "the last word"


async def test_damaged_sessions_can_be_deleted_and_brought_back_as_they_were(
    library: Library, options: Options
) -> None:
    path = tapes.tape_path(options.home, BEANS)
    path.write_bytes(b"damaged" * 100)
    await library.delete(BEANS)
    assert BEANS not in await ids(library)
    row = await library.undo_delete()
    assert row is not None
    assert path.read_bytes() == b"damaged" * 100


# -- looking ---------------------------------------------------------------------------------------------------


async def test_ids_may_be_short_and_last_is_the_one_used_last(library: Library) -> None:
    await library.rename("20260301", "One")
    await library.rename("last", "Two")
    assert {row.id: row.title for row in await library.list()} == {BEANS: "One", KALE: "Kale", ROOF: "Two"}
    assert (await library.find(BEANS)).id == (await library.find("20260301-B")).id == BEANS
    with pytest.raises(UnknownSession, match="fits 3 sessions"):
        await library.rename("2026", "Three")


async def test_verify_tells_what_is_wrong_with_a_file(library: Library, options: Options) -> None:
    assert (await library.verify(BEANS)).ok
    with closing(sqlite3.connect(tapes.tape_path(options.home, BEANS))) as db:
        db.execute("DELETE FROM pending")
        db.commit()
    report = await library.verify(BEANS)
    assert not report.ok
    assert any(check.rows for check in report.checks if not check.ok)
