"""A session that is stopped, closed or cancelled at any moment: nothing is lost, left open or done afterwards."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from memory.errors import StoreDamaged, StoreUnavailable, UnknownId
from memory.queue import TieredQueue
from memory.store import MemoryStore
from memory.values import Event, NewEvent
from memory.verify import verify
from sessions import tapes
from sessions.chat_model import ToolCall
from sessions.events import Delta, Notice, SessionEvent, TurnDone
from sessions.library import Library
from sessions.live import LiveMemory
from sessions.lock import SessionLock
from sessions.options import Options
from sessions.session import Session
from tests.sessions.listening import heard, until
from tests.sessions.scripted_model import ScriptedModel


def on_tape(options: Options, id: str) -> list[Event]:
    with MemoryStore(tapes.tape_path(options.home, id), read_only=True) as store:
        assert verify(store).ok, verify(store)
        return store.events()


def is_free(options: Options, id: str) -> bool:
    lock = SessionLock(tapes.tape_path(options.home, id))
    free = lock.take()
    lock.release()
    return free


async def test_closing_in_the_middle_of_a_reply_keeps_it_and_ends_the_turn(
    options: Options, session: Session, model: ScriptedModel
) -> None:
    model.replies = [["This much ", asyncio.Event(), "and no more"]]
    events = heard(session)
    turn = asyncio.create_task(session.send("Hello"))
    await until(lambda: any(isinstance(event, Delta) for event in events))
    await session.close()
    done = await turn
    assert done.stopped
    assert done.event is not None
    assert [event.text for event in on_tape(options, session.id)] == ["Hello", "This much "]
    assert is_free(options, session.id)


async def test_a_session_that_is_closed_while_its_tape_is_opened_asks_no_model(
    options: Options, session: Session, model: ScriptedModel
) -> None:
    model.window_gate = asyncio.Event()
    turn = asyncio.create_task(session.send("Hello"))
    await until(lambda: session.busy)
    closing = asyncio.create_task(session.close())
    await asyncio.sleep(0)
    model.window_gate.set()
    await closing
    assert (await turn).stopped
    assert model.requests == []
    assert [event.text for event in on_tape(options, session.id)] == ["Hello"]
    assert is_free(options, session.id)


async def test_nothing_can_be_said_in_a_closed_session(options: Options, session: Session) -> None:
    await session.send("Hello")
    await session.close()
    with pytest.raises(StoreUnavailable, match="has been closed"):
        await session.send("Anyone there?")
    with pytest.raises(StoreUnavailable, match="has been closed"):
        await session.retry()
    assert await session.compact_now() is None
    await session.reembed(lambda done, total: None)
    assert (await session.snapshot()).events == 0
    assert is_free(options, session.id)
    assert len(on_tape(options, session.id)) == 2


async def test_closing_twice_at_once_is_closing_once(options: Options, session: Session) -> None:
    await session.send("Hello")
    await asyncio.gather(session.close(), session.close())
    await session.close()
    assert is_free(options, session.id)


async def test_a_compaction_that_was_asked_for_ends_with_the_session(session: Session, model: ScriptedModel) -> None:
    model.summary_gate = asyncio.Event()
    number = 0
    while not (await session.snapshot()).overflow:
        await session.send(f"Question {number}: please keep port {4000 + number} free for service {number}.")
        number += 1
    asked = asyncio.create_task(session.compact_now())
    await until(lambda: bool(model.prompts))
    await session.close()
    assert await asked is None


async def test_stopping_before_the_model_was_asked_asks_nobody(
    options: Options, session: Session, model: ScriptedModel
) -> None:
    model.window_gate = asyncio.Event()
    turn = asyncio.create_task(session.send("Hello"))
    await until(lambda: session.busy)
    session.stop()
    model.window_gate.set()
    done = await turn
    assert (done.stopped, done.event, done.error) == (True, None, None)
    assert model.requests == []
    assert session.can_retry
    assert (await session.retry()).event is not None


async def test_a_stop_when_nothing_is_under_way_does_not_stop_the_next_turn(session: Session) -> None:
    session.stop()
    assert not (await session.send("Hello")).stopped
    session.stop()
    assert not (await session.send("And again")).stopped


async def test_a_turn_that_is_cancelled_from_outside_is_kept_and_marked(
    options: Options, session: Session, model: ScriptedModel
) -> None:
    call = ToolCall("c1", "recall_memory", '{"question": "x"}')
    model.replies = [["Let me look. ", call], ["It says ", asyncio.Event()]]
    events = heard(session)
    turn = asyncio.create_task(session.send("Hello"))
    await until(lambda: sum(isinstance(event, Delta) for event in events) == 2)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert not session.busy
    reply = on_tape(options, session.id)[-1]
    assert (reply.text, reply.meta["partial"]) == ("Let me look. It says ", "stopped")


async def test_a_turn_that_fails_on_the_disk_is_kept_as_a_part(
    options: Options, session: Session, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = TieredQueue.append
    failed: list[NewEvent] = []

    def full(queue: TieredQueue, new: NewEvent) -> Event:
        if new.role == "tool" and not failed:
            failed.append(new)
            raise StoreUnavailable("The disk is full.")
        return append(queue, new)

    monkeypatch.setattr(TieredQueue, "append", full)
    model.replies = [["Let me look. ", ToolCall("c1", "recall_memory", '{"question": "x"}')]]
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await session.send("Hello")
    assert not session.busy
    _, asked, answered, reply = on_tape(options, session.id)
    assert (reply.text, reply.meta["partial"]) == ("Let me look. ", "failed")
    assert (answered.text, answered.refs) == ("The turn ended before this call did.", (asked.id,))


async def test_asking_again_in_a_session_without_a_word_leaves_nothing_behind(
    options: Options, session: Session
) -> None:
    with pytest.raises(UnknownId, match="say something first"):
        await session.retry()
    assert not options.home.exists()


async def test_a_session_that_cannot_be_taken_up_is_let_go(
    options: Options, library: Library, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(store: MemoryStore) -> None:
        raise StoreDamaged(f"{store.path} is damaged.")

    await session.send("Hello")
    await session.close()
    with monkeypatch.context() as patch, pytest.raises(StoreDamaged) as caught:
        patch.setattr("sessions.session.totals_of", broken)
        await library.open(session.id)
    again = await library.open(session.id)
    assert not again.read_only
    await again.close()
    # Until here the failure has kept alive all that was not let go.
    assert caught.value.args


async def test_an_opening_that_is_cancelled_leaves_no_lock_and_lets_it_go_only_when_it_has_ended(
    options: Options, library: Library, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.send("Hello")
    await session.close()
    begun, go_on = threading.Event(), threading.Event()
    open_memory = LiveMemory.open

    def slow(*args: Any) -> LiveMemory:
        begun.set()
        assert go_on.wait(30)
        return open_memory(*args)

    monkeypatch.setattr(LiveMemory, "open", slow)
    opening = asyncio.create_task(library.open(session.id))
    await until(begun.is_set)
    opening.cancel()
    await asyncio.wait([opening], timeout=0.05)
    assert not is_free(options, session.id)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert is_free(options, session.id)


async def test_nobody_is_told_twice_to_stop_listening(session: Session) -> None:
    events: list[SessionEvent] = []
    end = session.subscribe(events.append)
    session.subscribe(lambda event: end())
    await session.send("Hello")
    end()
    assert not any(isinstance(event, TurnDone | Notice) for event in events)
