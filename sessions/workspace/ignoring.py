"""What Git would leave alone: ``.gitignore`` at every level and ``.git/info/exclude``.

Patterns are read by the package pathspec. They come with a folder that somebody else may have made, so they are matched
with a limit of time: a pattern that takes too long counts as not there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST_FILE = 200_000
"""Bytes of one list of patterns; a larger one is not read."""

SECONDS = 0.5
"""For one name and one pattern."""

MOST_STARS = 20
"""In one pattern; one with more counts as not there, since it is slow even to prepare."""

MOST_SLOW = 3
"""Patterns of one list that may take too long; then all of it counts as not there."""

RULES_FILE = ".gitignore"


class Patterns:
    """The patterns of one file, for paths relative to the folder that they apply to."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules: list[tuple[Any, bool]] = [rule for line in lines for rule in rules_of(line)]
        self._any = _union([rule.pattern for rule, _ in self._rules])
        self._slow = 0

    def __bool__(self) -> bool:
        return bool(self._rules)

    def verdict(self, path: str) -> bool | None:
        """Whether ``path`` (a folder's ends in ``/``) is ignored; None where no pattern speaks of it."""
        if self._any is not None:
            try:
                if self._any.search(path, timeout=SECONDS, concurrent=True) is None:
                    return None
            except TimeoutError:
                self._any = None
        for compiled, ignored in reversed(self._rules):
            try:
                found = compiled.search(path, timeout=SECONDS, concurrent=True)
            except TimeoutError:
                self._slow += 1
                self._rules = [rule for rule in self._rules if rule[0] is not compiled and self._slow < MOST_SLOW]
                if not self._rules:
                    return None
                continue
            if found is not None and _speaks_of_itself(found, path):
                return bool(ignored)
        return None


@dataclass(frozen=True, slots=True)
class Ignoring:
    """The patterns that hold in one folder: its own and those of the folders above, outermost first."""

    levels: tuple[tuple[int, Patterns], ...] = ()
    """How many parts of a path lie above the folder of the patterns, and these."""
    prefix: tuple[str, ...] = ()
    """Folders between the outermost one that holds patterns and the workspace's root."""

    def ignores(self, parts: Sequence[str], folder: bool) -> bool:
        """Whether the entry at ``parts``, from the workspace's root, is to be left alone. The last pattern counts."""
        whole = (*self.prefix, *parts)
        for depth, patterns in reversed(self.levels):
            verdict = patterns.verdict("/".join(whole[depth:]) + ("/" if folder else ""))
            if verdict is not None:
                return verdict
        return False

    def inside(self, parts: Sequence[str], lines: Iterable[str]) -> Ignoring:
        """What holds in the folder at ``parts``, whose own patterns are ``lines``."""
        patterns = Patterns(lines)
        if not patterns:
            return self
        return Ignoring((*self.levels, (len(self.prefix) + len(parts), patterns)), self.prefix)


def ignoring_above(root: Path) -> Ignoring:
    """What holds at ``root`` before its own patterns: those of its repository, which may begin further up."""
    repository = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)
    if repository is None:
        return Ignoring()
    prefix = root.relative_to(repository).parts
    exclude = Patterns(_lines(_git_folder(repository) / "info" / "exclude"))
    levels = [(0, exclude)] if exclude else []
    for depth in range(len(prefix)):
        patterns = Patterns(_lines(repository.joinpath(*prefix[:depth], RULES_FILE)))
        if patterns:
            levels.append((depth, patterns))
    return Ignoring(tuple(levels), prefix)


def rules_of(line: str) -> list[tuple[Any, bool]]:
    """One line of patterns, compiled, with whether it says to ignore; nothing for a comment or what Git cannot read."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if line.count("*") > MOST_STARS:
        return []
    try:
        pattern, ignored = GitIgnoreSpecPattern.pattern_to_regex(line)
    except ValueError:
        return []
    compiled = None if pattern is None else _bounded(pattern)
    return [] if compiled is None or ignored is None else [(compiled, ignored)]


def _speaks_of_itself(found: Any, path: str) -> bool:
    """Whether the match is of the entry itself and not of a folder above it, which has been asked already."""
    if "ps_d" not in found.re.groupindex:
        # ``logs/**`` is what lies in the folder, not the folder.
        return not found.re.pattern.endswith("/") or bool(found.end() < len(path))
    return found.end("ps_d") in (-1, len(path))


def _git_folder(repository: Path) -> Path:
    """The folder that all working trees of the repository share."""
    git = repository / ".git"
    if git.is_dir():
        return git
    # A further working tree holds a file that names its folder, and that one names the folder that all share.
    own = repository / "".join(_lines(git)).removeprefix("gitdir:").strip()
    return own / "".join(_lines(own / "commondir")).strip()


def _lines(path: Path) -> list[str]:
    """The lines of a small text file; none where there is no such file."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return []
        return path.read_text("utf-8-sig", "replace").splitlines()
    except OSError:
        return []


def _bounded(pattern: str) -> Any:
    """A pattern whose matching can be given a limit of time; None where it cannot be read."""
    import regex

    # ``*/``, every folder, is read as a slash anywhere; what is asked about is the entry at the end.
    try:
        return regex.compile("/$" if pattern == "(?P<ps_d>/)" else pattern)
    except (regex.error, RecursionError, MemoryError):
        return None


def _union(patterns: list[str]) -> Any:
    """One pattern that matches where any of these does: most names match none, and one question is enough to know."""
    unnamed = (pattern.replace("(?P<ps_d>", "(?:") for pattern in patterns)
    return _bounded("|".join(f"(?:{pattern})" for pattern in unnamed)) if patterns else None
