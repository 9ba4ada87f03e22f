"""Files that the person attaches with ``@path``. They may lie anywhere, since the person named them."""

from __future__ import annotations

import os
from pathlib import Path

from memory.errors import OttoError
from memory.text import storable
from memory.values import NewEvent
from sessions.private_files import reason
from sessions.toolbox import ToolRefused
from sessions.workspace.mentions import path_of
from sessions.workspace.paths import require_regular, shown
from sessions.workspace.sizes import size_text
from sessions.workspace.text_files import HEAD, nature_of

LARGEST_ATTACHMENT = 1_000_000
"""Bytes, unless the caller says otherwise."""


class AttachmentRefused(OttoError):
    """The file cannot be attached; nothing was sent."""


def read_attachment(path: str | Path, workspace: Path, limit: int = LARGEST_ATTACHMENT) -> NewEvent:
    """The whole text of a file as a document of the person's: relative to ``workspace``, below ``~``, or absolute.

    ``limit`` is in bytes. Blocks; run it in a thread.

    Raises:
        AttachmentRefused: it is missing, no text, too large, or cannot be read.
    """
    typed = str(path)
    name = shown(typed)
    try:
        data = _read(path_of(typed, workspace), name, limit)
    except FileNotFoundError as error:
        raise AttachmentRefused(f"There is no file {name}, so nothing was attached.") from error
    except (ValueError, RuntimeError) as error:
        raise AttachmentRefused(f"{name} is not a path, so nothing was attached.") from error
    except OSError as error:
        raise AttachmentRefused(f"{name} cannot be read: {reason(error)}. Nothing was attached.") from error
    except ToolRefused as error:
        raise AttachmentRefused(str(error)) from error
    if len(data) > limit:
        raise AttachmentRefused(
            f"{name} is larger than {size_text(limit)}, the most that can be attached. Attach a part of it, or let the"
            " model read it with read_file."
        )
    nature = nature_of(data[:HEAD], name)
    if nature.encoding is None:
        raise AttachmentRefused(
            f"{name} is binary ({nature.guess}, {size_text(len(data))}); only text can be attached."
        )
    text = storable(data.decode(nature.encoding, "replace"))
    if not text.strip():
        raise AttachmentRefused(f"{name} is empty, so nothing was attached.")
    return NewEvent(text=text, role="user", kind="document", source=storable(typed))


def _read(path: Path, name: str, limit: int) -> bytes:
    """At most one byte more than ``limit``. Pipes and devices are never opened: reading them may wait forever."""
    facts = path.stat()
    if path.is_dir():
        raise AttachmentRefused(f"{name} is a folder; attach the files in it that matter.")
    require_regular(facts, name)
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(opened, "rb") as file:
        require_regular(os.fstat(opened), name)
        return file.read(limit + 1)
