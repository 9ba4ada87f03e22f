"""Every file and folder below a place in the workspace, nearest first, without what Git would leave alone."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sessions.toolbox import ToolRefused
from sessions.workspace.ignoring import LARGEST_FILE, RULES_FILE, Ignoring, ignoring_above
from sessions.workspace.paths import Place, Workspace
from sessions.workspace.text_files import read_block
from sessions.workspace.threads import Stop, check

GIT = ".git"

Kind = Literal["file", "folder", "link", "special"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a folder."""

    place: Place
    kind: Kind
    """``link`` for a symbolic link, which is never followed; ``special`` for pipes, sockets and devices."""
    size: int
    """Bytes, of a file."""


@dataclass(slots=True)
class Unread:
    """What a walk could not look into."""

    folders: int = 0


def walk(
    workspace: Workspace, start: Place, stop: Stop, unread: Unread | None = None, depth: int | None = None
) -> Iterator[Entry]:
    """What lies below ``start``, level by level, each folder in the order of names.

    ``depth`` levels of folders are opened, all when None. Links are not followed, so no walk goes in circles; ``.git``
    is left out. ``start`` itself is walked even where it is ignored: somebody asked for it.

    Raises:
        ToolRefused: ``start`` is no folder or cannot be read.
        WorkStopped: ``stop`` was set.
    """
    waiting = deque([(start, _holding_at(workspace, start))])
    bottom = None if depth is None else len(start.parts) + depth
    while waiting:
        check(stop)
        folder, ignoring = waiting.popleft()
        try:
            entries = workspace.scan(folder)
        except ToolRefused:
            if folder == start:
                raise
            if unread is not None:
                unread.folders += 1
            continue
        if any(entry.name == RULES_FILE for entry in entries):
            ignoring = ignoring.inside(folder.parts, _rules_in(workspace, folder))
        for entry in sorted(entries, key=_by_name):
            check(stop)
            found = _entry(folder, entry)
            is_folder = found.kind == "folder"
            if entry.name == GIT or ignoring.ignores(found.place.parts, is_folder):
                continue
            yield found
            if is_folder and (bottom is None or len(found.place.parts) < bottom):
                waiting.append((found.place, ignoring))


def _holding_at(workspace: Workspace, start: Place) -> Ignoring:
    """The patterns that hold above ``start``; the walk reads its own."""
    ignoring = ignoring_above(workspace.root)
    for depth in range(len(start.parts)):
        above = start.parts[:depth]
        ignoring = ignoring.inside(above, _rules_in(workspace, Place(above)))
    return ignoring


def _rules_in(workspace: Workspace, folder: Place) -> list[str]:
    """The lines of the folder's ``.gitignore``; none where it cannot be read."""
    place = Place((*folder.parts, RULES_FILE))
    try:
        with workspace.open_file(place) as file:
            data = read_block(file, LARGEST_FILE + 1, place.shown)
            return data.decode("utf-8-sig", "replace").splitlines() if len(data) <= LARGEST_FILE else []
    except ToolRefused:
        return []


def _entry(folder: Place, entry: os.DirEntry[str]) -> Entry:
    place = Place((*folder.parts, entry.name))
    if entry.is_symlink():
        return Entry(place, "link", 0)
    if entry.is_dir(follow_symlinks=False):
        return Entry(place, "folder", 0)
    if entry.is_file(follow_symlinks=False):
        return Entry(place, "file", entry.stat(follow_symlinks=False).st_size)
    return Entry(place, "special", 0)


def _by_name(entry: os.DirEntry[str]) -> tuple[str, str]:
    return entry.name.casefold(), entry.name
