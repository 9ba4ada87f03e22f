"""MCP tools under names that every vendor takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.chat_model import ToolSpec
from sessions.mcp_servers.answers import answer_summary, answer_text
from sessions.mcp_servers.connection import McpConnection
from sessions.toolbox import CallContext, ToolAnswer

if TYPE_CHECKING:
    from mcp_types import Tool as ListedTool

LONGEST_NAME = 64
"""Letters that OpenAI, Anthropic and Gemini allow in a tool's name."""

LONGEST_DESCRIPTION = 1_024

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool of one server."""

    connection: McpConnection
    listed: ListedTool
    name: str
    """As the model knows it: ``server__tool``."""

    @property
    def spec(self) -> ToolSpec:
        described = " ".join((self.listed.description or self.listed.title or self.listed.name).split())
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": described[:LONGEST_DESCRIPTION],
                "parameters": {"type": "object", "properties": {}} | self.listed.input_schema | {"type": "object"},
            },
        }

    @property
    def group(self) -> str:
        return f"mcp:{self.connection.server.name}"

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        """Raises ``McpFailed``."""
        result = await self.connection.call(self.listed.name, arguments)
        text = answer_text(result)
        return ToolAnswer(text, answer_summary(result, text), ok=not result.is_error)


def tools_of(connections: Iterable[McpConnection]) -> tuple[McpTool, ...]:
    """Every tool of every running server, each under a name of its own."""
    taken: set[str] = set()
    tools: list[McpTool] = []
    for connection in connections:
        for listed in connection.tools:
            name = _free(f"{connection.server.name}__{listed.name}", taken)
            taken.add(name)
            tools.append(McpTool(connection, listed, name))
    return tuple(tools)


def _free(wanted: str, taken: set[str]) -> str:
    allowed = _NOT_IN_A_NAME.sub("_", wanted)
    name, number = allowed[:LONGEST_NAME], 1
    while name in taken:
        number += 1
        suffix = f"_{number}"
        name = allowed[: LONGEST_NAME - len(suffix)] + suffix
    return name
