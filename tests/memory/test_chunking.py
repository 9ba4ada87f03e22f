"""Chunks partition their text, keep to their size, and end where people pause."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import chunking
from memory.chunking import CHUNK_TOKENS, split
from memory.tokens import count_tokens, prefix_length

prose = st.lists(
    st.sampled_from(["word", "深圳", " ", "\n", "\n\n", ". ", "。", "x" * 40, "é", "👩‍👧", "\t", "\r\n", "١٢٣", "?!"])
).map("".join)
any_text = st.one_of(prose, st.text(), st.text(st.characters()))


@settings(deadline=None)
@given(any_text, st.integers(1, 30))
def test_pieces_are_a_partition_within_their_size(text: str, most: int) -> None:
    pieces = split(text, most)
    assert "".join(text[start:end] for start, end, _ in pieces) == text
    position = 0
    for start, end, tokens in pieces:
        assert start == position < end
        assert tokens == count_tokens(text[start:end])
        assert tokens <= most or end - start == 1
        position = end
    assert position == len(text)
    assert pieces == split(text, most)


def test_an_empty_text_has_no_pieces() -> None:
    assert split("") == []


def test_a_short_text_is_one_piece() -> None:
    text = "First line.\n\nSecond paragraph."
    assert split(text) == [(0, len(text), count_tokens(text))]


def texts(text: str, most: int) -> list[str]:
    return [text[start:end] for start, end, _ in split(text, most)]


def test_paragraphs_are_preferred_to_lines_to_sentences_to_words() -> None:
    assert texts("One two three. Four five six.\n\nSeven eight. Nine ten.", 12) == [
        "One two three. Four five six.\n\n",
        "Seven eight. Nine ten.",
    ]
    assert texts("alpha beta. gamma\ndelta epsilon zeta eta theta", 8)[0] == "alpha beta. gamma\n"
    assert texts("One two three four. Five six seven eight nine ten", 8)[0] == "One two three four. "
    assert texts("one two three four five six seven eight", 6)[0] == "one two three four five "
    assert texts("我们去爬山。天气很好。明天再说", 12)[0].endswith("。")


def test_a_word_longer_than_a_piece_is_cut_where_the_piece_is_full() -> None:
    pieces = split("short " + "Zq7" * 2000 + " end")
    assert len(pieces) > 10
    assert all(tokens <= CHUNK_TOKENS for _, _, tokens in pieces)
    assert sum(tokens > CHUNK_TOKENS * 0.8 for _, _, tokens in pieces) >= len(pieces) - 3


def test_a_hard_cut_keeps_marks_with_their_letter() -> None:
    text = "e\u0301" * 500
    assert all(not text[start:end].startswith("\u0301") for start, end, _ in split(text, 10))


@pytest.mark.parametrize(
    "unit",
    ["The quick brown fox jumps over the dog. ", "a", " ", "\n", "深圳天气很好，去爬山。", "👩‍👩‍👧‍👦", "a ", "\ud800"],
)
def test_the_work_grows_linearly_with_the_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = [0]

    def counted(text: str) -> int:
        looked_at[0] += len(text)
        return count_tokens(text)

    def prefix(text: str, most: int) -> int:
        looked_at[0] += len(text)
        return prefix_length(text, most)

    monkeypatch.setattr(chunking, "count_tokens", counted)
    monkeypatch.setattr(chunking, "prefix_length", prefix)
    text = unit * (200_000 // len(unit))
    assert split(text)[-1][1] == len(text)
    # Each character is looked at a few times, however long the text is.
    assert looked_at[0] < 30 * len(text)


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split("x", 0)
