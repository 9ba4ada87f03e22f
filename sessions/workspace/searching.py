"""``search_files``: lines that hold a pattern, in every text file that Git would show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from sessions.toolbox import ToolAnswer
from sessions.workspace.file_search import MOST_HITS, MOST_IN_ONE, FileSearch, LimitReached
from sessions.workspace.paths import Place, Workspace, shown
from sessions.workspace.patterns import Glob, LinePattern
from sessions.workspace.sizes import counted, size_text
from sessions.workspace.threads import Stop
from sessions.workspace.tool import WorkspaceTool, function_spec
from sessions.workspace.walking import Unread, walk

SECONDS = 30.0
"""For one search."""

MOST_CONTEXT = 5
"""Lines before and after a hit."""

SEARCH_FILES = "search_files"

SPEC = function_spec(
    SEARCH_FILES,
    "Search the text files of the workspace line by line, leaving out what .gitignore leaves out. Answers with paths,"
    f" line numbers and lines; at most {MOST_HITS} hits, {MOST_IN_ONE} of one file.",
    ("pattern",),
    pattern={"type": "string", "description": "A regular expression (or plain text, see regex), for single lines."},
    path={"type": "string", "description": "A folder or file, relative to the workspace. Default: all of it."},
    glob={"type": "string", "description": "Only files that match, as in a .gitignore: *.py, src/**/*.ts."},
    regex={"type": "boolean", "description": "false looks for the pattern as plain text. Default true."},
    ignore_case={"type": "boolean", "description": "true takes upper and lower case as the same. Default false."},
    context={
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_CONTEXT,
        "description": "Lines to show before and after each hit. Default 0.",
    },
)


def search_files_tool(workspace: Workspace) -> WorkspaceTool:
    return WorkspaceTool(SPEC, partial(_answer, workspace))


def _answer(workspace: Workspace, arguments: Mapping[str, Any], stop: Stop) -> ToolAnswer:
    return search_files(
        workspace,
        arguments["pattern"],
        arguments.get("path", "."),
        arguments.get("glob"),
        literal=not arguments.get("regex", True),
        ignore_case=bool(arguments.get("ignore_case", False)),
        context=int(arguments.get("context", 0)),
        stop=stop,
    )


def search_files(
    workspace: Workspace,
    pattern: str,
    path: str = ".",
    glob: str | None = None,
    *,
    literal: bool = False,
    ignore_case: bool = False,
    context: int = 0,
    stop: Stop | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> ToolAnswer:
    """The lines below ``path`` that hold ``pattern``, by file. Blocks; run it in a thread.

    It ends early at the limits of ``file_search`` or after ``SECONDS`` on ``clock``, and says so.

    Raises:
        ToolRefused: there is no such place, or the pattern or glob makes no sense or takes too long.
        WorkStopped: ``stop`` was set.
    """
    start = workspace.find(path)
    only = None if glob is None else Glob(glob)
    search = FileSearch(
        workspace,
        LinePattern(pattern, literal=literal, ignore_case=ignore_case),
        context=min(context, MOST_CONTEXT),
        stop=stop or Stop(),
        out_of_time=_after(SECONDS, clock),
    )
    unread = Unread()
    ended = ""
    try:
        for place in _files(workspace, start, only, search.stop, unread):
            search.file(place)
    except LimitReached as limit:
        ended = str(limit)
    what = f"{shown(pattern)} in {start.shown}" if start.parts else shown(pattern)
    return _answer_of(search, what, ended, unread.folders)


def _files(workspace: Workspace, start: Place, only: Glob | None, stop: Stop, unread: Unread) -> Iterator[Place]:
    if not workspace.is_folder(start):
        yield start
        return
    for entry in walk(workspace, start, stop, unread):
        if entry.kind == "file" and (only is None or only.matches("/".join(entry.place.parts[len(start.parts) :]))):
            yield entry.place


def _answer_of(search: FileSearch, what: str, ended: str, unread_folders: int) -> ToolAnswer:
    files = counted(search.files, "file")
    where = f"{search.files_with_hits:,} of {files}" if search.hits else files
    head = f"{what}: {counted(search.hits, 'hit')} in {where}, {size_text(search.bytes)} read"
    remarks = [ended] if ended else []
    if unread := search.unread + unread_folders:
        remarks.append(f"{counted(unread, 'file or folder', 'files and folders')} cannot be read")
    if search.secrets:
        remarks.append(f"{counted(search.secrets, 'file')} left out because such files hold passwords or keys")
    remarks.extend(search.remarks)
    note = f" ({'; '.join(remarks)})" if remarks else ""
    return ToolAnswer("\n".join([head + note, *search.lines]), f"searched {head}")


def _after(seconds: float, clock: Callable[[], float]) -> Callable[[], bool]:
    until = clock() + seconds
    return lambda: clock() > until
