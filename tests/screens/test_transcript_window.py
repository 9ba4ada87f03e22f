"""The window over a tape: a run without gaps, however it is moved and whatever is added meanwhile."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from screens.transcript_window import FIRST, MOST, PAGE, SEEN, TranscriptWindow
from tests.screens.fakes import FakeSession, conversation, event

MOVES = ("older", "newer", "tail", "start", "jump", "said", "caught_up", "drop_newest", "drop_oldest")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 150), st.lists(st.tuples(st.sampled_from(MOVES), st.integers(1, 400)), max_size=15))
async def test_the_window_is_a_run_of_the_tape_without_gaps(turns: int, moves: list[tuple[str, int]]) -> None:
    # Every third number is missing, as on a tape where something else took it.
    session = FakeSession(e for e in conversation(turns) if e.seq % 3)
    window = TranscriptWindow(session)
    await window.to_tail()
    for move, number in moves:
        before = list(window.events)
        if move == "older":
            added = await window.older()
            assert window.events == added + before
        elif move == "newer":
            added = await window.newer()
            assert window.events == before + added
        elif move == "tail":
            await window.to_tail()
        elif move == "start":
            await window.to_start()
        elif move == "jump":
            there = any(event.seq == number for event in session.tape)
            assert await window.around(number) == there
            assert there == any(event.seq == number for event in window.events) or not there
        elif move == "said":
            session.tape.append(event(session.tape[-1].seq + 1 if session.tape else 1, "user", "more"))
        elif move == "caught_up":
            await window.caught_up()
        elif move == "drop_newest":
            window.drop_newest(MOST)
        else:
            window.drop_oldest(FIRST)
        _check(window, session, caught_up=move in ("tail", "caught_up"))


def _check(window: TranscriptWindow, session: FakeSession, *, caught_up: bool) -> None:
    tape = session.tape
    if window.events:
        first = tape.index(window.events[0])
        assert window.events == tape[first : first + len(window.events)]
        assert not window.at_start or first == 0
        assert not (caught_up and window.at_tail) or window.events[-1] == tape[-1]
    elif window.at_tail and caught_up:
        assert tape == []


async def test_a_window_is_opened_with_one_look_at_a_few_events() -> None:
    session = FakeSession(conversation(5_000))
    window = TranscriptWindow(session)
    await window.to_tail()
    assert session.calls == [("transcript", (None, SEEN, None))]


async def test_older_pages_reach_the_first_event() -> None:
    session = FakeSession(conversation(50))
    window = TranscriptWindow(session)
    await window.to_tail()
    while not window.at_start:
        assert len(await window.older()) <= PAGE
    assert window.events == session.tape
