"""Telling text from binary files, and reading text of any size in blocks, with lines of any length."""

from __future__ import annotations

import codecs
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO

from sessions.workspace.paths import refusal
from sessions.workspace.threads import Stop, check

BLOCK = 256 * 1024
"""Bytes read at once."""

HEAD = 8 * 1024
"""Bytes by which a file is judged."""

_MARKS = (
    # UTF-32's little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_SIGNATURES = (
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\xca\xfe\xba\xbe", "a program or a Java class"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"OggS", "a sound or a video"),
    (b"ID3", "a sound"),
)


@dataclass(frozen=True, slots=True)
class Nature:
    """What a file's first bytes say of it."""

    encoding: str | None
    """None for a binary file."""
    guess: str = ""
    """Of a binary file: what it may be, such as ``a PNG picture``."""


def nature_of(head: bytes, name: str) -> Nature:
    """Text, and in which encoding, or binary, by the first ``HEAD`` bytes. Text without a mark counts as UTF-8."""
    for signature, guess in _SIGNATURES:
        if head.startswith(signature) and not _plain(head):
            return Nature(None, guess)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return Nature(encoding)
    if b"\0" not in head:
        return Nature("utf-8")
    kind, _ = mimetypes.guess_type(name)
    return Nature(None, f"perhaps {kind}" if kind else "of an unknown kind")


def text_blocks(file: FileIO, encoding: str, name: str, stop: Stop) -> Iterator[tuple[str, int]]:
    """The rest of ``file`` as text, block by block, and how many bytes each took. What does not decode is replaced.

    Raises:
        ToolRefused: it cannot be read on.
        WorkStopped: nobody waits any more.
    """
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    while True:
        check(stop)
        data = read_block(file, BLOCK, name)
        text = decoder.decode(data, final=not data)
        if text or data:
            yield text, len(data)
        if not data:
            return


def read_block(file: FileIO, size: int, name: str) -> bytes:
    """Up to ``size`` bytes; empty at the end of the file. Raises ``ToolRefused``."""
    try:
        return file.read(size) or b""
    except OSError as error:
        raise refusal(name, error) from error


def _plain(head: bytes) -> bool:
    """Whether it reads as ASCII text after all: a note may begin with ``GIF8`` or ``ID3``."""
    return not head.startswith(b"%PDF-") and not head.translate(None, _ASCII_TEXT)


_ASCII_TEXT = bytes((*b"\t\n\r", *range(0x20, 0x7F)))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text, without its end."""

    text: str
    """Its beginning, where it is longer than was asked for."""
    length: int
    """Characters of the whole line, or at least so many where it was not read to its end."""

    @property
    def cut(self) -> int:
        return self.length - len(self.text)


class Lines:
    """The lines of a text that comes in blocks, one after the other, holding no more than a block and a line."""

    def __init__(self, blocks: Iterator[tuple[str, int]]) -> None:
        """``blocks`` are pieces of the text, each with the bytes that it took."""
        self._blocks = blocks
        self._block = ""
        self._at = 0
        self._begun = False
        self.passed = 0
        """Lines that lie behind."""
        self.read = 0
        """Bytes read so far."""
        self.ended = False
        """Whether the whole text lies behind."""
        self.torn = False
        """Whether a line was left before its end: nothing can be counted after that."""

    def skip(self, count: int, most: int) -> bool:
        """Leave ``count`` lines behind. False where the text ends before, or once ``most`` bytes have been read."""
        target = self.passed + count
        while self.passed < target and self._fill():
            there = self._block.count("\n", self._at)
            if self.passed + there >= target:
                for _ in range(target - self.passed):
                    self._at = self._block.index("\n", self._at) + 1
                self.passed, self._begun = target, False
                return True
            self.passed += there
            self._begun = not self._block.endswith("\n")
            self._at = len(self._block)
            if self.read > most:
                return False
        if self._begun:
            self.passed, self._begun = self.passed + 1, False
        return self.passed >= target

    def next(self, longest: int, most: int) -> Line | None:
        """The next line, at most ``longest`` characters of it; None at the end.

        A line at which more than ``most`` bytes have been read is not read to its end.
        """
        pieces: list[str] = []
        held = length = 0
        begun = False
        while self._fill():
            begun = True
            end = self._block.find("\n", self._at)
            until = len(self._block) if end < 0 else end
            piece = self._block[self._at : min(until, self._at + longest - held)]
            pieces.append(piece)
            held += len(piece)
            length += until - self._at
            self._at = until if end < 0 else until + 1
            if end >= 0:
                break
            if self.read > most:
                self.torn = True
                break
        if not begun:
            return None
        self.passed += 1
        text = "".join(pieces)
        if held == length and text.endswith("\r"):
            return Line(text[:-1], length - 1)
        return Line(text, length)

    def _fill(self) -> bool:
        """Whether there is more of the text."""
        while self._at >= len(self._block):
            block = next(self._blocks, None)
            if block is None:
                self.ended = True
                return False
            self._block, size = block
            self._at = 0
            self.read += size
        return True
