"""Token counts are those of cl100k_base, need no network and survive any text."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import tokens
from memory.tokens import count_tokens, exact, prefix_length


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        ("<|endoftext|>", 7),
    ],
)
def test_counts_are_those_of_the_published_encoding(text: str, count: int) -> None:
    assert exact()
    assert count_tokens(text) == count


def test_counting_imports_no_litellm_and_opens_no_connection() -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise SystemExit('a connection was opened')\n"
        "socket.socket.connect = refuse\n"
        "from memory.tokens import count_tokens\n"
        "print(count_tokens('hello world'), 'litellm' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "False"]


def test_without_the_table_a_token_is_four_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_encoding", lambda: None)
    assert not exact()
    assert count_tokens("x" * 403) == 100
    assert prefix_length("x" * 403, 10) == 40


@pytest.mark.parametrize("unit", ["a", " ", "\n", "é\u0301", "深", "👩‍👩‍👧‍👦", "\ud800", "\x00", "{[", "0"])
def test_megabytes_of_one_thing_are_counted(unit: str) -> None:
    text = unit * (2_000_000 // len(unit))
    assert 0 < count_tokens(text) <= 4 * len(text)


@given(st.text(), st.integers(0, 40))
def test_a_prefix_fits_its_tokens(text: str, most: int) -> None:
    length = prefix_length(text, most)
    assert count_tokens(text[:length]) <= most
    if count_tokens(text) <= most:
        assert length == len(text)
