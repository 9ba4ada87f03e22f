"""``@path`` in what a person types: which files they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# An address or a word with an @ inside is no mention, and neither is @@.
_MENTION = re.compile(r"""(?<![\w.@/+-])@(?:"([^"\n]+)"|([^\s"'`<>|@][^\s"'`<>|]*))""")

_SENTENCE_END = ".,;:!?…)]}»”’*"
"""What ends a sentence or closes a bracket rather than a file's name."""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """What a prompt mentions."""

    files: tuple[str, ...]
    """Paths as typed, each once, that exist."""
    missing: tuple[str, ...]
    """What can only be meant as a path and leads nowhere: quoted, or with a folder at its front."""


def mentions(text: str) -> tuple[str, ...]:
    """What stands after each ``@`` that begins a word, in order, each once: ``@src/a.py``, ``@"with spaces.txt"``.

    A mention need not be of a file: ``@alice`` is one as well. Punctuation after it is not part of it.
    """
    return tuple(dict.fromkeys(path for path, _ in _found(text)))


def mentioned_files(text: str, workspace: Path) -> Mentioned:
    """Which of them are files, relative to ``workspace``, below ``~`` or absolute. Asks the disk.

    Whatever else follows an ``@`` (people, decorators, packages) is left as it is.
    """
    files: dict[str, None] = {}
    missing: dict[str, None] = {}
    for path, quoted in _found(text):
        if _is_there(path, workspace):
            files[path] = None
        elif quoted or path.startswith(("./", "../", "~/", "/")):
            missing[path] = None
    return Mentioned(tuple(files), tuple(missing))


def path_of(path: str, workspace: Path) -> Path:
    """The file that a person means by ``path``.

    Raises:
        RuntimeError: it begins with ``~`` and there is no such home folder.
    """
    return workspace / Path(path).expanduser()


def as_mention(path: str) -> str:
    """``path`` as it is typed after an ``@``, quoted where it must be."""
    return f'"{path}"' if re.search(r"^@|[\s\"'`<>|]", path) or path.endswith(tuple(_SENTENCE_END)) else path


def _found(text: str) -> list[tuple[str, bool]]:
    """Paths, and whether they were quoted."""
    found = []
    for match in _MENTION.finditer(text):
        quoted, plain = match.groups()
        path = quoted if quoted is not None else plain.rstrip(_SENTENCE_END)
        if path:
            found.append((path, quoted is not None))
    return found


def _is_there(path: str, workspace: Path) -> bool:
    try:
        return path_of(path, workspace).exists()
    except (OSError, RuntimeError, ValueError):
        return False
