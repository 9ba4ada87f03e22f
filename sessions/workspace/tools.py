"""The tools by which a model reads the workspace. None of them writes, and none reads anything outside of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sessions.toolbox import Tool
from sessions.workspace.listing import list_files_tool
from sessions.workspace.paths import Workspace
from sessions.workspace.reading import read_file_tool
from sessions.workspace.searching import search_files_tool


def workspace_tools(root: Path, closed: Iterable[Path] = ()) -> tuple[Tool, ...]:
    """``read_file``, ``list_files`` and ``search_files``, confined to ``root``.

    ``closed`` are folders that stay unread even inside of it: give Otto's home, since a person may well work there.
    """
    workspace = Workspace.at(root, closed)
    return (read_file_tool(workspace), list_files_tool(workspace), search_files_tool(workspace))
