"""Forking at a turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory import vector_rows
from memory.errors import UnknownId
from memory.queue import TieredQueue
from memory.rebuild import fold_store
from memory.store import CONVERSATION, MemoryStore
from memory.values import Event
from memory.vectors import current_stamp
from memory.verify import verify
from sessions import tapes
from sessions.library import Library
from sessions.options import Options
from sessions.remembered_model import MODEL_FACT
from tests.memory.embedders import TinyEmbedder
from tests.sessions.made_sessions import conversation, made, options_for, short_summary

VECTOR = TinyEmbedder(dimensions=8).vector("of whatever").tobytes()

ID = "20260302-garden"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    options = options_for(tmp_path / "home")
    made(options, ID, conversation(60))
    return options


def tape_of(options: Options, id: str) -> MemoryStore:
    return MemoryStore(tapes.tape_path(options.home, id), read_only=True)


def turns_of(events: list[Event]) -> list[list[Event]]:
    turns: list[list[Event]] = []
    for event in events:
        if event.protected:
            turns.append([])
        turns[-1].append(event)
    return turns


async def test_a_fork_holds_every_event_up_to_the_end_of_the_turn_as_it_was(options: Options) -> None:
    with tape_of(options, ID) as parent:
        events = parent.events()
        before = parent.path.read_bytes()
    library = Library(options)
    turns = turns_of(events)
    for number in (1, 4, 5, 20, 59, 60):
        end = turns[number - 1][-1].seq
        expected = [event for event in events if event.seq <= end]
        for inside in turns[number - 1]:
            row = await library.fork(ID, inside.seq)
            with tape_of(options, row.id) as fork:
                assert fork.events() == expected
                assert verify(fork).ok, verify(fork)
    assert tapes.tape_path(options.home, ID).read_bytes() == before


async def test_a_fork_remembers_what_the_parent_remembered_then_and_nothing_later(options: Options) -> None:
    library = Library(options)
    with tape_of(options, ID) as parent:
        turns = turns_of(parent.events())
        generations = set()
        for number in range(1, 61, 6):
            end = turns[number - 1][-1].seq
            row = await library.fork(ID, end)
            then = fold_store(parent, until=end)
            with tape_of(options, row.id) as fork:
                assert fork.generation(CONVERSATION) == then.generation
                assert tuple(fork.bullets(CONVERSATION)) == then.bullets
                assert tuple(fork.pending(CONVERSATION)) == then.pending
                assert all(bullet.seqs[-1] <= end for bullet in fork.bullets(CONVERSATION))
            generations.add(then.generation)
    assert len(generations) > 3


async def test_a_fork_of_a_memory_that_has_shrunk_fits_the_smaller_budgets(tmp_path: Path) -> None:
    options = options_for(tmp_path / "roomy")
    made(options, ID, conversation(60), x_budget=2_000, y_budget=4_000)
    with MemoryStore(tapes.tape_path(options.home, ID), now=options.now) as store:
        TieredQueue(store, summarize=short_summary, x_budget=120, y_budget=260, restore=True)
    row = await Library(options).fork(ID, 100)
    with tape_of(options, row.id) as fork:
        assert verify(fork).ok, verify(fork)


async def test_a_fork_knows_its_parent_and_comes_first_in_the_list(options: Options) -> None:
    library = Library(options)
    await library.rename(ID, "Beans [/b]")
    row = await library.fork(ID, 9)
    assert row.parent == ID
    assert row.title == "Beans [/b] (fork)"
    assert row.workspace == "/home/sam/garden"
    assert row.turns == 4
    listed = await library.list()
    assert [each.id for each in listed] == [row.id, ID]
    assert listed[0] == row
    (options.home / "sessions.db").unlink()
    assert (await Library(options).list())[0] == row


async def test_a_fork_of_a_fork_and_a_fork_of_an_open_session_work(options: Options) -> None:
    library = Library(options)
    first = await library.fork(ID, 40)
    second = await library.fork(first.id, 9)
    assert second.parent == first.id
    with MemoryStore(tapes.tape_path(options.home, ID), now=options.now) as store:
        queue = TieredQueue(store, x_budget=120, y_budget=260, restore=True, auto_compact=False)
        with store.transaction():
            row = await library.fork(ID, 9)
        queue.append(conversation(1)[0])
    assert row.turns == 4


async def test_a_fork_at_nothing_is_refused_and_leaves_nothing(options: Options) -> None:
    library = Library(options)
    before = sorted(options.home.rglob("*"))
    for seq in (0, -1, 10**9):
        with pytest.raises(UnknownId, match="no event"):
            await library.fork(ID, seq)
    assert [path for path in sorted(options.home.rglob("*")) if path not in before and path.suffix == ".db"] == []
    assert len(await library.list()) == 1


async def test_a_fork_exports_and_imports_like_any_session(options: Options, tmp_path: Path) -> None:
    library = Library(options)
    row = await library.fork(ID, 80)
    first = (await library.export(row.id, tmp_path / "a.json", tape=True)).read_bytes()
    other = Library(options_for(tmp_path / "other"))
    assert (await other.import_file(tmp_path / "a.json")).parent == ID
    assert (await other.export(row.id, tmp_path / "b.json", tape=True)).read_bytes() == first


async def test_a_fork_takes_along_the_model_and_the_vectors_that_are_made(options: Options) -> None:
    with MemoryStore(tapes.tape_path(options.home, ID), now=options.now) as parent:
        parent.set_meta(MODEL_FACT, "offline\nfake/model")
        hashes = [chunk.hash for pieces in parent.chunks_of(range(1, 200)).values() for chunk in pieces]
        with parent.transaction() as db:
            vector_rows.make_current(db, "fake:8")
            vector_rows.insert(db, "fake:8", [(hash, VECTOR) for hash in hashes[::2]])
            vector_rows.insert(db, "left:8", [(hash, VECTOR) for hash in hashes])
        vectors = dict(vector_rows.select(parent.reader(), "fake:8", hashes))
    row = await Library(options).fork(ID, 9)
    with tape_of(options, row.id) as fork:
        here = [chunk.hash for pieces in fork.chunks_of(range(1, 200)).values() for chunk in pieces]
        assert fork.get_meta(MODEL_FACT) == "offline\nfake/model"
        assert current_stamp(fork) == "fake:8"
        assert dict(vector_rows.select(fork.reader(), "fake:8", here)) == {h: vectors[h] for h in here if h in vectors}
        assert vector_rows.select(fork.reader(), "left:8", here) == []
        assert verify(fork).ok, verify(fork)
