"""``read_file``: any range of any text file, and a sentence for what is no text."""

from __future__ import annotations

import codecs
from io import BytesIO, FileIO
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.toolbox import ToolRefused
from sessions.workspace import reading
from sessions.workspace.paths import Workspace
from sessions.workspace.reading import LONGEST_LINE, read_file
from sessions.workspace.sizes import size_text
from sessions.workspace.text_files import Lines, nature_of, text_blocks
from sessions.workspace.threads import Stop, WorkStopped

TWO_GB = 2_000_000_000


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path)


def body(text: str) -> list[str]:
    head, _, rest = text.partition("\n\n")
    assert "\n" not in head
    return rest.split("\n")


def test_a_whole_file_stands_under_a_line_that_says_what_it_is(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("one\n\ttwo  \n\nfour\n")
    answer = read_file(workspace, "a.py")
    assert answer.text == "a.py, lines 1-4 of 4, 16 bytes\n\none\n\ttwo  \n\nfour"
    assert answer.summary == "read a.py, lines 1-4 of 4, 16 bytes"
    assert answer.ok


def test_a_range_says_where_to_go_on(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 1_204)))
    answer = read_file(workspace, "a.txt", 200, 3)
    assert (
        answer.text == "a.txt, lines 200-202 of 1,203, 26 bytes (the next line is 203)\n\nline 200\nline 201\nline 202"
    )
    assert read_file(workspace, "a.txt").summary == "read a.txt, lines 1-400 of 1,203, 3.5 KB"
    assert body(read_file(workspace, "a.txt", 1_203, 10).text) == ["line 1203"]
    with pytest.raises(ToolRefused, match=r"a\.txt has 1,203 lines, so it has no line 1,204\."):
        read_file(workspace, "a.txt", 1_204)


def test_empty_files_and_last_lines_without_an_end(workspace: Workspace) -> None:
    (workspace.root / "empty").write_text("")
    (workspace.root / "one").write_text("only")
    (workspace.root / "blank").write_text("\n")
    assert read_file(workspace, "empty").text == "empty is empty."
    assert read_file(workspace, "one").summary == "read one, line 1 of 1, 4 bytes"
    assert read_file(workspace, "blank").summary == "read blank, line 1 of 1, 0 bytes"
    with pytest.raises(ToolRefused, match="has 1 line, so it has no line 2"):
        read_file(workspace, "one", 2)


def test_a_long_answer_ends_early_and_says_so(workspace: Workspace) -> None:
    (workspace.root / "wide").write_text(("x" * 1_000 + "\n") * 500)
    answer = read_file(workspace, "wide")
    assert len(answer.text) < reading.LONGEST_ANSWER + 2_000
    assert "of 500" in answer.summary
    assert "the next line is 52" in answer.text.partition("\n")[0]


def test_a_line_of_a_million_characters_is_cut_with_a_mark(workspace: Workspace) -> None:
    (workspace.root / "min.js").write_text("before\n" + "é" * 1_000_000 + "\nafter\n")
    answer = read_file(workspace, "min.js")
    before, long, after = body(answer.text)
    assert (before, after) == ("before", "after")
    assert long == "é" * LONGEST_LINE + f"… [{1_000_000 - LONGEST_LINE:,} more characters]"
    assert "1 line cut at 2,000 characters" in answer.text.partition("\n")[0]


def test_two_gigabytes_are_read_at_their_start_and_in_a_range(workspace: Workspace) -> None:
    with (workspace.root / "big.log").open("wb") as file:
        file.writelines(b"entry %d\n" % n for n in range(1, 50_001))
        file.truncate(TWO_GB)
    first = read_file(workspace, "big.log", lines=2)
    assert first.text.startswith("big.log, lines 1-2 of more than 2, 15 bytes (the next line is 3)")
    assert body(first.text) == ["entry 1", "entry 2"]
    assert body(read_file(workspace, "big.log", 40_000, 2).text) == ["entry 40000", "entry 40001"]
    # All that follows is one line that does not end.
    last = read_file(workspace, "big.log", 50_000, 5)
    assert body(last.text)[0] == "entry 50000"
    assert "more characters]" in body(last.text)[1]
    assert len(last.text) < 5_000


