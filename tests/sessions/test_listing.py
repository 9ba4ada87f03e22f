"""What the list and the tape know of a session, whenever it got its title and whatever its clock does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sessions.library import Library
from sessions.options import Options
from sessions.rows import SessionRow
from tests.sessions.scripted_model import ScriptedModel


def library_at(home: Path, **fields: object) -> Library:
    options = Options(home=home, chat="test/scripted", embedding="none", **fields)  # type: ignore[arg-type]
    return Library(options, open_model=ScriptedModel().opened)


async def row_from_the_tape(library: Library) -> SessionRow:
    """The only session, as it is listed when the index is lost."""
    library.index.path.unlink()
    (row,) = await library_at(library.options.home).list()
    return row


async def test_a_title_given_before_the_first_word_is_on_the_tape_with_everything_else(tmp_path: Path) -> None:
    library = library_at(tmp_path)
    session = await library.new("/work/garden")
    await session.rename("Beans")
    await session.send("Hello")
    await session.close()
    row = await row_from_the_tape(library)
    assert (row.title, row.workspace, row.id) == ("Beans", "/work/garden", session.id)


@pytest.mark.parametrize("title", ["New session", "Untitled"])
async def test_a_title_that_the_person_chose_stays_whatever_it_is(tmp_path: Path, title: str) -> None:
    library = library_at(tmp_path)
    session = await library.new("/work")
    await session.send("Hello")
    await session.rename(title)
    await session.send("And again")
    assert session.title == title
    await session.close()
    assert (await row_from_the_tape(library)).title == title


async def test_the_tape_knows_its_session_before_it_holds_a_word(tmp_path: Path) -> None:
    library = library_at(tmp_path)
    session = await library.new("/work/garden")
    known: list[str] = []
    session.subscribe(lambda event: known.append(session.title))
    await session.send("Plan the garden\nwith beans")
    assert set(known) == {"Plan the garden"}
    await session.close()


async def test_a_session_that_is_only_read_gets_its_title_in_the_list(tmp_path: Path) -> None:
    library = library_at(tmp_path)
    first = await library.new("/work")
    await first.send("Hello")
    second = await library.open(first.id)
    await second.rename("Beans")
    assert second.title == "Beans"
    assert [row.title for row in await library.list()] == ["Beans"]
    await second.close()
    await first.send("And again")
    assert [row.title for row in await library.list()] == ["Beans"]
    await first.close()


async def test_with_a_clock_that_goes_backwards_a_session_is_not_older_than_itself(tmp_path: Path) -> None:
    def backwards() -> Iterator[datetime]:
        moment = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
        while True:
            yield moment
            moment -= timedelta(minutes=7)

    times = backwards()
    library = library_at(tmp_path, now=lambda: next(times))
    session = await library.new("/work")
    await session.send("Hello")
    await session.send("And again")
    await session.close()
    (row,) = await library.list()
    assert row.updated >= row.created
    assert (row.created, row.updated, row.turns) == (
        (again := await row_from_the_tape(library)).created,
        again.updated,
        again.turns,
    )
