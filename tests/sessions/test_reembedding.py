"""Making vectors anew without opening the session, and stopping in the middle."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from memory.embeddings import EmbedderChoice
from memory.store import MemoryStore
from memory.vectors import embedding_state
from sessions.errors import SessionBusy
from sessions.library import Library
from sessions.lock import SessionLock
from sessions.options import Options
from sessions.tapes import tape_path
from tests.memory.embedders import TinyEmbedder
from tests.sessions.made_sessions import conversation, made, options_for

ID = "20260302-beans1"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    options = options_for(tmp_path)
    made(options, ID, conversation(60))
    return options


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> TinyEmbedder:
    embedder = TinyEmbedder()
    monkeypatch.setattr("sessions.embedding.choose", lambda options, model: EmbedderChoice(embedder))
    return embedder


def waiting(options: Options) -> int:
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        return embedding_state(store).waiting


async def test_it_leaves_the_tiers_and_budgets_as_they_are(options: Options, embedder: TinyEmbedder) -> None:
    library = Library(options)
    before = (await library.export(ID, options.home / "before.json", tape=True)).read_bytes()
    seen: list[tuple[int, int]] = []
    await library.reembed(ID, lambda done, total: seen.append((done, total)))
    await asyncio.sleep(0)
    assert seen[-1][0] == seen[-1][1] > 0
    assert waiting(options) == 0
    assert (await library.export(ID, options.home / "after.json", tape=True)).read_bytes() == before


async def test_a_session_that_is_open_is_left_alone(options: Options, embedder: TinyEmbedder) -> None:
    lock = SessionLock(tape_path(options.home, ID))
    assert lock.take()
    try:
        with pytest.raises(SessionBusy):
            await Library(options).reembed(ID, lambda done, total: None)
    finally:
        lock.release()
    assert embedder.passages == 0


async def test_cancelled_it_ends_after_the_batch_and_goes_on_later(options: Options, embedder: TinyEmbedder) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert go_on.wait(30)

    embedder.before_batch = hold
    library = Library(options)
    work = asyncio.ensure_future(library.reembed(ID, lambda done, total: None))
    assert await asyncio.to_thread(begun.wait, 30)
    work.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await work
    made_at_first = embedder.passages
    assert waiting(options) > 0
    lock = SessionLock(tape_path(options.home, ID))
    assert lock.take()
    lock.release()

    embedder.before_batch = lambda: None
    await library.reembed(ID, lambda done, total: None)
    with MemoryStore(tape_path(options.home, ID), read_only=True) as store:
        state = embedding_state(store)
    assert state.waiting == 0
    assert embedder.passages == state.embedded
    assert 0 < made_at_first < state.embedded
