"""One MCP server while it is connected: started in the background, asked from anywhere, ended in one place.

The SDK wants a connection closed by the task that opened it, so one task holds it for as long as it lives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memory.errors import OttoError
from sessions.display import one_line
from sessions.mcp_servers.complaints import Complaints
from sessions.mcp_servers.settings import START_TIMEOUT, McpServer, filled_in
from sessions.quiet_logging import silence

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

State = Literal["off", "starting", "running", "failed"]

MOST_PAGES = 50
"""Pages of a list of tools; a server that always has another one is not asked for ever."""


class McpFailed(OttoError):
    """A server could not be reached, or went away. ``str(error)`` says so in one sentence."""


@dataclass(frozen=True, slots=True)
class McpStatus:
    """A server as a list shows it."""

    server: McpServer
    state: State
    tools: tuple[str, ...] = ()
    """As the model knows them."""
    problem: str = ""
    """Why it failed, as a sentence."""
    title: str = ""
    """What the server calls itself."""


class McpConnection:
    """All methods are called on one event loop.

    Args:
        server: which one.
        folder: where a program is started.
        environ: where ``${NAME}`` is looked up.
        changed: told when the state, or the list of tools, is another.
    """

    def __init__(
        self, server: McpServer, folder: Path | None, environ: Mapping[str, str], changed: Callable[[], None]
    ) -> None:
        self.server = server
        self.state: State = "off"
        self.problem = ""
        """Why it failed, as a sentence."""
        self.title = ""
        """What the server calls itself."""
        self.tools: tuple[Tool, ...] = ()
        """As the server listed them when it was last connected."""
        self._folder = folder
        self._environ = environ
        self._changed = changed
        self._client: Client | None = None
        self._complaints: Complaints | None = None
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._leave = asyncio.Event()

    def start(self) -> None:
        """Connect in the background, unless that is going on or done."""
        if self.state in ("starting", "running"):
            return
        self._settled, self._leave = asyncio.Event(), asyncio.Event()
        self._set("starting")
        self._task = asyncio.create_task(self._hold(), name=f"mcp {self.server.name}")

    async def settled(self) -> None:
        """Wait until a start has come to an end, well or not."""
        if self.state == "starting":
            await self._settled.wait()

    async def stop(self) -> None:
        """Disconnect; a program that was started is ended."""
        self._leave.set()
        if self._task is not None:
            await asyncio.wait([self._task])
        self._set("off")

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Have the server run a tool. A server that failed before is started again first.

        Raises:
            McpFailed: it cannot be reached, went away, refused, or took too long.
        """
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
        from pydantic import ValidationError

        self.start()
        await self.settled()
        if self._client is None:
            raise McpFailed(self.problem or f"The MCP server {self.server.name} is not running.")
        try:
            return await self._client.call_tool(tool, dict(arguments), read_timeout_seconds=self.server.timeout)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise McpFailed(await self._gone()) from error
            if error.code == REQUEST_TIMEOUT:
                raise McpFailed(
                    f"{tool} of the MCP server {self.server.name} gave no answer in {self.server.timeout:g} seconds."
                ) from error
            raise McpFailed(f"The MCP server {self.server.name} refused: {_said(error)}") from error
        except (ValidationError, RuntimeError) as error:
            raise McpFailed(
                f"The answer of {tool} does not fit the protocol, so it was not used: {_said(error)}"
            ) from error

    # -- inside ------------------------------------------------------------------------------------------------

    async def _hold(self) -> None:
        """Connect, list the tools, and stay until told to leave."""
        silence("mcp", "httpx2")
        with Complaints() as complaints:
            self._complaints = complaints
            try:
                async with self._connected(complaints) as client:
                    self._client = client
                    self._set("running")
                    self._settled.set()
                    await self._leave.wait()
            except Exception as error:  # whatever a server does, it is only this server that is missing
                self._fail(await self._why(error, complaints))
            finally:
                self._client = None
                self._settled.set()

    @asynccontextmanager
    async def _connected(self, complaints: Complaints) -> AsyncIterator[Client]:
        async with asyncio.timeout(START_TIMEOUT) as limit, self._opened(complaints) as client:
            self.tools = await _all_tools(client)
            self.title = client.server_info.name if client.server_info is not None else ""
            limit.reschedule(None)
            yield client

    @asynccontextmanager
    async def _opened(self, complaints: Complaints) -> AsyncIterator[Client]:
        from httpx2 import AsyncClient, Timeout
        from mcp import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        server = self.server
        if server.url:
            headers = filled_in(server.headers, self._environ)
            # A server may hold its answer open for as long as a call may take.
            timeout = Timeout(START_TIMEOUT, read=max(START_TIMEOUT, server.timeout))
            async with (
                AsyncClient(headers=headers, timeout=timeout) as http,
                Client(streamable_http_client(server.url, http_client=http)) as client,
            ):
                yield client
            return
        parameters = StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env=filled_in(server.env, self._environ),
            cwd=self._folder,
            encoding_error_handler="replace",
        )
        async with Client(stdio_client(parameters, errlog=complaints.pipe)) as client:
            yield client

    async def _gone(self) -> str:
        """The connection has ended by itself: let go of it, so that the next call starts anew."""
        self._leave.set()
        if self._task is not None:
            await asyncio.wait([self._task])
        if self.state != "failed":
            last = await asyncio.to_thread(self._complaints.last_line) if self._complaints is not None else ""
            because = f" ({one_line(last, 200)})" if last else ""
            self._fail(f"The MCP server {self.server.name} went away{because}. It is started again with the next call.")
        return self.problem

    async def _why(self, error: Exception, complaints: Complaints) -> str:
        name = self.server.name
        if isinstance(error, TimeoutError):
            reason = f"did not start within {START_TIMEOUT:g} seconds"
        elif isinstance(error, FileNotFoundError | PermissionError):
            what = self.server.command if error.filename != str(self._folder) else f"the folder {self._folder}"
            reason = f"could not be started: {what} is not there, or not a program"
        else:
            last = await asyncio.to_thread(complaints.last_line)
            reason = f"could not be used: {one_line(last, 200) or _said(error)}"
        return f"The MCP server {name} {reason.rstrip('.')}. Check [mcp.servers.{name}] in the settings."

    def _fail(self, problem: str) -> None:
        self.problem = problem
        self._set("failed")

    def _set(self, state: State) -> None:
        self.state = state
        if state != "failed":
            self.problem = ""
        # The tools of a server that went away stay: calling one starts it again.
        if state in ("off", "starting"):
            self.tools = ()
        self._changed()


async def _all_tools(client: Client) -> tuple[Tool, ...]:
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(tools)


def _said(error: BaseException) -> str:
    """The innermost complaint: the SDK wraps failures in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return one_line(str(error) or type(error).__name__, 200)
