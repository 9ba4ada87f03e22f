"""Which days a question speaks of."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.question_dates import days_asked

EARLIEST, NEWEST = date(2022, 11, 3), date(2023, 8, 16)  # the second is a Wednesday


def asked(question: str) -> set[tuple[date, date]]:
    spans = days_asked(question, EARLIEST.toordinal(), NEWEST.toordinal())
    return {(date.fromordinal(span.first), date.fromordinal(span.last)) for span in spans}


def day(year: int, month: int, number: int) -> set[tuple[date, date]]:
    return {(date(year, month, number), date(year, month, number))}


@pytest.mark.parametrize(
    "said",
    [
        "8 May 2023",
        "8 May, 2023",
        "the 8th of May 2023",
        "May 8, 2023",
        "May 8th 2023",
        "8 may",
        "2023-05-08",
        "2023/5/8",
    ],
)
def test_a_day_is_read_however_it_is_written(said: str) -> None:
    assert day(2023, 5, 8) <= asked(f"What did we decide on {said}?")


def test_without_a_year_every_year_that_may_be_meant_is() -> None:
    assert asked("who came on 24 December?") == day(2022, 12, 24) | day(2023, 12, 24)


@pytest.mark.parametrize("said", ["in July 2023", "2023-07", "July, 2023"])
def test_a_month_is_a_span(said: str) -> None:
    assert asked(f"Where was it {said}?") == {(date(2023, 7, 1), date(2023, 7, 31))}


def test_a_month_without_a_year_wants_a_word_before_it() -> None:
    assert (date(2023, 5, 1), date(2023, 5, 31)) in asked("Which spot did we visit in May?")
    assert (date(2022, 12, 1), date(2022, 12, 31)) in asked("at the end of December")
    assert asked("It may march on, will it?") == set()


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("yesterday", date(2023, 8, 15), date(2023, 8, 15)),
        ("last Monday", date(2023, 8, 14), date(2023, 8, 14)),
        ("last week", date(2023, 8, 7), date(2023, 8, 13)),
        ("last month", date(2023, 7, 1), date(2023, 7, 31)),
        ("two weeks ago", date(2023, 7, 30), date(2023, 8, 5)),
        ("3 days ago", date(2023, 8, 13), date(2023, 8, 13)),
    ],
)
def test_relative_dates_count_back_from_the_newest_words(said: str, first: date, last: date) -> None:
    assert asked(f"What did I say {said}?") == {(first, last)}
    assert all(span.relative for span in days_asked(said, EARLIEST.toordinal(), NEWEST.toordinal()))


@pytest.mark.parametrize("said", ["version 1.2.2023", "30.2.", "2023-13-40", "port 8080", "", "may I?"])
def test_what_is_no_date_is_none(said: str) -> None:
    assert asked(said) == set()


@given(st.text(max_size=200), st.integers(-5, 4_000_000), st.integers(-5, 4_000_000))
def test_nothing_raises(question: str, earliest: int, newest: int) -> None:
    days_asked(question, min(earliest, 3_652_059), min(newest, 3_652_059))


@given(
    st.sampled_from(["", "0", "1", "31", "99"]),
    st.sampled_from(["May", "february", "December", "Sept."]),
    st.sampled_from(["", "0001", "1999", "2023", "9999"]),
    st.sampled_from([1, 738_000, 3_652_059]),
)
def test_no_combination_raises(number: str, month: str, year: str, newest: int) -> None:
    for question in (
        f"in {month} {year}",
        f"{number} {month} {year}",
        f"{month} {number}, {year}",
        "last month",
        "5 weeks ago",
    ):
        for span in days_asked(question, 1, newest):
            assert 1 <= span.first <= span.last
