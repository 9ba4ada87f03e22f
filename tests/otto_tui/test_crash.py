"""No key gets into a file that a person may send to somebody."""

from __future__ import annotations

import pytest

from otto_tui.crash import without_keys


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GITHUB_TOKEN", "MY_SECRET", "DB_PASSWORD", "openai_api_key"])
def test_what_the_environment_calls_a_secret(name: str) -> None:
    assert without_keys("a correct-horse b", {name: "correct-horse"}) == "a [hidden] b"


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert without_keys("abcdefgh", {"A_KEY": "abcdef", "B_KEY": "abcdefgh"}) == "[hidden]"


def test_a_word_that_is_too_short_to_be_a_secret_stays() -> None:
    assert without_keys("yes, yes", {"USE_KEY": "yes"}) == "yes, yes"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("key sk-proj-abcdefghijklmn0123 end", "key [hidden] end"),
        ("AIzaSyA1234567890abcdefg", "[hidden]"),
        ("{'Authorization': 'Bearer abc.def'}", "{'[hidden]'}"),
        ("{'x-api-key': 'abc'}", "{'[hidden]'}"),
        ("http://nell:hunter2@host/v1", "http://[hidden]@host/v1"),
        ("?api_key=abc&x=1", "?[hidden]&x=1"),
        ("the task of the day", "the task of the day"),
    ],
)
def test_what_looks_like_a_secret(text: str, kept: str) -> None:
    assert without_keys(text, {}) == kept
