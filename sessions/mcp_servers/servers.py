"""All MCP servers of one session: started behind it, listed, switched, ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sessions.events import Notice, SessionEvent
from sessions.mcp_servers.connection import McpConnection, McpStatus
from sessions.mcp_servers.settings import McpServer
from sessions.mcp_servers.tools import McpTool, tools_of


class McpServers:
    """All methods are called on one event loop.

    Args:
        servers: as configured; those that are not ``enabled`` stay off until switched on.
        folder: where programs are started.
        environ: where ``${NAME}`` in the settings is looked up.
        emit: told a ``Notice`` when a server fails.
        changed: told when a server's state, or the list of tools, is another.
    """

    def __init__(
        self,
        servers: Iterable[McpServer],
        folder: Path | None = None,
        environ: Mapping[str, str] | None = None,
        emit: Callable[[SessionEvent], None] = lambda event: None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._emit = emit
        self._changed = changed
        self._told: set[str] = set()
        self._on = {server.name for server in servers if server.enabled}
        self._connections = {
            server.name: McpConnection(server, folder, environ or {}, self._note_change) for server in servers
        }

    def start(self) -> None:
        """Connect to every server that is switched on, in the background."""
        for name in self._on:
            self._connections[name].start()

    async def ready(self, patience: float) -> None:
        """Wait until every start has come to an end, or ``patience`` seconds have passed."""
        starting = [asyncio.create_task(connection.settled()) for connection in self._connections.values()]
        if starting:
            _, late = await asyncio.wait(starting, timeout=patience)
            for task in late:
                task.cancel()

    async def close(self) -> None:
        """Disconnect from all of them; programs that were started are ended."""
        await asyncio.gather(*(connection.stop() for connection in self._connections.values()))

    async def switch(self, name: str, on: bool) -> None:
        """Start a server, or end it. One that failed is tried again when switched on."""
        connection = self._connections[name]
        if on:
            self._on.add(name)
            self._told.discard(name)
            connection.start()
        else:
            self._on.discard(name)
            await connection.stop()

    @property
    def starting(self) -> tuple[str, ...]:
        """Servers that are on their way."""
        return tuple(name for name, connection in self._connections.items() if connection.state == "starting")

    def tools(self) -> tuple[McpTool, ...]:
        """The tools of the servers that are switched on, in the order of the settings.

        Those of a server that went away are among them: calling one starts it again.
        """
        return tools_of(connection for name, connection in self._connections.items() if name in self._on)

    def status(self) -> tuple[McpStatus, ...]:
        """Every configured server, in the order of the settings."""
        names: dict[str, list[str]] = {}
        for tool in self.tools():
            names.setdefault(tool.connection.server.name, []).append(tool.name)
        return tuple(
            McpStatus(
                connection.server, connection.state, tuple(names.get(name, ())), connection.problem, connection.title
            )
            for name, connection in self._connections.items()
        )

    def _note_change(self) -> None:
        for name, connection in self._connections.items():
            if connection.state == "failed" and name not in self._told:
                self._told.add(name)
                self._emit(Notice(connection.problem))
            elif connection.state == "running":
                self._told.discard(name)
        self._changed()
