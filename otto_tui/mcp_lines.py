"""What ``otto mcp`` prints of servers and their tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import UnknownId
from sessions.display import displayable, one_line
from sessions.options import Options

if TYPE_CHECKING:
    from sessions.mcp_servers.connection import McpStatus
    from sessions.mcp_servers.tools import McpTool

PATIENCE = 60.0
"""Seconds for all servers to start; each has a limit of its own below that."""

NO_SERVERS = """\
No MCP server is set up. Put one into the settings, for example:

    [mcp.servers.files]
    command = "npx"
    args = ["-y", "@modelcontextprotocol/server-filesystem", "."]"""


@dataclass(frozen=True, slots=True)
class Looked:
    """A server and the tools that it listed."""

    status: McpStatus
    tools: tuple[McpTool, ...]


async def look_at_servers(options: Options, folder: Path, name: str | None) -> tuple[Looked, ...]:
    """Connect, list, disconnect. With a ``name`` only to that server, also where it is not enabled.

    Raises:
        UnknownId: no server has that name.
    """
    from sessions.mcp_servers.servers import McpServers

    chosen = [server for server in options.mcp.values() if name in (None, server.name)]
    if name is not None and not chosen:
        known = f" There are {', '.join(options.mcp)}." if options.mcp else ""
        raise UnknownId(f"No MCP server is named {one_line(name, 60)} in the settings.{known}")
    servers = McpServers(chosen, folder, options.environ)
    if name is not None:
        await servers.switch(name, True)
    servers.start()
    try:
        await servers.ready(PATIENCE)
        tools = servers.tools()
        return tuple(
            Looked(status, tuple(tool for tool in tools if tool.connection.server is status.server))
            for status in servers.status()
        )
    finally:
        await servers.close()


def server_shape(looked: Looked) -> dict[str, Any]:
    """One entry of ``otto mcp --json``."""
    status = looked.status
    return {
        "name": status.server.name,
        "title": status.title,
        "address": status.server.address,
        "enabled": status.server.enabled,
        "state": status.state,
        "problem": status.problem or None,
        "tools": [
            {"name": tool.name, "description": function["description"], "parameters": function["parameters"]}
            for tool in looked.tools
            for function in (tool.spec["function"],)
        ],
    }


def server_lines(servers: Sequence[Looked], *, detailed: bool) -> Iterator[str]:
    """A line for each server and each of its tools; ``detailed`` with what a tool takes."""
    if not servers:
        yield NO_SERVERS
    for looked in servers:
        status = looked.status
        state = status.state if status.server.enabled or status.state != "off" else "not enabled"
        yield f"{one_line(status.server.name, 60)}: {state}, {one_line(status.server.address, 120)}"
        if status.problem:
            yield f"  {displayable(status.problem)}"
        for tool in looked.tools:
            function = tool.spec["function"]
            yield f"  {tool.name}  {one_line(function['description'], 100)}"
            if detailed:
                yield f"    {one_line(json.dumps(function['parameters'], ensure_ascii=False), 2_000)}"
