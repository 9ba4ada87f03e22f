"""Text from outside, made safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions.display import LONGEST_RUN_OF_MARKS, displayable, one_line

ANYTHING = st.text(st.characters(exclude_categories=()))
"""Every code point, lone surrogates and unassigned ones too."""

TRICKS = "\t\n\r\x1b\x00\x7f\x85\x9b\xad\u200b\u200c\u200d\u202e\u2066\u2028\ud83d\ufeff\u0301\U000e0041"

TRICKY = st.text(st.sampled_from("ab é漢م👩" + TRICKS))

PLAIN = st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), exclude_characters="\ufffd"))


@given(ANYTHING | TRICKY)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    for character in displayable(text):
        assert character in "\t\n" or unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}


@given(ANYTHING | TRICKY)
def test_no_bidirectional_control_is_left(text: str) -> None:
    left = {unicodedata.bidirectional(character) for character in displayable(text)}
    assert not left & {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(ANYTHING | TRICKY)
@example("\r\r\n")
@example("e\u200d\u200d" + "\u0301" * 40)
def test_twice_is_the_same_as_once(text: str) -> None:
    assert displayable(displayable(text)) == displayable(text)
    flat = displayable(text, keep_newlines=False)
    assert displayable(flat, keep_newlines=False) == flat


@given(ANYTHING | TRICKY)
def test_what_is_shown_can_be_written_as_utf_8(text: str) -> None:
    displayable(text).encode("utf-8")


@given(ANYTHING | TRICKY)
def test_without_newlines_everything_is_on_one_line(text: str) -> None:
    flat = displayable(text, keep_newlines=False)
    assert len(flat.splitlines()) <= 1
    assert "\t" not in flat


@given(PLAIN)
def test_letters_digits_signs_and_spaces_are_untouched(text: str) -> None:
    assert displayable(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "naïve café, Zoë, e\u0301 and n\u0303",
        "مرحبا بالعالم، كيف الحال؟",
        "می\u200cخواهم",
        "שָׁלוֹם עולם",
        "クラウドに保存された会話 和 한국어",
        "क्\u200dष र्\u200dय",
        "👨\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 👍🏽 1️⃣",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "葛\U000e0100",
        "a\tb\n\nc\n",
    ],
)
def test_text_of_any_script_is_untouched(text: str) -> None:
    assert displayable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x1b[2J\x9b31m", "␛[2J�31m"),
        ("a\r\nb\rc\x7f\x00", "a\nb␍c␡␀"),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("pass\u200bword pass\u200dword \ufeffx", "password password x"),
        ("hid\U000e0068\U000e0069den", "hidden"),
        ("\ud83d broken \udc00", "� broken �"),
        ("end of a piece\r", "end of a piece"),
        ("[bold]not markup[/]", "[bold]not markup[/]"),
    ],
)
def test_tricks_are_shown_or_dropped(text: str, shown: str) -> None:
    assert displayable(text) == shown


def test_marks_piled_on_one_letter_are_cut_at_a_reasonable_height() -> None:
    assert displayable("a" + "\u0301" * 10_000) == "a" + "\u0301" * LONGEST_RUN_OF_MARKS


@given(ANYTHING | TRICKY, st.integers(0, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert displayable(line) == line


def test_one_line_says_that_it_was_cut_and_never_cuts_a_letter_from_its_mark() -> None:
    assert one_line("  two\n\n words ", 20) == "two words"
    assert one_line("a title that is too long", 10) == "a title t…"
    assert one_line("cafe\u0301s", 5) == "caf…"
