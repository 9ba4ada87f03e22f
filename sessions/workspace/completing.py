"""What a half-typed ``@path`` may become: files and folders of the workspace, or of a folder that is named in full."""

from __future__ import annotations

import os
from collections.abc import Iterator
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from time import monotonic

from sessions.toolbox import ToolRefused
from sessions.workspace.ignoring import rules_of
from sessions.workspace.paths import Place, Workspace
from sessions.workspace.threads import Stop, check, in_thread
from sessions.workspace.walking import walk

MOST_WALKED = 20_000
"""Entries of the workspace that are looked at, nearest first."""

SECONDS = 0.5
"""In which they are looked at: a person who types does not wait for the far end of a large tree."""

MOST_LISTED = 5_000
"""Entries of one folder outside of it."""

Rank = tuple[int, int, str]


async def completions(prefix: str, workspace: Path, limit: int = 20) -> tuple[str, ...]:
    """``complete_path`` in a thread. Cancelling stops it: ask anew with each key, and cancel the question before."""
    return await in_thread(lambda stop: complete_path(prefix, workspace, limit, stop))


def complete_path(prefix: str, workspace: Path, limit: int = 20, stop: Stop | None = None) -> tuple[str, ...]:
    """Up to ``limit`` paths that begin with ``prefix`` or hold its letters in order, best first. Folders end in ``/``.

    What Git would leave alone is not offered, unless ``prefix`` leads out of the workspace (``~/``, ``../``, ``/``). An
    unreadable folder offers nothing.

    Raises:
        WorkStopped: ``stop`` was set.
    """
    stop = stop or Stop()
    named_in_full = prefix.startswith(("/", "~/", "../", "./")) or prefix in ("~", "..", ".")
    paths = _in_folder(prefix, workspace, stop) if named_in_full else _below(prefix, workspace, stop)
    ranked = ((rank, path) for path in paths if (rank := _rank(prefix, path)) is not None)
    return tuple(path for _, path in nsmallest(limit, ranked))


def _below(prefix: str, workspace: Path, stop: Stop) -> Iterator[str]:
    """Everything in the workspace, nearest first. What lies in a folder that was typed so far comes before the rest."""
    opened = Workspace.at(workspace)
    folder = prefix.rpartition("/")[0]
    start = Place(())
    if folder:
        try:
            start = opened.find(folder)
        except ToolRefused:
            folder = ""
    found: set[str] = set()
    # The first list of patterns has libraries imported, which may take as long as all of the walk.
    rules_of("x")
    until = monotonic() + SECONDS
    for place in [start, Place(())] if start.parts else [start]:
        try:
            for entry in islice(walk(opened, place, stop), MOST_WALKED):
                if monotonic() > until:
                    return
                path = "/".join(entry.place.parts) + ("/" if entry.kind == "folder" else "")
                if entry.kind != "special" and path not in found and path.isprintable():
                    found.add(path)
                    yield path
        except ToolRefused:
            continue


def _in_folder(prefix: str, workspace: Path, stop: Stop) -> Iterator[str]:
    """What the folder of ``prefix`` holds, hidden files only where their dot was typed."""
    typed, slash, begun = prefix.rpartition("/")
    head = typed + slash
    if not slash:
        yield f"{prefix}/"
        return
    try:
        with os.scandir(workspace / Path(head).expanduser()) as entries:
            for entry in islice(entries, MOST_LISTED):
                check(stop)
                if entry.name.startswith(".") and not begun.startswith("."):
                    continue
                if entry.name.isprintable():
                    yield head + entry.name + ("/" if entry.is_dir() else "")
    except (OSError, RuntimeError, ValueError):
        return


def _rank(prefix: str, path: str) -> Rank | None:
    """How well ``path`` answers to ``prefix``, smaller is better; None where it does not."""
    if path == prefix:
        return None
    typed, whole = prefix.casefold(), path.casefold()
    name = whole.rstrip("/").rpartition("/")[2]
    if whole.startswith(typed):
        deeper = whole[len(typed) :].rstrip("/").count("/")
        # A hidden name is wanted once its dot has been typed.
        hidden = name.startswith(".") and not typed.rpartition("/")[2].startswith(".")
        return (1 if deeper or hidden else 0), deeper, path
    if name.startswith(typed):
        return 2, len(path), path
    if typed in whole:
        return 3, len(path), path
    letters = iter(whole)
    if all(letter in letters for letter in typed):
        return 4, len(path), path
    return None
