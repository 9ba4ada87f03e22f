"""``read_file``: a range of lines of a text file of any size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sessions.toolbox import ToolAnswer, ToolRefused
from sessions.workspace.paths import Place, Workspace
from sessions.workspace.sizes import counted, size_text
from sessions.workspace.text_files import HEAD, Lines, nature_of, read_block, text_blocks
from sessions.workspace.threads import Stop
from sessions.workspace.tool import WorkspaceTool, function_spec

LINES = 400
"""Lines in one answer when the model does not say."""

MOST_LINES = 2_000

LONGEST_LINE = 2_000
"""Characters of one line; the rest is counted."""

LONGEST_ANSWER = 50_000
"""Characters; an answer ends with the line that passes it."""

MOST_SKIPPED = 4_000_000_000
"""Bytes read in search of the first wanted line."""

MOST_READ = 16_000_000
"""Bytes read for the wanted lines: one line may be the whole file."""

MOST_COUNTED = 64_000_000
"""Bytes read after them in order to say how many lines there are."""

READ_FILE = "read_file"

SPEC = function_spec(
    READ_FILE,
    "Read lines of a text file in the workspace. The first line of the answer says which lines follow and how many"
    f" there are; ask again with a later start for more. At most {MOST_LINES:,} lines and some {LONGEST_ANSWER:,}"
    " characters at once.",
    ("path",),
    path={"type": "string", "description": "The file, relative to the workspace."},
    start={"type": "integer", "minimum": 1, "description": "The first line, counted from 1. Default 1."},
    lines={
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_LINES,
        "description": f"How many lines. Default {LINES}.",
    },
)


def read_file_tool(workspace: Workspace) -> WorkspaceTool:
    return WorkspaceTool(SPEC, partial(_answer, workspace))


def _answer(workspace: Workspace, arguments: Mapping[str, Any], stop: Stop) -> ToolAnswer:
    start, lines = int(arguments.get("start", 1)), int(arguments.get("lines", LINES))
    return read_file(workspace, arguments["path"], start, lines, stop)


def read_file(
    workspace: Workspace, path: str, start: int = 1, lines: int = LINES, stop: Stop | None = None
) -> ToolAnswer:
    """Lines ``start`` to ``start + lines - 1`` of the file under a line that names them. Blocks; run it in a thread.

    Raises:
        ToolRefused: the file cannot be read as text, or has no such lines.
        WorkStopped: ``stop`` was set.
    """
    place = workspace.find(path)
    passage = _passage(workspace, place, start, lines, stop or Stop())
    if passage is None:
        return ToolAnswer(f"{place.shown} is empty.", f"read {place.shown}, which is empty")
    which = f"{place.shown}, {passage.lines_text}, {size_text(len(passage.text.encode()))}"
    return ToolAnswer(f"{which}{passage.remarks}\n\n{passage.text}", f"read {which}")


@dataclass(frozen=True, slots=True)
class _Passage:
    text: str
    first: int
    last: int
    total: int | None
    """None where the file is too large for counting its lines."""
    cut: int
    """Lines that are not shown whole."""
    replaced: bool

    @property
    def lines_text(self) -> str:
        of = f"{self.total:,}" if self.total is not None else f"more than {self.last:,}"
        if self.first == self.last:
            return f"line {self.first:,} of {of}"
        return f"lines {self.first:,}-{self.last:,} of {of}"

    @property
    def remarks(self) -> str:
        remarks = []
        if self.total is None or self.last < self.total:
            remarks.append(f"the next line is {self.last + 1}")
        if self.cut:
            remarks.append(f"{counted(self.cut, 'line')} cut at {LONGEST_LINE:,} characters")
        if self.replaced:
            remarks.append("what is not UTF-8 shows as �")
        return f" ({'; '.join(remarks)})" if remarks else ""


def _passage(workspace: Workspace, place: Place, start: int, lines: int, stop: Stop) -> _Passage | None:
    """The wanted lines; None where the file is empty."""
    name = place.shown
    with workspace.open_file(place) as file:
        head = read_block(file, HEAD, name)
        if not head:
            return None
        nature = nature_of(head, name)
        if nature.encoding is None:
            size = size_text(file.seek(0, 2))
            raise ToolRefused(f"{name} is binary ({nature.guess}, {size}), and only text is read.")
        file.seek(0)
        text = Lines(text_blocks(file, nature.encoding, name, stop))
        if not text.skip(start - 1, MOST_SKIPPED) and not text.ended:
            raise ToolRefused(f"{name} is too large to reach line {start:,}; the line is not in its first 4 GB.")
        shown, cut = _shown_lines(text, min(lines, MOST_LINES))
        if not shown:
            raise ToolRefused(f"{name} has {counted(text.passed, 'line')}, so it has no line {start:,}.")
        last = text.passed
        if not text.torn:
            text.skip(1 << 62, text.read + MOST_COUNTED)
        total = text.passed if text.ended and not text.torn else None
    body = "\n".join(shown)
    return _Passage(body, start, last, total, cut, nature.encoding == "utf-8" and "�" in body)


def _shown_lines(text: Lines, count: int) -> tuple[list[str], int]:
    """Up to ``count`` lines as an answer shows them, and how many of them are cut."""
    shown: list[str] = []
    cut = size = 0
    most = text.read + MOST_READ
    while len(shown) < count and size <= LONGEST_ANSWER and not text.torn:
        line = text.next(LONGEST_LINE, most)
        if line is None:
            break
        if line.cut:
            cut += 1
        shown.append(f"{line.text}… [{line.cut:,} more characters]" if line.cut else line.text)
        size += len(shown[-1])
    return shown, cut
