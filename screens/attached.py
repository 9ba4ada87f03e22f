"""The files that a prompt attaches with ``@path``, and the path that is being typed."""

from __future__ import annotations

import re
from pathlib import Path

from memory.errors import OttoError
from sessions.display import one_line

# The beginning of a mention (``sessions/workspace/mentions.py``) that ends where the cursor stands.
_HALF_TYPED = re.compile(r"""(?<![\w.@/+-])@("[^"\n]*|[^\s"'`<>|]*)\Z""")


class NotAttached(OttoError):
    """A prompt names a file that is not there; the sentence says so."""


def attached(text: str, folder: Path) -> tuple[Path, ...]:
    """The files that ``text`` mentions, each once. Reads the disk.

    Raises:
        NotAttached: something can only be meant as a path, and leads nowhere.
    """
    from sessions.workspace.mentions import mentioned_files

    mentioned = mentioned_files(text, folder)
    if mentioned.missing:
        raise NotAttached(f"There is no file {one_line(mentioned.missing[0], 80)} to attach, so nothing was sent.")
    return tuple(Path(file) for file in mentioned.files)


def half_typed(line: str) -> str | None:
    """What stands after the ``@`` of the path at the end of ``line``, with a quote that opens it; None without one."""
    found = _HALF_TYPED.search(line)
    return found[1] if found else None
