"""The rows of the list of tools: groups with how they stand, and their tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screens.painting import Line, Part, Tone, padded
from screens.row_list import Row
from screens.tier_list import COLUMNS_FROM
from screens.wording import counted
from screens.wrapping import shortened, wrapped
from sessions.display import displayable, one_line

if TYPE_CHECKING:
    from sessions.mcp_servers.connection import McpStatus
    from sessions.toolbox import ToolInfo

MCP = "mcp:"

TITLES = {
    "memory": "memory: what was said before",
    "workspace": "workspace: files, for reading only",
    "command": "command: the shell, asked for each time",
}

_NAME_WIDTH = 22

_STATES: dict[str, tuple[str, Tone]] = {
    "off": ("off", "muted"),
    "starting": ("starting …", "plain"),
    "running": ("running", "y"),
    "failed": ("failed", "bad"),
}


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of tools, or an MCP server. Space switches all of it."""

    group: str
    tools: tuple[ToolInfo, ...]
    server: McpStatus | None = None
    selectable: bool = True

    @property
    def key(self) -> str:
        return f"group {self.group}"

    @property
    def on(self) -> bool:
        """Switching it would switch it off."""
        return self.server.state != "off" if self.server is not None else any(tool.enabled for tool in self.tools)

    @property
    def switched(self) -> str:
        """What is switched."""
        return self.group

    def height(self, width: int) -> int:
        return 2 + len(self._problem(width))

    def lines(self, width: int) -> Sequence[Line]:
        state, tone = self._state
        title = Part(one_line(TITLES.get(self.group, self.group), 80), "strong")
        said = [(Part("  "), Part(line, "bad")) for line in self._problem(width)]
        # The gap before it is no part of the row.
        return ((), padded((title,), (Part(state, tone),), width), *said)

    @property
    def _state(self) -> tuple[str, Tone]:
        if self.server is not None:
            state, tone = _STATES[self.server.state]
            count = f", {counted(len(self.tools), 'tool')}" if self.server.state == "running" else ""
            return state + count, tone
        on = sum(tool.enabled for tool in self.tools)
        if on in (0, len(self.tools)):
            return ("on", "y") if on else ("off", "muted")
        return f"{on} of {len(self.tools)} on", "plain"

    def _problem(self, width: int) -> Sequence[str]:
        if self.server is None or self.server.state != "failed":
            return ()
        return wrapped(displayable(self.server.problem, keep_newlines=False), max(width - 2, 1))


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool. Space switches it, enter shows what it takes."""

    tool: ToolInfo
    reachable: bool = True
    """Its server is there to be asked."""
    selectable: bool = True

    @property
    def key(self) -> str:
        return f"tool {self.tool.group} {self.tool.name}"

    @property
    def on(self) -> bool:
        return self.tool.enabled

    @property
    def switched(self) -> str:
        return self.tool.name

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        mark = Part("  on   " if self.tool.enabled else "  off  ", "y" if self.tool.enabled else "muted")
        name = one_line(self.tool.name, 60)
        tone: Tone = "plain" if self.tool.enabled and self.reachable else "muted"
        if width < COLUMNS_FROM:
            return ((mark, Part(shortened(name, max(width - len(mark.text), 1)), tone)),)
        column = f"{name:<{_NAME_WIDTH}}  " if len(name) <= _NAME_WIDTH else f"{name}  "
        about = one_line(self.tool.description[:400], 400)
        return (padded((mark, Part(column, tone), Part(about, "muted")), (), width),)


def tool_rows(tools: Sequence[ToolInfo], servers: Sequence[McpStatus]) -> list[Row]:
    """A row for each group, its tools under it. A server stands there whether it has tools or not."""
    groups: dict[str, list[ToolInfo]] = {}
    for tool in tools:
        groups.setdefault(tool.group, []).append(tool)
    by_group = {f"{MCP}{status.server.name}": status for status in servers}
    rows: list[Row] = []
    for group in dict.fromkeys((*groups, *by_group)):
        server = by_group.get(group)
        members = groups.get(group, [])
        rows.append(GroupRow(group, tuple(members), server))
        rows.extend(ToolRow(tool, server is None or server.state == "running") for tool in members)
    return rows
