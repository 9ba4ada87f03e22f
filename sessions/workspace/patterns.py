"""Patterns that a model writes, matched within limits: none may hold up the program, whatever it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any

from sessions.toolbox import ToolRefused
from sessions.workspace.ignoring import SECONDS, rules_of

Span = tuple[int, int]
"""Of a hit in its line: where it begins, and where what follows begins."""

LONGEST_PATTERN = 1_000
"""Characters."""

MOST_REPEATS = 20_000
"""What counted repeats like ``{8}`` may come to: each makes the pattern larger in memory."""

MOST_BRACKETS = 100
"""Levels at most, since each is a call of the library inside itself."""

MOST_SLOW = 3
"""How often looking at many lines at once may take too long before each is looked at by itself."""

MOST_STARS = 12
"""Wildcards in a glob."""

# Of these, a text of several lines may match otherwise than its lines one by one.
_LOOKS_AROUND = re.compile(r"\(\?[^:]|\(\*|\\[AZzGRXK]|[*+?}]\+")

_COUNTS = re.compile(r"(\)?)\{(\d*),?(\d*)\}")


class LinePattern:
    """A pattern that is looked for line by line, with a limit of time for each."""

    def __init__(self, pattern: str, *, literal: bool, ignore_case: bool) -> None:
        """Raises ``ToolRefused`` for a pattern that is not one or is too large."""
        import regex

        if not pattern:
            raise ToolRefused("The pattern is empty, and would be found everywhere.")
        if len(pattern) > LONGEST_PATTERN:
            raise ToolRefused(f"The pattern is longer than {LONGEST_PATTERN:,} characters; make it shorter.")
        if not literal:
            _require_small(pattern)
        flags = regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
        try:
            self._compiled: Any = regex.compile(regex.escape(pattern) if literal else pattern, flags)
        except (regex.error, RecursionError, MemoryError, OverflowError) as error:
            raise ToolRefused(
                f"The pattern is not a regular expression ({error}). To look for it as it stands, set regex to false."
            ) from error
        self._slow = 0 if literal or _LOOKS_AROUND.search(pattern) is None else MOST_SLOW
        """How often many lines at once took too long."""

    def lines_in(self, text: str, count: int, seconds: float) -> Iterator[int]:
        """Which of the ``count`` lines of ``text``, from 0, may hold the pattern: perhaps too many, never too few.

        One question finds the next of them, however far away it is. ``seconds`` are for each question; where they are
        not enough, every line that is left is named.
        """
        line = -1
        if self._slow < MOST_SLOW:
            try:
                yield from (line := found for found in self._candidates(text, seconds))
                return
            except TimeoutError:
                # Many lines may take long where each of them does not.
                self._slow += 1
        yield from range(line + 1, count)

    def _candidates(self, text: str, seconds: float) -> Iterator[int]:
        line = at = counted = 0
        while (found := self._compiled.search(text, pos=at, timeout=seconds, concurrent=True)) is not None:
            line += text.count("\n", counted, found.start())
            counted = found.start()
            yield line
            end = text.find("\n", counted)
            if end < 0:
                return
            at = end + 1

    def found_in(self, line: str, seconds: float) -> Span | None:
        """Where ``line`` holds the pattern. Raises ``TimeoutError``."""
        found = self._compiled.search(line, timeout=seconds, concurrent=True)
        return None if found is None else (found.start(), found.end())


class Glob:
    """Which paths a model asked for: the rules of one line in a ``.gitignore``."""

    def __init__(self, pattern: str) -> None:
        """Raises ``ToolRefused`` for what is no glob."""
        if len(pattern) > LONGEST_PATTERN or pattern.count("*") > MOST_STARS:
            raise ToolRefused(f"The glob is too long or has more than {MOST_STARS} stars; make it simpler.")
        if not pattern.strip() or pattern.startswith(("!", "#")):
            raise ToolRefused("The glob is empty or begins with ! or #. Give one like *.py or src/**/*.ts.")
        self._rules = rules_of(pattern)
        if not self._rules:
            raise ToolRefused("The glob cannot be read. Give one like *.py or src/**/*.ts.")

    def matches(self, path: str) -> bool:
        """Whether ``path``, relative to where the search begins, or a folder above it was asked for.

        Raises:
            ToolRefused: finding out takes too long.
        """
        try:
            return any(rule.search(path, timeout=SECONDS, concurrent=True) for rule, _ in self._rules)
        except TimeoutError as error:
            raise ToolRefused("The glob takes too long to match; use fewer stars.") from error


def _require_small(pattern: str) -> None:
    groups, singles = [1], [1]
    for bracket, least, most in _COUNTS.findall(pattern):
        (groups if bracket else singles).append(max(int(least or 0), int(most or 0), 1))
    if prod(groups) * sum(singles) > MOST_REPEATS:
        raise ToolRefused("The pattern repeats too often with {…}; use + or * instead.")
    if pattern.count("(") > MOST_BRACKETS:
        raise ToolRefused(f"The pattern has more than {MOST_BRACKETS} brackets; make it simpler.")
