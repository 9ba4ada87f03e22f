"""``list_files``: what a folder of the workspace holds, as far as Git would show it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

from sessions.toolbox import ToolAnswer, ToolRefused
from sessions.workspace.paths import Place, Workspace, shown
from sessions.workspace.patterns import Glob
from sessions.workspace.sizes import counted, size_text
from sessions.workspace.threads import Stop
from sessions.workspace.tool import WorkspaceTool, function_spec
from sessions.workspace.walking import Entry, Unread, walk

DEPTH = 3
"""Levels of folders when the model does not say."""

DEEPEST = 50

MOST_SHOWN = 500
"""Entries in one answer; the rest is counted."""

MOST_WALKED = 200_000
"""Entries looked at; a tree that holds more is not walked to its end."""

LIST_FILES = "list_files"

SPEC = function_spec(
    LIST_FILES,
    "List the files and folders of the workspace, with sizes. What .gitignore leaves out is left out. Links are shown"
    f" and not followed. At most {MOST_SHOWN} entries, those nearest to the path; the rest is counted.",
    (),
    path={"type": "string", "description": "The folder, relative to the workspace. Default: the workspace itself."},
    pattern={
        "type": "string",
        "description": "Only files that match this glob, as in a .gitignore: *.py, src/**/*.ts. Looks at every depth.",
    },
    depth={
        "type": "integer",
        "minimum": 1,
        "maximum": DEEPEST,
        "description": f"How many levels of folders. Default {DEPTH}, or all of them with a pattern.",
    },
)


def list_files_tool(workspace: Workspace) -> WorkspaceTool:
    return WorkspaceTool(SPEC, partial(_answer, workspace))


def _answer(workspace: Workspace, arguments: Mapping[str, Any], stop: Stop) -> ToolAnswer:
    depth = arguments.get("depth")
    pattern = arguments.get("pattern")
    return list_files(workspace, arguments.get("path", "."), pattern, depth if depth is None else int(depth), stop)


def list_files(
    workspace: Workspace,
    path: str = ".",
    pattern: str | None = None,
    depth: int | None = None,
    stop: Stop | None = None,
) -> ToolAnswer:
    """The entries below ``path``, one a line, in the order of their paths. Blocks; run it in a thread.

    ``depth`` levels, ``DEPTH`` when None; with ``pattern`` only files that match it, at every level when None.

    Raises:
        ToolRefused: there is no such folder, or the glob makes no sense.
        WorkStopped: ``stop`` was set.
    """
    start = workspace.find(path)
    if not workspace.is_folder(start):
        raise ToolRefused(f"{start.shown} is not a folder; read_file reads it.")
    glob = None if pattern is None else Glob(pattern)
    deep = depth or (DEPTH if glob is None else None)
    unread = Unread()
    walked = walk(workspace, start, stop or Stop(), unread, deep)
    kept: list[Entry] = []
    more = looked = 0
    for entry in islice(walked, MOST_WALKED):
        looked += 1
        if glob is not None and not (entry.kind != "folder" and glob.matches(_below(start, entry))):
            continue
        if len(kept) < MOST_SHOWN:
            kept.append(entry)
        else:
            more += 1
    what = counted(len(kept) + more, "entry", "entries") if glob is None else counted(len(kept) + more, "file")
    matching = "" if pattern is None else f" matching {shown(pattern)}"
    at_least = "at least " if looked == MOST_WALKED else ""
    head = f"{start.shown}: {at_least}{what}{matching}"
    remarks = _remarks(more, unread.folders, deep)
    lines = [_line(start, entry) for entry in sorted(kept, key=lambda entry: entry.place.parts)]
    return ToolAnswer("\n".join([head + remarks, "", *lines]).rstrip(), f"listed {head}")


def _remarks(more: int, unread: int, depth: int | None) -> str:
    remarks = []
    if depth is not None:
        remarks.append(f"folders {counted(depth, 'level')} deep")
    if more:
        remarks.append(f"{more:,} not shown, list a folder or give a pattern for those")
    if unread:
        remarks.append(f"{counted(unread, 'folder')} cannot be read")
    return f" ({'; '.join(remarks)})" if remarks else ""


def _line(start: Place, entry: Entry) -> str:
    name = shown(_below(start, entry))
    match entry.kind:
        case "folder":
            return f"{name}/"
        case "link":
            return f"{name} (link)"
        case "special":
            return f"{name} (not a regular file)"
        case _:
            return f"{name}  {size_text(entry.size)}"


def _below(start: Place, entry: Entry) -> str:
    return "/".join(entry.place.parts[len(start.parts) :])
