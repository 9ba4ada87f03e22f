"""Looking through one file after the other for lines that hold a pattern, up to limits on all of them together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from sessions.toolbox import ToolRefused
from sessions.workspace.paths import Place, Workspace
from sessions.workspace.patterns import LinePattern, Span
from sessions.workspace.secret_files import likely_secret
from sessions.workspace.sizes import size_text
from sessions.workspace.text_files import HEAD, nature_of, read_block, text_blocks
from sessions.workspace.threads import Stop, check

MOST_HITS = 200
"""Lines in one answer."""

MOST_IN_ONE = 50
"""Lines of one file in one answer, so that one file does not hide the others."""

MOST_BYTES = 400_000_000
"""Read in one search."""

MOST_OF_ONE = 100_000_000
"""Bytes read of one file."""

LONGEST_ANSWER = 50_000
"""Characters."""

LINE_SECONDS = 1.0
"""For one line; a pattern that takes longer is refused."""

BLOCK_SECONDS = 0.2
"""For many lines at once, before they are looked at one by one."""

LONGEST_SEARCHED = 20_000
"""Characters of one line that are searched."""

LONGEST_SHOWN = 300
"""Characters of one line that are shown, around the hit."""


class LimitReached(Exception):
    """The search ends here; the words say why."""


class PatternTooSlow(ToolRefused):
    """The pattern takes too long on a line."""


class FileSearch:
    """Collects what an answer shows."""

    def __init__(
        self, workspace: Workspace, wanted: LinePattern, *, context: int, stop: Stop, out_of_time: Callable[[], bool]
    ) -> None:
        self.lines: list[str] = []
        """Paths, and under each its hits with their numbers."""
        self.remarks: list[str] = []
        self.hits = 0
        self.files = 0
        """Text files that were looked through."""
        self.files_with_hits = 0
        self.bytes = 0
        self.secrets = 0
        """Files left out because of their name."""
        self.unread = 0
        self.stop = stop
        self._workspace = workspace
        self._wanted = wanted
        self._context = context
        self._out_of_time = out_of_time
        self._characters = 0

    def file(self, place: Place) -> None:
        """Look through one file. A binary one is passed over.

        Raises:
            LimitReached: enough has been found or read.
            PatternTooSlow: the pattern takes too long.
            WorkStopped: nobody waits any more.
        """
        self._require_time()
        if likely_secret(place.parts):
            self.secrets += 1
            return
        try:
            with self._workspace.open_file(place) as file:
                encoding = nature_of(read_block(file, HEAD, place.shown), place.shown).encoding
                if encoding is not None:
                    self.files += 1
                    file.seek(0)
                    self._look_through(place, text_blocks(file, encoding, place.shown, self.stop))
        except PatternTooSlow:
            raise
        except ToolRefused:
            self.unread += 1

    def _look_through(self, place: Place, blocks: Iterator[tuple[str, int]]) -> None:
        found = _FileHits(self._context)
        passed = 0
        for lines in _whole_lines(self._within_limits(place, blocks)):
            done = 0
            for index in self._wanted.lines_in("\n".join(lines), len(lines), BLOCK_SECONDS):
                self._require_time()
                self._pass(place, found, passed, lines, done, index)
                done = index + 1
                line = lines[index]
                self._take(place, found, passed + done, line, self._span(place, passed + done, line))
                if found.count >= MOST_IN_ONE:
                    self.remarks.append(f"{place.shown} may have more than {MOST_IN_ONE}")
                    return
            self._pass(place, found, passed, lines, done, len(lines))
            passed += len(lines)

    def _pass(self, place: Place, found: _FileHits, passed: int, lines: list[str], first: int, end: int) -> None:
        """Go over lines without a hit: only those near one matter."""
        for offset in found.wanted_of(end - first):
            index = first + offset
            self._take(place, found, passed + index + 1, lines[index], None)

    def _take(self, place: Place, found: _FileHits, number: int, line: str, span: Span | None) -> None:
        if span is not None:
            self.hits += 1
            if not found.count:
                self.files_with_hits += 1
                self.lines.append(place.shown)
        for shown in found.take(number, line, span):
            self.lines.append(shown)
            self._characters += len(shown)
        if self.hits >= MOST_HITS:
            raise LimitReached(f"stopped after {MOST_HITS} hits; make the pattern, path or glob narrower")
        if self._characters > LONGEST_ANSWER:
            raise LimitReached("stopped since the answer is long; make the pattern, path or glob narrower")

    def _span(self, place: Place, number: int, line: str) -> Span | None:
        try:
            return self._wanted.found_in(line[:LONGEST_SEARCHED], LINE_SECONDS)
        except TimeoutError as error:
            raise PatternTooSlow(
                f"The pattern takes too long (on line {number:,} of {place.shown}). Make it simpler: no repeats inside"
                " of repeats, or set regex to false."
            ) from error

    def _require_time(self) -> None:
        check(self.stop)
        if self._out_of_time():
            raise LimitReached("stopped since it took too long; make the path or glob narrower")

    def _within_limits(self, place: Place, blocks: Iterator[tuple[str, int]]) -> Iterator[str]:
        read = 0
        for block, size in blocks:
            self._require_time()
            if self.bytes > MOST_BYTES:
                raise LimitReached(f"stopped after {size_text(MOST_BYTES)}; make the path or glob narrower")
            if read > MOST_OF_ONE:
                self.remarks.append(f"only the first {size_text(MOST_OF_ONE)} of {place.shown}")
                return
            read += size
            self.bytes += size
            yield block


class _FileHits:
    """What is shown of one file: hits, and the lines around them, each once."""

    def __init__(self, context: int) -> None:
        self.count = 0
        self._context = context
        self._before: deque[tuple[int, str]] = deque(maxlen=context)
        self._owed = 0
        self._last = 0

    def wanted_of(self, count: int) -> list[int]:
        """Which of ``count`` lines without a hit matter: those after the last hit, those before the next."""
        return sorted({*range(min(self._owed, count)), *range(max(0, count - self._context), count)})

    def take(self, number: int, line: str, span: Span | None) -> list[str]:
        """What is to be shown now that this line has come."""
        if span is None:
            if not self._owed:
                self._before.append((number, line))
                return []
            self._owed -= 1
            self._last = number
            return [_shown(number, "-", line)]
        first = self._before[0][0] if self._before else number
        gap = ["  --"] if self._context and self._last and first > self._last + 1 else []
        shown = [*gap, *(_shown(each, "-", text) for each, text in self._before), _shown(number, ":", line, span)]
        self._before.clear()
        self.count += 1
        self._owed, self._last = self._context, number
        return shown


def _whole_lines(blocks: Iterator[str]) -> Iterator[list[str]]:
    """The lines of a text, many at a time. What is too long to be searched is left out of a line."""
    begun = ""
    for block in blocks:
        *whole, begun = (begun + block).replace("\r\n", "\n").split("\n")
        begun = begun[: LONGEST_SEARCHED + 1]
        if whole:
            yield whole
    if begun:
        yield [begun]


def _shown(number: int, mark: str, line: str, span: Span = (0, 0)) -> str:
    """One line of an answer. Of a long one, what stands around the hit."""
    first = max(0, min(span[0] - LONGEST_SHOWN // 3, len(line) - LONGEST_SHOWN))
    part = line[first : first + LONGEST_SHOWN]
    return f"  {number}{mark} {'…' if first else ''}{part}{'…' if first + LONGEST_SHOWN < len(line) else ''}"
