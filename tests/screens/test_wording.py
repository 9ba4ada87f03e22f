"""Numbers, ages and times in few characters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from screens.wording import age, brief, counted, lasted, moment_of

NOW = datetime(2026, 3, 9, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-03-09T15:29:30+00:00", "now"),
        ("2026-03-09T16:00:00+00:00", "now"),
        ("2026-03-09T15:18:00+00:00", "12 min"),
        ("2026-03-09T12:00:00+00:00", "3 h"),
        ("2026-03-09T14:00:00+02:00", "3 h"),
        ("2026-03-09T12:00:00", "3 h"),
        ("2026-03-05T12:00:00+00:00", "4 d"),
        ("2026-01-20T12:00:00+00:00", "6 wk"),
        ("2023-01-20T12:00:00+00:00", "3 y"),
        ("last Tuesday", "?"),
        ("", "?"),
    ],
)
def test_age(moment: str, expected: str) -> None:
    assert age(moment, NOW) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-03-09T10:04:00+00:00", "10:04"),
        ("2026-02-02T10:04:00+01:00", "2 Feb 09:04"),
        ("2024-11-12T10:04:00+00:00", "12 Nov 2024 10:04"),
        ("nonsense", "?"),
    ],
)
def test_moment(moment: str, expected: str) -> None:
    assert moment_of(moment, NOW) == expected


def test_numbers() -> None:
    assert [brief(n) for n in (0, 812, 9_999, 12_345, 999_949, 999_951, 1_234_567)] == [
        "0",
        "812",
        "9,999",
        "12.3k",
        "999.9k",
        "1.0M",
        "1.2M",
    ]
    assert (counted(1, "turn"), counted(1_204, "turn")) == ("1 turn", "1,204 turns")
    assert [lasted(s) for s in (0.004, 0.44, 12.4, 125)] == ["less than 0.1 s", "0.4 s", "12 s", "2 min 5 s"]
