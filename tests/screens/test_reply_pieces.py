"""Pieces of a streaming reply: nothing is lost, nothing grows without bound, fences come as plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.reply_pieces import CODE_LINES, PIECE_MOST, Piece, PieceCutter, split_reply

markdown = st.lists(
    st.sampled_from(["word ", "\n", "\n\n", "```", "~~~", "`", "py", "  ", "- x\n", "| a | b |\n", "é", "x" * 50]),
    max_size=60,
).map("".join)


def cut(text: str, *sizes: int) -> list[Piece]:
    cutter, found, at = PieceCutter(), [], 0
    for size in sizes:
        found += cutter.feed(text[at : at + size])
        at += size
    return found + cutter.feed(text[at:])


def shown(pieces: list[Piece]) -> str:
    """What stands on the screen after the pieces: a whole fence takes the place of its parts."""
    blocks: list[tuple[str, str]] = []
    for piece in pieces:
        if piece.kind == "closed":
            while blocks and blocks[-1][0] == "code":
                blocks.pop()
            blocks.append(("closed", piece.text))
        elif piece.fresh or not blocks or blocks[-1][0] != piece.kind:
            blocks.append((piece.kind, piece.text))
        else:
            blocks[-1] = (piece.kind, blocks[-1][1] + piece.text)
    return "".join(text for _, text in blocks)


@given(markdown, st.lists(st.integers(1, 9), max_size=30))
def test_how_a_reply_is_split_on_the_way_does_not_change_what_shows(text: str, sizes: list[int]) -> None:
    assert shown(cut(text + "\n", *sizes)) == shown(cut(text + "\n"))


@given(markdown)
def test_prose_without_fences_comes_whole(text: str) -> None:
    plain = text.replace("`", "").replace("~", "") + "\nend\n"
    assert shown(cut(plain)) == plain


def test_what_an_open_fence_holds_comes_at_once_without_its_marks() -> None:
    pieces = cut("Look:\n```python\nx = 1\ny", 4, 8, 4)
    assert "".join(piece.text for piece in pieces if piece.kind == "code") == "x = 1\ny"
    assert "".join(piece.text for piece in pieces if piece.kind == "prose") == "Look:\n"


def test_a_closed_fence_comes_again_as_markdown() -> None:
    closed = [piece for piece in cut("```python\nx = 1\n```\nafter\n") if piece.kind == "closed"]
    assert [piece.text for piece in closed] == ["```python\nx = 1\n```\n"]


def test_a_shorter_or_other_fence_inside_does_not_close() -> None:
    pieces = cut("````\n```\n~~~~\nstill code\n````\n")
    assert [piece.text for piece in pieces if piece.kind == "closed"] == ["````\n```\n~~~~\nstill code\n````\n"]


def test_inline_code_at_the_start_of_a_line_is_not_held_back_for_long() -> None:
    assert shown(cut("`x` is")) == "`x` is"
    assert shown(cut("``` x")) == ""


@pytest.mark.parametrize("unit", ["word ", "x", "a line\n", "para\n\n", "- item\n"])
def test_no_piece_of_prose_grows_beyond_its_bound(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    sizes: list[int] = []
    for piece in cut(text, *([997] * 200)):
        if piece.fresh:
            sizes.append(0)
        sizes[-1] += len(piece.text)
    assert max(sizes) <= PIECE_MOST


def test_no_piece_of_code_has_more_than_its_lines() -> None:
    lines: list[int] = []
    for piece in cut("```\n" + "code\n" * 3_000, *([501] * 40)):
        if piece.fresh:
            lines.append(0)
        lines[-1] += piece.text.count("\n")
    assert max(lines) <= CODE_LINES
    assert sum(lines) == 3_000


@given(markdown)
def test_a_finished_reply_is_split_without_losing_a_character(text: str) -> None:
    assert "".join(split_reply(text)) == text


def test_a_finished_reply_is_split_into_bounded_pieces() -> None:
    pieces = split_reply("A sentence.\n\n" * 5_000 + "```\n" + "code\n" * 100 + "```\n")
    assert max(map(len, pieces)) <= PIECE_MOST
    assert pieces[-1].startswith("```")
