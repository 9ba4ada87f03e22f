"""What is kept of a command's output, and how it is made readable."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.commands.output import CappedOutput, readable
from sessions.commands.shell import Ran
from sessions.commands.telling import summary_of, told


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\n\ttab \xc3\xbc\n", "plain\n\ttab ü\n"),
        (b"\x1b[1;31mred\x1b[0m \x1b[38:5:9mx\x1b[?25l\x1b[2J\x1b[10;10Hy", "red xy"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        (b"\x1b]52;c;ZXZpbA==\x07x", "x"),
        (b"\x1bP1$r\x1b\\\x1b_app\x1b\\\x1b(B\x1b=\x1bM\x1b7z", "z"),
        (b"\x1b]never ends\nnext line", "\nnext line"),
        (b"\x1b[31", ""),
        (b"end\x1b", "end"),
        (b"\xc2\x9b31mred\xc2\x9d0;t\xc2\x9cx", "redx"),
        (b"10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        (b"\rx\r", "x"),
        (b"b\x08bo\x08ol\x08ld _\x08u", "bold u"),
        (b"bell\x07 nul\x00 del\x7f\x0b", "bell␇ nul␀ del␡␋"),
        (b"\xff\xfe latin gr\xfcn", "�� latin gr�n"),
        (b"", ""),
        (b"\x89PNG\r\n\0\0\0\0", "[binary output, 10 bytes, not shown]"),
        (bytes(range(128, 256)), "[binary output, 128 bytes, not shown]"),
    ],
)
def test_output_is_made_readable(data: bytes, text: str) -> None:
    assert readable(data) == text


@given(st.binary(max_size=300))
def test_no_output_commands_a_terminal(data: bytes) -> None:
    text = readable(data)
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text) is None
    text.encode()


@given(st.lists(st.text("ab\x1b[]m;0\r\x07\n"), max_size=5))
def test_making_output_readable_twice_changes_nothing(pieces: list[str]) -> None:
    once = readable("".join(pieces).encode())
    assert readable(once.encode()) == once


@given(st.lists(st.binary(max_size=60), max_size=30), st.integers(0, 50))
def test_both_ends_are_kept_and_the_rest_is_counted(pieces: list[bytes], cap: int) -> None:
    whole = b"".join(piece.replace(b"\0", b"0") for piece in pieces)
    output = CappedOutput(cap)
    for piece in pieces:
        output.add(piece.replace(b"\0", b"0"))
    assert output.size == len(whole)
    assert output.left_out == max(0, len(whole) - cap)
    if not output.left_out:
        assert output.text() == readable(whole)
    else:
        assert output.text() == readable(whole) or "left out here" in output.text() or "binary output" in output.text()


def test_a_cut_output_says_how_much_is_missing_where() -> None:
    output = CappedOutput(20)
    for n in range(100):
        output.add(b"line %02d\n" % n)
    assert output.text() == "line 00\nli\n[780 bytes left out here: the output is 800 bytes long]\n8\nline 99\n"


def test_a_cut_in_the_middle_of_a_letter_is_no_failure() -> None:
    output = CappedOutput(7)
    output.add("üüüüüüü".encode())
    assert output.text().splitlines()[0] == "üü"
    assert "left out here" in output.text()


def ran(output: str, **changed: object) -> Ran:
    facts = {"size": len(output), "ending": "exited", "exit": 0, "seconds": 3.21, "lingers": False, **changed}
    return Ran(output=output, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcome", "text", "summary"),
    [
        (ran("fine\n"), "fine", "exit 0, 3.2 s, 5 bytes"),
        (ran(""), "[no output]", "exit 0, 3.2 s, 0 bytes"),
        (ran("bad\n", exit=2), "bad\n[exit 2]", "exit 2, 3.2 s, 4 bytes"),
        (ran("", exit=2), "[no output; exit 2]", "exit 2, 3.2 s, 0 bytes"),
        (ran("", exit=-9), "[no output; ended by signal 9]", "ended by signal 9, 3.2 s, 0 bytes"),
        (ran("x", ending="timeout", exit=-15), "x\n[stopped after 120 s]", "stopped after 120 s, 3.2 s, 1 byte"),
        (ran("x", ending="stopped", exit=-15), "x\n[stopped by the person]", "stopped, 3.2 s, 1 byte"),
        (
            ran("x", lingers=True),
            "x\n[something that it started still runs; what that prints is not kept]",
            "exit 0, 3.2 s, 1 byte",
        ),
        (
            ran("", ending="timeout", exit=None),
            "[no output; stopped after 120 s; it could not be ended]",
            "stopped after 120 s, 3.2 s, 0 bytes",
        ),
    ],
)
def test_what_became_of_a_command_in_words(outcome: Ran, text: str, summary: str) -> None:
    assert told(outcome, 120) == text
    assert summary_of("make  \n test", outcome, 120) == f'ran "make test", {summary}'
