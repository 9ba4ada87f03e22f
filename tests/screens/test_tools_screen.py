"""The list of tools: groups, servers and how they stand, what is switched, and one tool looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.errors import OttoError
from screens.passage import Passage
from screens.row_list import RowList
from screens.tool_rows import GroupRow, ToolRow
from screens.tool_screen import ToolScreen
from screens.tools_screen import ToolsScreen
from sessions.mcp_servers.connection import McpStatus
from sessions.mcp_servers.settings import McpServer
from sessions.toolbox import ToolInfo
from tests.screens.fakes import FakeSession
from tests.screens.stage import DARK, HOSTILE, LOOKS, WIDE, SnapCompare, Stage, is_safe, settle, shown, until

PATH = {"type": "string", "description": "Below the workspace."}
READ = ToolInfo(
    "read_file",
    "workspace",
    "Read a text file of the workspace, or some of its lines.",
    True,
    {
        "type": "object",
        "properties": {"path": PATH, "first_line": {"type": "integer"}, "odd": {"type": ["string", "null"]}},
        "required": ["path"],
    },
)
TOOLS = [
    ToolInfo("recall_memory", "memory", "Search everything said earlier in this conversation.", True),
    ToolInfo("recall_id", "memory", "Look up an id that stands in brackets.", True),
    READ,
    ToolInfo("list_files", "workspace", "List files and folders of the workspace.", False),
    ToolInfo("run_command", "command", "Run a command in the shell.", False),
    ToolInfo("github_search_issues_and_pull_requests", "mcp:github", "Search issues.", True),
]
KEY = "sk-not-to-be-shown"
GITHUB = McpServer(name="github", command="npx", args=("-y", "github-mcp"), env={"GITHUB_TOKEN": KEY})
WIKI = McpServer(name="wiki", url="http://127.0.0.1:9/mcp", headers={"Authorization": f"Bearer {KEY}"})
SERVERS = [
    McpStatus(GITHUB, "running", ("github_search_issues_and_pull_requests",), title="GitHub MCP"),
    McpStatus(WIKI, "failed", problem="The MCP server wiki at http://127.0.0.1:9/mcp could not be reached."),
    McpStatus(McpServer(name="notes", command="notes-server", enabled=False), "off"),
]


def garden() -> FakeSession:
    session = FakeSession()
    session.scripted_tools, session.scripted_servers = list(TOOLS), list(SERVERS)
    return session


def stage(session: FakeSession, theme: str = DARK) -> Stage:
    return Stage(screen=lambda: ToolsScreen(session), theme=theme)


async def test_tools_stand_under_their_groups_and_servers_with_their_state() -> None:
    app = stage(garden())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        lines = [" ".join(line.strip("│ ").split()) for line in shown(app).splitlines()]
        assert "memory: what was said before on" in lines
        assert "workspace: files, for reading only 1 of 2 on" in lines
        assert "command: the shell, asked for each time off" in lines
        assert "mcp:github running, 1 tool" in lines
        assert "mcp:wiki failed" in lines
        assert "The MCP server wiki at http://127.0.0.1:9/mcp could not be reached." in lines
        assert "mcp:notes off" in lines
        assert any(line.startswith("on read_file Read a text file") for line in lines)
        assert any(line.startswith("off run_command") for line in lines)


@pytest.mark.parametrize(
    ("key", "switched"),
    [
        ("tool workspace read_file", ("read_file", False)),
        ("tool command run_command", ("run_command", True)),
        ("group memory", ("memory", False)),
        ("group workspace", ("workspace", False)),
        ("group command", ("command", True)),
        ("group mcp:github", ("mcp:github", False)),
        ("group mcp:notes", ("mcp:notes", True)),
    ],
)
async def test_space_switches_what_the_cursor_stands_on(key: str, switched: tuple[str, bool]) -> None:
    session = garden()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        rows = app.screen.query_one(RowList)
        assert rows.select_key(key)
        await pilot.press("space")
        await until(pilot, lambda: session.calls == [("switch_tool", switched)])
        await settle(pilot)
        row = rows.current
        assert isinstance(row, GroupRow | ToolRow)
        assert row.key == key
        assert row.on is switched[1]


async def test_what_cannot_be_switched_is_said() -> None:
    session = garden()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        session.next_failure = OttoError("The session is open elsewhere.")
        await pilot.press("space")
        await until(pilot, lambda: app._notifications)
        assert [said.message for said in app._notifications] == ["The session is open elsewhere."]


async def test_a_server_that_comes_up_by_itself_shows() -> None:
    session = garden()
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        session.scripted_servers[1] = replace(SERVERS[1], state="running", problem="")
        await until(pilot, lambda: "mcp:wiki" in shown(app) and "failed" not in shown(app))


async def test_enter_shows_what_a_tool_is_for_and_what_it_takes() -> None:
    app = stage(garden())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.screen.query_one(RowList).select_key("tool workspace read_file")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ToolScreen))
        await settle(pilot)
        text = app.screen.query_one(Passage).text
        assert READ.description in text
        assert "path: string\n  Below the workspace." in text
        assert "first_line: integer, optional" in text
        assert "odd: string or null, optional" in text
        assert '"required": [' in text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ToolsScreen))


async def test_a_server_shows_its_command_or_address_and_its_last_error_and_no_key() -> None:
    app = stage(garden())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for key, wanted in (
            ("group mcp:github", ("npx -y github-mcp", "with GITHUB_TOKEN")),
            ("group mcp:wiki", ("http://127.0.0.1:9/mcp", "with Authorization", "could not be reached")),
        ):
            app.screen.query_one(RowList).select_key(key)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, ToolScreen))
            await settle(pilot)
            text = app.screen.query_one(Passage).text
            assert all(part in text for part in wanted)
            assert KEY not in text
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, ToolsScreen))


async def test_what_a_server_says_of_itself_never_commands_the_terminal() -> None:
    session = FakeSession()
    odd = {"properties": {HOSTILE: {"type": HOSTILE, "description": HOSTILE}, "n": 3}, "required": None}
    session.scripted_tools = [ToolInfo(HOSTILE, f"mcp:{HOSTILE}", HOSTILE, True, odd)]
    session.scripted_servers = [McpStatus(McpServer(name=HOSTILE, command=HOSTILE), "failed", (), HOSTILE, HOSTILE)]
    app = stage(session)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "[bold]x[/]" in shown(app)
        assert is_safe(shown(app))
        for _ in range(2):
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, ToolScreen))
            await settle(pilot)
            assert is_safe(shown(app))
            await pilot.press("escape", "down")


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_picture_of_the_tools(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    assert snap_compare(stage(garden(), theme=theme), terminal_size=size)


@pytest.mark.parametrize("key", ["tool workspace read_file", "group mcp:wiki"], ids=["tool", "server"])
def test_picture_of_one_tool(snap_compare: SnapCompare, key: str) -> None:
    app = stage(garden())

    async def look(pilot: object) -> None:
        app.screen.query_one(RowList).select_key(key)
        app.screen.query_one(RowList).action_open()

    assert snap_compare(app, terminal_size=(80, 24), run_before=look)
