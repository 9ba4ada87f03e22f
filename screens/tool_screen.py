"""One tool, or one MCP server, looked at: what it is for, what it takes, where it runs, what went wrong last."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from screens.passage import Block, Passage
from screens.tool_rows import GroupRow, ToolRow
from screens.wording import counted
from sessions.display import displayable, one_line

if TYPE_CHECKING:
    from sessions.mcp_servers.connection import McpStatus
    from sessions.toolbox import ToolInfo

LONGEST_SCHEMA = 50_000
"""Characters of a schema that are shown."""


class ToolScreen(ModalScreen[None]):
    """Shows it as it was when it was opened."""

    BINDING_GROUP_TITLE = "One tool"
    CSS_PATH = "tools_screen.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close"),
        Binding("c", "copy", "Copy"),
    ]

    def __init__(self, row: GroupRow | ToolRow) -> None:
        super().__init__()
        self._row = row

    def compose(self) -> ComposeResult:
        row = self._row
        name = row.tool.name if isinstance(row, ToolRow) else row.group
        with Vertical():
            yield Static(one_line(name, 200), id="tool-title", markup=False)
            yield Static(_state(row), id="tool-state", markup=False)
            yield Passage(id="tool-text")
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        text = self.query_one(Passage)
        row = self._row
        blocks = tool_blocks(row.tool) if isinstance(row, ToolRow) else group_blocks(row)
        text.set_blocks(list(blocks))
        text.focus()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.query_one(Passage).text)


def _state(row: GroupRow | ToolRow) -> str:
    if isinstance(row, ToolRow):
        return f"{'on' if row.on else 'off'}, of the group {one_line(row.tool.group, 80)}"
    if row.server is not None:
        title = one_line(row.server.title, 80)
        return f"MCP server{f', {title}' if title else ''}, {row.server.state}"
    return f"{counted(len(row.tools), 'tool')}, {sum(tool.enabled for tool in row.tools)} on"


def tool_blocks(tool: ToolInfo) -> Iterator[Block]:
    """What the model is told of the tool."""
    yield Block(displayable(tool.description) or "It does not say what it is for.")
    yield Block("")
    yield Block("Arguments", "x", heading=True)
    properties = tool.parameters.get("properties")
    if isinstance(properties, Mapping) and properties:
        required = tool.parameters.get("required") or ()
        for name, wanted in properties.items():
            yield from _argument(str(name), wanted, needed=name in required)
    else:
        yield Block("none", "muted")
    yield Block("")
    yield Block("Schema", "x", heading=True)
    schema = json.dumps(tool.parameters, indent=2, ensure_ascii=False, default=str)
    yield Block(displayable(schema[:LONGEST_SCHEMA]), "muted")


def _argument(name: str, wanted: Any, *, needed: bool) -> Iterator[Block]:
    facts = wanted if isinstance(wanted, Mapping) else {}
    kind = facts.get("type", "any")
    kinds = " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    said = f"{one_line(name, 80)}: {one_line(kinds, 80)}{'' if needed else ', optional'}"
    yield Block(said, "strong")
    if facts.get("description"):
        yield Block(displayable(str(facts["description"])), indent=2)


def group_blocks(row: GroupRow) -> Iterator[Block]:
    """A server's address and last error, and the tools of the group."""
    if row.server is not None:
        yield from _server_blocks(row.server)
    yield Block(counted(len(row.tools), "tool").capitalize(), "x", heading=True)
    for tool in row.tools:
        yield Block(one_line(tool.description[:400], 400), label=f"{one_line(tool.name, 60)}  ", label_tone="strong")
    if not row.tools:
        yield Block("None are known while it is not running.", "muted")


def _server_blocks(status: McpStatus) -> Iterator[Block]:
    server = status.server
    yield Block("Address" if server.url else "Command", "x", heading=True)
    yield Block(displayable(server.address))
    given = ", ".join((*server.env, *server.headers))
    if given:
        # Names only: values may be keys.
        yield Block(one_line(given, 400), "muted", label="with ")
    yield Block("")
    if status.problem:
        yield Block("Last error", "bad", heading=True)
        yield Block(displayable(status.problem))
        yield Block("")
