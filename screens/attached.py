"""The files that a prompt attaches: ``@path``, or ``@"a path with spaces"``, at the beginning of a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memory.errors import OttoError
from sessions.display import one_line

_SIGN = re.compile(r'(?:^|(?<=[\s(]))@(?:"([^"\n]+)"|(\S+))')

_HALF_TYPED = re.compile(r'(?:^|(?<=[\s(]))@("[^"\n]*|[^\s"]*)\Z')

_DECORATOR = re.compile(r"\s*@[\w.]+\s*")
"""Alone on one of several lines: Python, Java and others have such."""

_OF_CODE = re.compile(r"[()=<>{}]")

_AFTER_A_PATH = ".,;:!?)"
"""What may follow a path in a sentence."""


class NotAttached(OttoError):
    """A file that a prompt names cannot be attached; the sentence says why."""


def attached(text: str, folder: Path) -> tuple[Path, ...]:
    """The files that ``text`` attaches, each once. A word such as ``@sam``, which is no path, stays a word.

    Raises:
        NotAttached: something looks like a path, and no file is there.
    """
    found: dict[Path, None] = {}
    lines = text.split("\n")
    for line in lines:
        for words in _named(line):
            path = next((folder / Path(word).expanduser() for word in words if _is_file(folder, word)), None)
            if path is not None:
                found[path] = None
            elif _looks_like_a_path(words[-1]) and not (len(lines) > 1 and _DECORATOR.fullmatch(line)):
                raise NotAttached(_why_not(words[-1], folder))
    return tuple(found)


def half_typed(line: str) -> str | None:
    """The path that is being typed at the end of ``line``, after its ``@``; None when there is none."""
    found = _HALF_TYPED.search(line)
    return found[1].removeprefix('"') if found else None


def written(path: str) -> str:
    """How a path stands in a prompt, with its ``@``."""
    return f'@"{path}"' if re.search(r"\s", path) else f"@{path}"


def _named(text: str) -> Iterator[tuple[str, ...]]:
    """Each word after an ``@``, as it stands and without what ends a sentence."""
    for quoted, word in _SIGN.findall(text):
        if quoted:
            yield (quoted,)
        elif word:
            yield tuple(dict.fromkeys((word, word.rstrip(_AFTER_A_PATH) or word)))


def _looks_like_a_path(word: str) -> bool:
    return ("/" in word or "." in word.strip(".")) and not _OF_CODE.search(word)


def _is_file(folder: Path, word: str) -> bool:
    try:
        return (folder / Path(word).expanduser()).is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _why_not(word: str, folder: Path) -> str:
    shown = one_line(word, 80)
    try:
        is_folder = (folder / Path(word).expanduser()).is_dir()
    except (OSError, RuntimeError, ValueError):
        is_folder = False
    if is_folder:
        return f"@{shown} is a folder, and only files can be attached."
    return f"There is no file {shown} to attach. Tab after @ completes a path; without the @ it is a word."
