"""The library and real sessions together."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import EmbeddingUnavailable, StoreReadOnly
from sessions import tapes
from sessions.errors import SessionBusy
from sessions.events import Notice
from sessions.library import Library
from sessions.options import Options
from tests.sessions.made_sessions import options_for


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return options_for(tmp_path / "home", embedding="none")


async def test_a_session_in_which_nothing_is_said_leaves_nothing_behind(options: Options) -> None:
    library = Library(options)
    session = await library.new("/home/sam/garden")
    await session.close()
    assert await library.list() == []
    assert not options.home.exists()


async def test_a_turn_puts_the_session_into_the_list_with_its_first_line_as_title(options: Options) -> None:
    library = Library(options)
    session = await library.new("/home/sam/garden")
    await session.send("Plan the beans\nand the kale")
    (row,) = await library.list()
    assert (row.id, row.title, row.workspace, row.turns, row.parent) == (
        session.id,
        "Plan the beans",
        "/home/sam/garden",
        1,
        None,
    )
    await session.close()
    (options.home / "sessions.db").unlink()
    assert await Library(options).list() == [row]


async def test_last_opens_what_was_used_last_as_it_was_left(options: Options) -> None:
    library = Library(options)
    for prompt in ("First", "Second"):
        session = await library.new("")
        await session.send(prompt)
        await session.close()
    again = await library.open("last")
    assert again.title == "Second"
    assert (await again.transcript())[0].text == "Second"
    await again.close()


async def test_a_session_that_is_open_is_read_only_elsewhere_and_not_deleted(options: Options) -> None:
    first, second = Library(options), Library(options)
    session = await first.new("")
    await session.send("Hello")
    other = await second.open(session.id)
    assert other.read_only
    with pytest.raises(StoreReadOnly):
        await other.send("Hello from elsewhere")
    with pytest.raises(SessionBusy, match="not deleted"):
        await second.delete(session.id)
    with pytest.raises(SessionBusy):
        await second.reembed(session.id, lambda done, total: None)
    await other.close()
    await session.send("Still here")
    await session.close()
    third = await second.open(session.id)
    assert not third.read_only
    await third.close()
    await second.delete(session.id)
    assert await first.list() == []


async def test_a_fork_and_an_import_can_be_talked_to(options: Options, tmp_path: Path) -> None:
    library = Library(options)
    session = await library.new("")
    for prompt in ("One", "Two", "Three"):
        await session.send(prompt)
    seq = (await session.transcript())[2].seq
    await library.export(session.id, tmp_path / "a.json")
    fork = await library.open((await library.fork(session.id, seq)).id)
    assert [event.text for event in await fork.transcript() if event.protected] == ["One", "Two"]
    await fork.send("Another three")
    twin = await library.open((await library.import_file(tmp_path / "a.json")).id)
    notices: list[Notice] = []
    twin.subscribe(lambda event: notices.append(event) if isinstance(event, Notice) else None)
    await twin.send("Four")
    assert [event.text for event in await twin.transcript() if event.protected] == ["One", "Two", "Three", "Four"]
    for each in (twin, fork, session):
        await each.close()
    assert len(await library.list()) == 3
    for row in await library.list():
        assert (await library.verify(row.id)).ok


async def test_reembedding_without_a_model_is_one_sentence_and_lets_the_session_go(options: Options) -> None:
    library = Library(options)
    session = await library.new("")
    await session.send("Hello")
    await session.close()
    with pytest.raises(EmbeddingUnavailable) as refusal:
        await library.reembed("last", lambda done, total: None)
    assert "\n" not in str(refusal.value)
    await library.delete("last")
    assert tapes.tape_ids(options.home) == set()


async def test_the_transcript_of_a_session_is_read_without_opening_it(options: Options) -> None:
    library = Library(options)
    session = await library.new("")
    await session.send("One")
    await session.send("Two")
    events = await library.transcript(session.id, limit=2)
    assert events[0].text == "Two"
    earlier = await library.transcript(session.id, before=events[0].seq, limit=1)
    assert len(earlier) == 1
    await session.close()
