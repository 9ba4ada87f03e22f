"""Ids that can be typed and sort by time, titles on one line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.errors import TitleRefused, UnknownSession
from sessions.ids import (
    TITLE_LENGTH,
    UNTITLED,
    checked_title,
    chosen_id,
    fork_title,
    free_id,
    is_session_id,
    new_session_id,
    title_of,
)

moments = st.datetimes(datetime(2020, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))


def free(id: str) -> bool:
    return False


@given(moments, st.integers(1, 10**9))
def test_ids_sort_as_their_times_do(moment: datetime, more: int) -> None:
    later = moment + timedelta(seconds=1 + more % 10**7)
    assert new_session_id(moment, free) < new_session_id(later, free)


@given(moments)
def test_an_id_can_be_typed_and_names_a_file(moment: datetime) -> None:
    id = new_session_id(moment, free)
    assert is_session_id(id)
    assert len(id) == 15
    assert id.startswith(f"{moment:%Y%m%d}-")
    assert not set(id[9:]) & set("ilou")


def test_the_day_of_an_id_is_that_of_utc() -> None:
    moment = datetime(2026, 12, 1, 1, 0, tzinfo=timezone(timedelta(hours=5)))
    assert new_session_id(moment, free).startswith("20261130-")


def test_an_id_that_is_taken_is_not_given_again() -> None:
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    given_out: set[str] = set()
    for _ in range(500):
        id = new_session_id(moment, given_out.__contains__)
        assert id not in given_out
        given_out.add(id)


def test_a_taken_name_gets_the_first_free_number() -> None:
    assert free_id("a", free) == "a"
    assert free_id("a", {"a", "a-2"}.__contains__) == "a-3"
    longest = "x" * 64
    assert is_session_id(free_id(longest, {longest}.__contains__))


@pytest.mark.parametrize(
    "text", ["", "../x", "a/b", "A", "a b", "a.db", ".a", "-a", "x" * 65, "ä", "a\n", "a\0", "last", "all"]
)
def test_what_names_no_file_of_ours_is_no_id(text: str) -> None:
    assert not is_session_id(text)


IDS = ["20261130-k3f97q", "20261130-k3f97q-2", "20261130-a11111", "20261129-zzzzzz"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("last", IDS[0]),
        ("20261130-k3f97q", IDS[0]),
        (" 20261130-A1 ", IDS[2]),
        ("20261129", IDS[3]),
        ("20261130-k3f97q-", IDS[1]),
    ],
)
def test_a_beginning_that_fits_one_session_will_do(typed: str, meant: str) -> None:
    assert chosen_id(typed, IDS) == meant


@pytest.mark.parametrize("typed", ["", "  ", "nothing", "20261130", "last one", "\x1b[2J"])
def test_what_fits_none_or_several_is_one_sentence(typed: str) -> None:
    with pytest.raises(UnknownSession) as refusal:
        chosen_id(typed, IDS)
    assert "\n" not in str(refusal.value)
    assert "\x1b" not in str(refusal.value)


def test_several_are_named_and_last_of_none_says_how_to_begin() -> None:
    with pytest.raises(UnknownSession, match=r"fits 3 sessions: 20261130-k3f97q, .*Type more"):
        chosen_id("20261130", IDS)
    with pytest.raises(UnknownSession, match="no session yet"):
        chosen_id("last", [])


@given(st.text())
def test_a_title_is_one_short_line_that_can_be_seen(prompt: str) -> None:
    title = title_of(prompt)
    assert 0 < len(title) <= TITLE_LENGTH
    assert len(title.splitlines()) == 1
    assert title_of(title) == title


def test_a_title_is_the_first_line_that_says_anything() -> None:
    assert title_of("\n\n  Plan the garden  \nwith beans") == "Plan the garden"
    assert title_of(" \n\t") == UNTITLED
    assert title_of("x" * 100) == "x" * 59 + "…"
    assert title_of("\x1b]0;gotcha\x07Plan [/bold]") == "␛]0;gotcha␇Plan [/bold]"


def test_a_typed_title_must_have_something_to_see() -> None:
    assert checked_title(" The\ngarden ") == "The garden"
    for nothing in ("", "  ", "\n", "\u200b\u202e"):
        with pytest.raises(TitleRefused):
            checked_title(nothing)


def test_a_fork_is_marked_once_and_stays_short() -> None:
    assert fork_title("Plan") == "Plan (fork)"
    assert fork_title("Plan (fork)") == "Plan (fork)"
    assert len(fork_title("x" * TITLE_LENGTH)) == TITLE_LENGTH
