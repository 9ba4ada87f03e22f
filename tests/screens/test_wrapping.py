"""Lines that fit, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from screens.wrapping import shortened, wrapped
from sessions.display import displayable

TEXTS = st.text(alphabet=st.sampled_from("ab cd\n\t語ทำé😀\u0301‍-"), max_size=200) | st.text(max_size=200)


@given(TEXTS.map(displayable), st.integers(2, 40))
def test_every_line_fits_and_no_word_is_lost(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(TEXTS.map(displayable), st.integers(0, 40))
def test_a_shortened_line_fits_and_says_that_it_was_cut(text: str, width: int) -> None:
    line = text.replace("\n", " ").replace("\t", " ")
    short = shortened(line, width)
    assert cell_len(short) <= width
    assert short == line or not width or short.endswith("…")


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("one two three", 8, ["one two", "three"]),
        ("one two", 7, ["one two"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a\n\nb", 4, ["a", "", "b"]),
        ("    indented text", 12, ["    indented", "text"]),
        ("漢字かな", 4, ["漢字", "かな"]),
    ],
)
def test_lines_break_between_words_where_they_can(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines
