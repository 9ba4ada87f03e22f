"""Several sessions at once: each reply lands in its own, nothing mixes, nothing is left open."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memory.errors import StoreDamaged
from otto_tui.app import OttoApp
from screens.conversations import OpenConversations
from screens.transcript import Transcript
from tests.screens.chat_stage import NARROW, chat_of, chatting, otto, screen_text, settled, told, until
from tests.screens.fakes import FakeLibrary, FakeSession, Reply, conversation


def library_of(app: object) -> FakeLibrary:
    assert isinstance(app, OttoApp)
    assert app.conversations is not None
    library = app.conversations.library
    assert isinstance(library, FakeLibrary)
    return library


async def test_two_sessions_stream_at_once_and_never_mix(tmp_path: Path) -> None:
    first = FakeSession(home=tmp_path, id="aaaa", title="First")
    second = FakeSession(home=tmp_path, id="bbbb", title="Second")
    gate_1, gate_2 = asyncio.Event(), asyncio.Event()
    first.replies.append(Reply(["alpha ", gate_1, "omega"]))
    second.replies.append(Reply(["uno ", gate_2, "due"]))
    async with chatting(second, first, home=tmp_path) as pilot:
        await pilot.press(*"to first", "enter")
        await until(pilot, lambda: "alpha" in screen_text(pilot))
        await pilot.press(*"/resume bbbb", "enter")
        await until(pilot, lambda: "Second" in screen_text(pilot))
        await pilot.press(*"to second", "enter")
        await until(pilot, lambda: "uno" in screen_text(pilot))
        assert "alpha" not in screen_text(pilot)
        gate_1.set()
        await until(pilot, lambda: not first.busy)
        await settled(pilot)
        assert "omega" not in screen_text(pilot)
        await pilot.press(*"/resume aaaa", "enter")
        await until(pilot, lambda: "alpha omega" in screen_text(pilot))
        gate_2.set()
        await until(pilot, lambda: not second.busy)
    assert [event.text for event in first.tape] == ["to first", "alpha omega"]
    assert [event.text for event in second.tape] == ["to second", "uno due"]


async def test_coming_back_shows_the_stream_that_still_runs(tmp_path: Path) -> None:
    first, second = (FakeSession(home=tmp_path, id=id * 4, title=id) for id in "ab")
    gate = asyncio.Event()
    first.replies.append(Reply(["alpha ", gate, "omega"]))
    async with chatting(second, first, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "alpha" in screen_text(pilot))
        await pilot.press(*"/resume bbbb", "enter")
        await until(pilot, lambda: "alpha" not in screen_text(pilot))
        await pilot.press(*"/resume aaaa", "enter")
        await until(pilot, lambda: "alpha" in screen_text(pilot))
        assert "omega" not in screen_text(pilot)
        assert library_of(pilot.app).calls.count(("open", "aaaa")) == 0
        gate.set()
        await until(pilot, lambda: "alpha omega" in screen_text(pilot))


async def test_a_session_behind_the_screen_is_closed_when_its_reply_is_there(tmp_path: Path) -> None:
    first, second = (FakeSession(home=tmp_path, id=id * 4, title=f"Title {id}") for id in "ab")
    gate = asyncio.Event()
    first.replies.append(Reply(["alpha", gate]))
    async with chatting(second, first, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "alpha" in screen_text(pilot))
        await pilot.press(*"/resume bbbb", "enter")
        await until(pilot, lambda: "Title b" in screen_text(pilot))
        assert not first.closed
        gate.set()
        await until(pilot, lambda: first.closed)
        assert "Title a: the reply is there" in told(pilot)


async def test_an_idle_session_is_closed_when_another_is_shown(tmp_path: Path) -> None:
    first, second = (FakeSession(home=tmp_path, id=id * 4) for id in "ab")
    async with chatting(second, first, home=tmp_path) as pilot:
        await pilot.press(*"/resume bbbb", "enter")
        await until(pilot, lambda: first.closed)
        assert not second.closed


async def test_what_was_typed_waits_in_its_own_session(tmp_path: Path) -> None:
    first, second = (FakeSession(home=tmp_path, id=id * 4) for id in "ab")
    async with chatting(second, first, home=tmp_path) as pilot:
        chat = chat_of(pilot)
        await pilot.press(*"half a thought")
        await pilot.press("f4")
        await settled(pilot)
        pilot.app.screen.dismiss("bbbb")
        await until(pilot, lambda: chat.conversation is not None and chat.conversation.session is second)
        await until(pilot, lambda: first.closed)
        assert chat.prompt.text == ""
        await pilot.press(*"/resume aaaa", "enter")
        await until(pilot, lambda: chat.prompt.text == "half a thought")


async def test_a_new_session_leaves_the_old_one_as_it_is(tmp_path: Path) -> None:
    first = FakeSession(conversation(3), home=tmp_path, title="Old one")
    async with chatting(first, home=tmp_path) as pilot:
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "New session" in screen_text(pilot))
        assert "Answer 3" not in screen_text(pilot)
        assert len(first.tape) == 6


async def test_a_fork_opens_at_the_last_turn(tmp_path: Path) -> None:
    first = FakeSession(conversation(3), home=tmp_path)
    async with chatting(first, home=tmp_path) as pilot:
        await pilot.press(*"/fork", "enter")
        await until(pilot, lambda: "Planning the garden (fork)" in screen_text(pilot))
        assert ("fork", (first.id, 6)) in library_of(pilot.app).calls
        assert "Answer 3" in screen_text(pilot)


async def test_quitting_stops_the_reply_and_closes_every_session(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply(["half", asyncio.Event()]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "half" in screen_text(pilot))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: session.closed)
    assert [event.text for event in session.tape] == ["go", "half"]
    assert pilot.app.return_value == session.id


async def test_quitting_an_empty_session_gives_no_id(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        await pilot.press("ctrl+q")
    assert pilot.app.return_value is None


async def test_a_session_that_cannot_be_opened_is_one_sentence_and_otto_goes_on(tmp_path: Path) -> None:
    library = FakeLibrary.of(FakeSession(home=tmp_path))
    library.next_failure = StoreDamaged("The file [/x] is damaged. It was left as it is.")
    app = otto(library, tmp_path)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: "The file [/x] is damaged. It was left as it is." in screen_text(pilot))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.chat.conversation is not None)


async def test_the_startup_request_is_what_is_opened(tmp_path: Path) -> None:
    sessions = [FakeSession(conversation(2), home=tmp_path, id=id * 4, title=f"Title {id}") for id in "ab"]
    for startup, call in (("new", "new"), ("last", "open"), ("aaaa", "open")):
        library = FakeLibrary.of(*sessions)
        async with otto(library, tmp_path, startup=startup).run_test() as pilot:
            await until(pilot, lambda library=library: library.calls)  # type: ignore[misc]
            assert library.started
            assert library.calls[0][0] == call


async def test_only_one_session_object_exists_for_an_open_session(tmp_path: Path) -> None:
    library = FakeLibrary.of(FakeSession(home=tmp_path, id="abcdef"))
    conversations = OpenConversations(library, watcher=lambda happened: None)
    first = await conversations.open("abcdef")
    assert await conversations.open("abc") is first
    await conversations.close_all()


async def test_letting_a_session_go_closes_it_for_good(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path, id="abcdef")
    conversations = OpenConversations(FakeLibrary.of(session), watcher=lambda happened: None)
    first = await conversations.open("abcdef")
    await conversations.let_go("abcdef")
    assert session.closed
    assert session.listeners == 0
    assert await conversations.open("abcdef") is not first


async def test_the_transcript_of_one_session_forgets_the_other(tmp_path: Path) -> None:
    first = FakeSession(conversation(40), home=tmp_path, id="aaaa")
    second = FakeSession(conversation(2), home=tmp_path, id="bbbb")
    async with chatting(second, first, home=tmp_path) as pilot:
        await pilot.press(*"/resume bbbb", "enter")
        await until(pilot, lambda: "Answer 2:" in screen_text(pilot))
        await settled(pilot)
        transcript = chat_of(pilot).query_one(Transcript)
        assert len(list(transcript.children)) == 4
