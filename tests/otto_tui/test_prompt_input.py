"""What is sent: typed, piped, or both."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Callable

import pytest

from memory.errors import OttoError
from otto_tui.prompt_input import LARGEST_PIPE, TypedLines, one_shot_prompt


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("typed", "piped", "sent"),
    [
        (["review", "this"], b"diff\n", "review this\n\ndiff"),
        (["review this"], b"", "review this"),
        ([], b"diff\r\nmore\n\n", "diff\r\nmore"),
        (["-"], b"diff", "diff"),
        (["a\udcffb"], b"", "a\ufffdb"),
        ([], b"a\0b", "a\0b"),
        (["  "], b"diff", "diff"),
    ],
)
def test_what_was_typed_comes_before_what_was_piped(
    monkeypatch: pytest.MonkeyPatch, typed: list[str], piped: bytes, sent: str
) -> None:
    pipe(monkeypatch, piped)
    assert one_shot_prompt(typed) == (sent, None)


def test_what_is_no_text_is_replaced_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"a\xffb")
    assert one_shot_prompt([]) == ("a\ufffdb", "Standard input is not all UTF-8 text; what is not was replaced.")


@pytest.mark.parametrize("piped", [b"", b"\n \n"])
def test_nothing_to_send(monkeypatch: pytest.MonkeyPatch, piped: bytes) -> None:
    pipe(monkeypatch, piped)
    with pytest.raises(OttoError, match="There is nothing to send"):
        one_shot_prompt([])


def test_a_pipe_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"x" * (LARGEST_PIPE + 1))
    with pytest.raises(OttoError, match="larger than 64 MB"):
        one_shot_prompt([])


def test_a_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert one_shot_prompt(["hi"]) == ("hi", None)


def test_a_terminal_is_not_read_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, terminal = os.openpty()
    try:
        with os.fdopen(terminal, encoding="utf-8") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert one_shot_prompt(["hi"]) == ("hi", None)
            assert one_shot_prompt([]) == (None, None)
    finally:
        os.close(controller)


async def typed(*pieces: bytes) -> list[str]:
    """Every prompt that these pieces of input make."""
    reader, writer = os.pipe()
    try:
        with TypedLines(reader) as lines:
            for piece in pieces:
                os.write(writer, piece)
            os.close(writer)
            prompts = []
            while (prompt := await lines.next()) is not None:
                prompts.append(prompt)
            return prompts
    finally:
        os.close(reader)


async def test_a_line_is_a_prompt() -> None:
    assert await typed(b"one\ntwo\r\n\nthree") == ["one", "two", "", "three"]


async def test_a_backslash_goes_on_in_the_next_line() -> None:
    assert await typed(b"one\\\ntwo\\\nthree\nfour\n") == ["one\ntwo\nthree", "four"]
    assert await typed(b"one\\") == ["one"]
    assert await typed(b"\\") == []


async def test_characters_that_arrive_in_halves() -> None:
    assert await typed("日".encode()[:1], "日".encode()[1:] + b"\n") == ["日"]
    assert await typed(b"\xff\n") == ["\ufffd"]


async def test_an_answer_is_what_is_typed_after_the_question() -> None:
    reader, writer = os.pipe()
    try:
        with TypedLines(reader) as lines:
            os.write(writer, b"typed ahead\n")
            assert await lines.next() == "typed ahead"
            os.write(writer, b"also ahead\n")
            while lines._lines.empty():
                await asyncio.sleep(0)
            asking = asyncio.create_task(lines.answer())
            await asyncio.sleep(0)
            os.write(writer, b"y\nnext prompt\n")
            assert await asking == "y"
            assert [await lines.next(), await lines.next()] == ["also ahead", "next prompt"]
            asking = asyncio.create_task(lines.answer())
            await asyncio.sleep(0)
            os.close(writer)
            assert await asking is None
            assert await lines.next() is None
    finally:
        os.close(reader)


def test_a_pipe_that_stays_silent_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    monkeypatch.setattr("otto_tui.prompt_input.PATIENCE", 0.01)
    monkeypatch.setattr("otto_tui.prompt_input.say_aside", _then_close(writer))
    with os.fdopen(reader, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert one_shot_prompt(["hi"]) == ("hi", None)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.close(writer)


def _then_close(writer: int) -> Callable[[str], None]:
    def say(text: str) -> None:
        assert "Waiting for the end of what is piped in" in text
        os.close(writer)

    return say
