"""Cuts a reply into pieces while it streams, so that drawing one more token never costs more than a piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

PROSE_ENOUGH = 2_000
"""Characters after which a piece of prose ends at the next blank line."""
PROSE_MOST = 6_000
"""Characters after which it ends at the next line."""
PIECE_MOST = 12_000
"""Characters after which any piece ends where it stands."""
CODE_LINES = 80
"""Lines after which a piece of an open fence ends."""

_FENCE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_MAYBE_FENCE = re.compile(r"[ \t]*(?:`{1,2}|~{1,2}|(?:`{3,}|~{3,}).*)?\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to draw: ``prose`` is Markdown, ``code`` is plain text, ``closed`` is a whole fence as Markdown."""

    kind: Literal["prose", "code", "closed"]
    text: str
    fresh: bool
    """True: begin a new block. False: this goes on the end of the last one."""


class PieceCutter:
    """Takes a reply bit by bit. What an open fence holds comes at once; a line that may open one is held back."""

    def __init__(self) -> None:
        self._held = ""
        self._size = 0
        self._lines = 0
        self._kind: Literal["prose", "code"] = "prose"
        self._fresh = True
        self._fence = ""
        self._fence_parts: list[str] = []
        self._line_begins = True

    def feed(self, text: str) -> list[Piece]:
        """Pieces to draw now, neighbours of one kind joined."""
        lines = (self._held + text).splitlines(keepends=True)
        self._held = ""
        return _joined(piece for line in lines for piece in self._take(line))

    def end(self) -> list[Piece]:
        """The reply is over: what was held back, and an open fence as if it were closed."""
        held, self._held = self._held, ""
        found = []
        if self._kind == "code":
            self._fence_parts.append(held)
            found.append(Piece("closed", "".join(self._fence_parts), fresh=True))
        elif held:
            found.append(self._piece("prose", held))
        return found

    def _take(self, line: str) -> Iterator[Piece]:
        whole = line.endswith("\n")
        if self._line_begins and not whole and _MAYBE_FENCE.match(line):
            self._held = line
            return
        begins, self._line_begins = self._line_begins, whole
        fence = _FENCE.match(line) if begins and whole else None
        if self._kind == "code":
            yield from self._take_code(line, fence)
        elif fence is not None and "`" not in fence["info"]:
            self._open(fence["marks"], line)
        else:
            yield from self._take_prose(line)

    def _open(self, marks: str, line: str) -> None:
        self._kind, self._fence = "code", marks
        self._fence_parts = [line]
        self._begin()

    def _take_code(self, line: str, fence: re.Match[str] | None) -> Iterator[Piece]:
        self._fence_parts.append(line)
        if fence is not None and fence["marks"].startswith(self._fence) and not fence["info"].strip():
            yield Piece("closed", "".join(self._fence_parts), fresh=True)
            self._kind, self._fence_parts = "prose", []
            self._begin()
            return
        for part in _within(line, PIECE_MOST):
            if self._lines >= CODE_LINES or self._size + len(part) > PIECE_MOST:
                self._begin()
            yield self._piece("code", part)

    def _take_prose(self, line: str) -> Iterator[Piece]:
        for part in _within(line, PIECE_MOST):
            if self._size + len(part) > PIECE_MOST:
                self._begin()
            yield self._piece("prose", part)
        ended = line.endswith("\n")
        if ended and (self._size > PROSE_MOST or (self._size > PROSE_ENOUGH and not line.strip())):
            self._begin()

    def _begin(self) -> None:
        self._fresh, self._size, self._lines = True, 0, 0

    def _piece(self, kind: Literal["prose", "code"], text: str) -> Piece:
        fresh, self._fresh = self._fresh, False
        self._size += len(text)
        self._lines += text.count("\n")
        return Piece(kind, text, fresh)


def split_reply(text: str) -> list[str]:
    """A finished reply as pieces of Markdown of a bounded size, a fence in one piece; joined they are ``text``."""
    cutter = PieceCutter()
    runs: list[list[str]] = []
    for piece in [*cutter.feed(text), *cutter.end()]:
        if piece.kind == "code":
            continue
        if piece.fresh or not runs:
            runs.append([])
        runs[-1].append(piece.text)
    return ["".join(run) for run in runs]


def _within(text: str, most: int) -> Iterator[str]:
    for start in range(0, len(text), most):
        yield text[start : start + most]


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """A piece that is no fresh start becomes one with the piece before it."""
    runs: list[list[Piece]] = []
    for piece in pieces:
        if runs and not piece.fresh and runs[-1][0].kind == piece.kind:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [Piece(run[0].kind, "".join(piece.text for piece in run), run[0].fresh) for run in runs]
