"""An MCP server made with the official SDK: ``python sdk_server.py [stdio | PORT]``."""

from __future__ import annotations

import os
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("Example of the SDK")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def die() -> str:
    """End the whole server in the middle of the call."""
    os._exit(3)


if __name__ == "__main__":
    how = sys.argv[1]
    if how == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(how))
