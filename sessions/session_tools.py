"""The tools of one session: which ones there are, and which of them the person has switched on or off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import UnknownId
from memory.store import MemoryStore
from sessions.display import one_line
from sessions.events import LoopChanged, Notice, SessionEvent
from sessions.options import Options
from sessions.toolbox import Tool, Toolbox, ToolInfo, description_of, name_of
from sessions.tools import MEMORY_TOOLS

if TYPE_CHECKING:
    from sessions.mcp_servers.connection import McpStatus
    from sessions.mcp_servers.servers import McpServers

TOOLS_FACT = "tools"
"""What the tape remembers of its tools: which the person switched, as a JSON object of names and groups."""

COMMAND_GROUP = "command"
WORKSPACE_GROUP = "workspace"
MCP_PREFIX = "mcp:"

MCP_PATIENCE = 5.0
"""Seconds that a turn waits for MCP servers that are still starting."""


class SessionTools:
    """All methods are called on the event loop.

    Args:
        workspace: the folder in which the session began.
        emit: told what a person should know of servers.
    """

    def __init__(self, options: Options, workspace: str, emit: Callable[[SessionEvent], None]) -> None:
        self._options = options
        self._emit = emit
        self.root = workspace_of(options, workspace)
        self._switched: dict[str, bool] = {}
        self._in_folder: tuple[Tool, ...] | None = None
        self._servers: McpServers | None = None

    @property
    def patience(self) -> float:
        """Seconds that the slowest tool may take by its own settings."""
        return max([self._options.tools.command_timeout, *(server.timeout for server in self._options.mcp.values())])

    def take_up(self, store: MemoryStore) -> None:
        """Go on with what the tape remembers; what was switched before there was a tape goes there. Uses the disk."""
        before = self._switched
        self._switched = _remembered(store) | before
        if before and not store.read_only:
            self.remember(store)

    def start(self) -> None:
        """Have the MCP servers that are switched on started, in the background."""
        if self._options.mcp and self._servers is None:
            from sessions.mcp_servers.servers import McpServers

            servers = [
                replace(server, enabled=self._switched.get(MCP_PREFIX + name, server.enabled))
                for name, server in self._options.mcp.items()
            ]
            self._servers = McpServers(
                servers, self.root, self._options.environ, self._emit, lambda: self._emit(LoopChanged())
            )
            self._servers.start()

    async def close(self) -> None:
        if self._servers is not None:
            await self._servers.close()

    async def toolbox(self) -> Toolbox:
        """What the model may call now. Waits a little for servers that are on their way."""
        self.start()
        if self._servers is not None and self._servers.starting:
            await self._servers.ready(MCP_PATIENCE)
            if late := self._servers.starting:
                names = ", ".join(one_line(name, 40) for name in late)
                self._emit(Notice(f"Not ready yet, so without its tools for this turn: {names}.", "information"))
        return Toolbox(tool for tool in self._every() if self._is_on(tool))

    def infos(self) -> tuple[ToolInfo, ...]:
        """Every tool there is, whether it is switched on or not. Those of a server that is off are not known."""
        return tuple(
            ToolInfo(
                name_of(tool),
                tool.group,
                description_of(tool),
                self._is_on(tool),
                tool.spec["function"].get("parameters") or {},
            )
            for tool in self._every()
        )

    def servers(self) -> tuple[McpStatus, ...]:
        """Every MCP server that is configured."""
        return () if self._servers is None else self._servers.status()

    async def switch(self, name_or_group: str, on: bool) -> None:
        """Switch a tool, or all of a group.

        Raises:
            UnknownId: there is neither.
        """
        groups: dict[str, set[str]] = {MCP_PREFIX + name: set() for name in self._options.mcp}
        for tool in self._every():
            groups.setdefault(tool.group, set()).add(name_of(tool))
        if name_or_group not in groups and all(name_or_group not in names for names in groups.values()):
            raise UnknownId(
                f"There is no tool and no group of tools named {one_line(name_or_group, 60)}. The groups are"
                f" {', '.join(groups)}."
            )
        for name in groups.get(name_or_group, ()):
            self._switched.pop(name, None)
        self._switched[name_or_group] = on
        server = name_or_group.removeprefix(MCP_PREFIX)
        if name_or_group in groups and server in self._options.mcp and self._servers is not None:
            await self._servers.switch(server, on)

    def remember(self, store: MemoryStore) -> None:
        """Have the tape remember what was switched. Writes to the disk."""
        store.set_meta(TOOLS_FACT, json.dumps(self._switched) if self._switched else None)

    # -- inside ------------------------------------------------------------------------------------------------

    def _every(self) -> Iterator[Tool]:
        yield from MEMORY_TOOLS
        yield from self._folder_tools()
        if self._servers is not None:
            yield from self._servers.tools()

    def _folder_tools(self) -> tuple[Tool, ...]:
        """What reads the session's folder or runs commands in it; nothing where there is none."""
        if self._in_folder is None:
            self._in_folder = () if self.root is None else tuple(_tools_in(self.root, self._options))
        return self._in_folder

    def _is_on(self, tool: Tool) -> bool:
        settings = self._options.tools
        usual = {COMMAND_GROUP: settings.run_command, WORKSPACE_GROUP: settings.enabled}.get(tool.group, True)
        return self._switched.get(name_of(tool), self._switched.get(tool.group, usual))


def _tools_in(root: Path, options: Options) -> Iterator[Tool]:
    from sessions.commands.allowed import AllowedCommands
    from sessions.commands.run_command import RunCommand
    from sessions.workspace.tools import workspace_tools

    yield from workspace_tools(root, (options.home,))
    yield RunCommand(root, options.tools, AllowedCommands(options.home, root), options.environ or None)


def workspace_of(options: Options, began_in: str) -> Path | None:
    """The folder that a session's tools work in; None where there is none (any more)."""
    folder = options.workspace or (Path(began_in) if began_in else None)
    try:
        return folder if folder is not None and folder.is_dir() else None
    except (OSError, ValueError):
        return None


def _remembered(store: MemoryStore) -> dict[str, bool]:
    try:
        switched = json.loads(store.get_meta(TOOLS_FACT) or "{}")
    except ValueError:
        return {}
    if not isinstance(switched, Mapping):
        return {}
    return {str(name): on for name, on in switched.items() if isinstance(on, bool)}
