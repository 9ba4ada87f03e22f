"""A session moves to the best model that can be had by itself, and recall goes on meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.embeddings import Embedder, EmbedderChoice
from memory.errors import EmbeddingOnItsWay, EmbeddingUnavailable
from memory.store import MemoryStore
from memory.vectors import current_stamp, embedding_state
from sessions.embedding import MEANWHILE
from sessions.events import EmbeddingProgress
from sessions.library import Library
from sessions.options import Options
from sessions.session import Session
from sessions.tapes import tape_path
from tests.memory.embedders import TinyEmbedder
from tests.sessions.listening import heard, notices, talk, until
from tests.sessions.made_sessions import conversation, made, options_for
from tests.sessions.scripted_model import ScriptedModel

ID = "20260302-beans1"

WAIT = 30


class Reached(TinyEmbedder):
    """A model that can be had, or not, and that can be held in the middle of a batch."""

    def __init__(self, stamp: str, unreachable: EmbeddingUnavailable | None = None) -> None:
        super().__init__(stamp)
        self.unreachable = unreachable
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.queries = 0

    def hold(self) -> None:
        self.go_on.clear()
        self.begun.clear()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._reach()
        self.begun.set()
        assert self.go_on.wait(WAIT)
        return super().embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self._reach()
        self.queries += text != "size"
        return super().embed_query(text)

    def _reach(self) -> None:
        if self.unreachable is not None:
            raise self.unreachable


class Models:
    """What a session may choose from; a test changes it as it goes."""

    def __init__(self) -> None:
        self.box = Reached("tiny:box")
        self.better = Reached("tiny:better")
        self.floor: Embedder | None = self.box

    def choose(self, options: Options, model_name: str) -> EmbedderChoice:
        return EmbedderChoice(self.better, self.floor)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    models = Models()
    monkeypatch.setattr("sessions.embedding.choose", models.choose)
    return models


@pytest.fixture
def options(tmp_path: Path) -> Options:
    """Of a home with one session of 170 chunks, none of them embedded: as one is that was imported."""
    options = options_for(tmp_path, chat="test/scripted", x_budget=200, y_budget=400)
    made(options, ID, conversation(60))
    return options


async def opened(options: Options, *, read_only: bool = False) -> Session:
    return await Library(options, open_model=ScriptedModel().opened).open(ID, read_only=read_only)


def state(options: Options) -> tuple[str | None, int]:
    """The stamp that ranks, and chunks without its vector."""
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        now = embedding_state(store)
    return now.stamp, now.waiting


def stamps(options: Options) -> set[str]:
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        return {row["stamp"] for row in store.reader().execute("SELECT DISTINCT stamp FROM vectors")}


async def test_an_imported_session_is_embedded_by_itself_with_progress(options: Options, models: Models) -> None:
    session = await opened(options)
    events = heard(session)
    await session.drain()
    progress = [event for event in events if isinstance(event, EmbeddingProgress)]
    await session.close()
    assert progress[-1].done == progress[-1].total > 100
    assert state(options) == ("tiny:better", 0)
    assert notices(events) == []


async def test_the_box_ranks_while_the_better_model_is_at_work_and_then_that_does(
    options: Options, models: Models
) -> None:
    models.better.hold()
    session = await opened(options)
    await until(models.better.begun.is_set)
    meanwhile = await session.recall("How many litres for bed 7?")
    assert (meanwhile.warning, models.box.queries) == (None, 1)
    assert any("exactly 7 litres" in item.text for item in meanwhile.items)
    # What is said meanwhile is ranked by the box as well.
    await talk(session, 2)
    models.better.go_on.set()
    await session.drain()
    after = await session.recall("How many litres for bed 7?")
    await session.close()
    assert (after.warning, models.better.queries, models.box.queries) == (None, 1, 1)
    assert state(options) == ("tiny:better", 0)
    assert stamps(options) == {"tiny:better"}


async def test_without_the_better_model_the_box_ranks_and_it_is_said_once(options: Options, models: Models) -> None:
    models.better.unreachable = EmbeddingUnavailable("The model is not on this machine.")
    session = await opened(options)
    events = heard(session)
    await session.drain()
    await talk(session, 2)
    await session.drain()
    found = await session.recall("How many litres for bed 7?")
    notice = (await session.snapshot()).notice
    await session.close()
    assert found.warning is None
    assert models.box.queries == 1
    assert notices(events) == [f"The model is not on this machine. {MEANWHILE}"]
    assert notice == notices(events)[0]
    assert state(options) == ("tiny:box", 0)


async def test_on_the_next_start_the_better_model_takes_over(options: Options, models: Models) -> None:
    models.better.unreachable = EmbeddingUnavailable("The model is not on this machine.")
    session = await opened(options)
    await session.drain()
    await session.close()
    models.better.unreachable = None
    session = await opened(options)
    await session.drain()
    assert (await session.snapshot()).notice is None
    await session.close()
    assert state(options) == ("tiny:better", 0)


async def test_a_model_that_is_being_fetched_takes_over_when_it_is_there(
    options: Options, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.embedding.LOOK_AGAIN", 0.01)
    models.better.unreachable = EmbeddingOnItsWay("The model is being fetched in the background.")
    session = await opened(options)
    await session.drain()
    assert (await session.snapshot()).embedding.stamp == "tiny:box"
    models.better.unreachable = None
    # Nobody says anything: the session looks by itself.
    await until(models.better.begun.is_set)
    await session.drain()
    assert (await session.snapshot()).notice is None
    await session.close()
    assert state(options) == ("tiny:better", 0)


async def test_a_fetch_that_fails_is_what_the_status_then_says(
    options: Options, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.embedding.LOOK_AGAIN", 0.01)
    models.better.unreachable = EmbeddingOnItsWay("The model is being fetched in the background.")
    session = await opened(options)
    events = heard(session)
    await session.drain()
    models.better.unreachable = EmbeddingUnavailable("Fetching it failed.")

    while (await session.snapshot()).notice != f"Fetching it failed. {MEANWHILE}":
        await asyncio.sleep(0.001)
    await session.close()
    assert notices(events) == [f"The model is being fetched in the background. {MEANWHILE}"]


async def test_closing_forgets_to_look_again(options: Options, models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.embedding.LOOK_AGAIN", 0.0)
    models.better.unreachable = EmbeddingOnItsWay("The model is being fetched in the background.")
    session = await opened(options)
    await session.close()
    models.better.unreachable = None
    for _ in range(5):
        await asyncio.sleep(0)
    assert not models.better.begun.is_set()


async def test_a_session_that_is_only_looked_at_is_not_moved_and_ranks_by_what_it_has(
    options: Options, models: Models
) -> None:
    models.better.unreachable = EmbeddingUnavailable("The model is not on this machine.")
    session = await opened(options)
    await session.drain()
    await session.close()
    models.better.unreachable = None
    looking = await opened(options, read_only=True)
    await looking.drain()
    found = await looking.recall("How many litres for bed 7?")
    await looking.close()
    assert found.warning is None
    assert models.box.queries == 1
    assert state(options) == ("tiny:box", 0)
    assert models.better.passages == 0


async def test_without_a_floor_recall_goes_on_by_keyword_until_the_move_is_done(
    options: Options, models: Models
) -> None:
    models.floor = None
    models.better.stamp = "tiny:old"
    session = await opened(options)
    await session.drain()
    await session.close()
    models.better = Reached("tiny:new")
    models.better.hold()
    session = await opened(options)
    await until(models.better.begun.is_set)
    found = await session.recall("bed 7")
    assert found.ranked_by == "bm25+recency"
    assert found.warning is not None
    models.better.go_on.set()
    await session.drain()
    await session.close()
    assert state(options) == ("tiny:new", 0)


async def test_two_models_that_take_turns_are_paid_for_once(options: Options, models: Models) -> None:
    one, other = Reached("tiny:one"), Reached("tiny:other")
    for turn in range(6):
        models.better = (one, other)[turn % 2]
        session = await opened(options)
        await session.drain()
        await session.close()
        assert state(options) == (models.better.stamp, 0)
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        chunks = store.counts().chunks
    assert (one.passages, other.passages) == (chunks, chunks)


async def test_closing_ends_a_move_after_its_batch_and_it_goes_on_from_there(options: Options, models: Models) -> None:
    models.better.hold()
    session = await opened(options)
    await until(models.better.begun.is_set)
    closing = asyncio.create_task(session.close())
    await asyncio.sleep(0)
    models.better.go_on.set()
    await closing
    assert models.better.passages == 32
    assert state(options) == ("tiny:box", 0)
    session = await opened(options)
    await session.drain()
    await session.close()
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        assert models.better.passages == store.counts().chunks
    assert state(options) == ("tiny:better", 0)


async def test_asked_for_it_goes_on_where_the_move_is_and_can_be_given_up(options: Options, models: Models) -> None:
    models.better.hold()
    session = await opened(options)
    events = heard(session)
    await until(models.better.begun.is_set)
    seen: list[tuple[int, int]] = []
    work = asyncio.create_task(session.reembed(lambda done, total: seen.append((done, total))))
    await asyncio.sleep(0)
    models.better.go_on.set()
    await until(lambda: len(seen) > 1)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert seen[0][0] >= 32
    seen.clear()
    await session.reembed(lambda done, total: seen.append((done, total)))
    await session.drain()
    await session.close()
    assert seen[-1][0] == seen[-1][1]
    assert notices(events) == []
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        assert models.better.passages == store.counts().chunks
    assert state(options) == ("tiny:better", 0)


async def test_asked_for_a_model_that_cannot_be_had_it_says_so_and_embeds_by_the_box(
    options: Options, models: Models
) -> None:
    models.better.unreachable = EmbeddingUnavailable("The model is not on this machine.")
    library = Library(options)
    seen: list[tuple[int, int]] = []
    with pytest.raises(EmbeddingUnavailable, match=f"The model is not on this machine. {MEANWHILE}"):
        await library.reembed(ID, lambda done, total: seen.append((done, total)))
    assert state(options) == ("tiny:box", 0)
    assert seen[-1][0] == seen[-1][1]


LIFE = """
import asyncio, sys
from pathlib import Path
import pytest
from tests.sessions.test_embedding_spaces import Models, opened
from tests.sessions.made_sessions import options_for

async def live():
    models = Models()
    pytest.MonkeyPatch().setattr("sessions.embedding.choose", models.choose)
    batches = []
    def before():
        batches.append(0)
        if len(batches) == int(sys.argv[2]):
            print("in the middle", flush=True)
            sys.stdin.read()
    models.better.before_batch = before
    session = await opened(options_for(Path(sys.argv[1]), chat="test/scripted", x_budget=200, y_budget=400))
    await session.drain()

asyncio.run(live())
"""


@pytest.mark.parametrize("batch", [1, 3])
async def test_killed_in_the_middle_it_is_whole_in_the_old_space_and_goes_on(
    options: Options, models: Models, batch: int
) -> None:
    command = [sys.executable, "-c", LIFE, str(options.home), str(batch)]
    life = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert life.stdout is not None
    assert (await asyncio.to_thread(life.stdout.readline)).strip() == "in the middle"
    os.kill(life.pid, signal.SIGKILL)
    life.communicate()
    assert state(options) == ("tiny:box", 0)
    session = await opened(options)
    await session.drain()
    await session.close()
    assert state(options) == ("tiny:better", 0)
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        assert current_stamp(store) == "tiny:better"
        assert models.better.passages == store.counts().chunks - 32 * (batch - 1)