def test_a_range_beyond_what_is_searched_for_it_is_a_sentence(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_SKIPPED", 1_000)
    (workspace.root / "a.txt").write_text("line\n" * 200_000)
    with pytest.raises(ToolRefused, match="too large to reach line 190,000"):
        read_file(workspace, "a.txt", 190_000)


@pytest.mark.parametrize(
    ("name", "data", "guess"),
    [
        ("p.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 90, "a PNG picture, 98 bytes"),
        ("d.pdf", b"%PDF-1.7\nplain so far", "a PDF document"),
        ("f.zip", b"PK\x03\x04\x14\x00\x00\x00", "a ZIP archive"),
        ("f.mp3", b"\x01\x02\0\0", "perhaps audio/mpeg"),
        ("f.dat", b"abc\0def", "of an unknown kind, 7 bytes"),
        ("big.dat", b"\0", "of an unknown kind, 2.0 GB"),
    ],
)
def test_binary_files_are_refused_with_what_they_may_be(
    workspace: Workspace, name: str, data: bytes, guess: str
) -> None:
    with (workspace.root / name).open("wb") as file:
        file.write(data)
        if name == "big.dat":
            file.truncate(TWO_GB)
    with pytest.raises(ToolRefused) as caught:
        read_file(workspace, name)
    assert str(caught.value).startswith(f"{name} is binary ({guess}")
    assert str(caught.value).endswith("and only text is read.")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (codecs.BOM_UTF8 + "grün\r\n".encode(), "grün"),
        ("grün\n".encode("utf-16"), "grün"),
        (codecs.BOM_UTF16_BE + "grün\n".encode("utf-16-be"), "grün"),
        ("grün 🌊\n".encode("utf-32"), "grün 🌊"),
        (b"gr\xfcn\n", "gr�n"),
        (b"GIF89 is a format of pictures\n", "GIF89 is a format of pictures"),
        (b"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m"),
    ],
)
def test_encodings(workspace: Workspace, data: bytes, line: str) -> None:
    (workspace.root / "t").write_bytes(data)
    answer = read_file(workspace, "t")
    assert body(answer.text) == [line]
    assert ("what is not UTF-8 shows as �" in answer.text) == ("�" in line)


def test_a_stop_ends_the_reading(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("x\n")
    stop = Stop()
    stop.set()
    with pytest.raises(WorkStopped):
        read_file(workspace, "a.txt", stop=stop)


TEXTS = st.text(st.sampled_from("ab\n\n\réÿ🌊"), max_size=80)


@given(TEXTS, st.lists(st.integers(1, 9), max_size=80), st.integers(0, 12))
@settings(deadline=None)
def test_lines_are_those_of_the_whole_text_however_it_is_cut(text: str, cuts: list[int], skipped: int) -> None:
    blocks, at = [], 0
    for cut in [*cuts, len(text)]:
        blocks.append((text[at : at + cut], cut))
        at += cut
    *ended, rest = text.split("\n")
    expected = [line.removesuffix("\r") for line in (*ended, *([rest] if rest else []))]
    lines = Lines(iter(blocks))
    assert lines.skip(skipped, 10_000) == (skipped <= len(expected))
    found = []
    while (line := lines.next(50, 10_000)) is not None:
        found.append(line.text + "…" * line.cut)
    assert found == [line[:50] + "…" * max(0, len(line) - 50) for line in expected[skipped:]]
    assert lines.passed == len(expected)
    assert lines.ended


@given(st.text(max_size=200), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
@settings(deadline=None)
def test_blocks_hold_the_whole_text(text: str, encoding: str) -> None:
    data = text.encode(encoding, "replace")
    file = cast(FileIO, BytesIO(data))
    read = list(text_blocks(file, encoding, "t", Stop()))
    assert "".join(block for block, _ in read) == data.decode(encoding)
    assert sum(size for _, size in read) == len(data)


@given(st.binary(max_size=64))
def test_any_bytes_are_either_text_or_binary(head: bytes) -> None:
    nature = nature_of(head, "name.xyz")
    assert nature.encoding is not None or nature.guess


def test_sizes_are_read_at_a_glance() -> None:
    sizes = {0: "0 bytes", 1: "1 byte", 999: "999 bytes", 8_123: "8.1 KB", 999_960: "1.0 MB", TWO_GB: "2.0 GB"}
    assert {size: size_text(size) for size in sizes} == sizes
    assert size_text(5_000_000_000_000) == "5.0 TB"
