"""``otto mcp`` and the settings of MCP servers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from otto_tui.cli import cli
from otto_tui.config import load, to_options
from sessions.mcp_servers.settings import McpServer
from tests.sessions.mcp_servers.test_servers import SMALL

PROGRAM = f'command = "{sys.executable}"\nargs = ["-S", "{SMALL}"]\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("OTTO_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["mcp", *arguments])


def set_up(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)


def test_servers_and_their_tools_are_listed(home: Path) -> None:
    set_up(home, f"[mcp.servers.small]\n{PROGRAM}[mcp.servers.other]\nenabled = false\n{PROGRAM}")
    lines = run().output.splitlines()
    assert lines[0].startswith("small: running, ")
    assert "  small__add  The tool add." in lines
    assert lines[-1].startswith("other: not enabled, ")


def test_one_server_is_shown_in_full_also_where_it_is_off(home: Path) -> None:
    set_up(home, f"[mcp.servers.small]\nenabled = false\n{PROGRAM}")
    shown = run("small").output
    assert '{"type": "object", "properties": {"a": {"type": "integer"}' in shown
    assert "small: running" in shown


def test_json_has_a_stable_shape(home: Path) -> None:
    set_up(home, f"[mcp.servers.small]\n{PROGRAM}[mcp.servers.gone]\ncommand = 'no-such-program'\n")
    done = run("--json")
    small, gone = json.loads(done.output)
    assert done.exit_code == 1
    assert set(small) == {"name", "title", "address", "enabled", "state", "problem", "tools"}
    assert small["tools"][0] == {
        "name": "small__add",
        "description": "The tool add.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
    assert (gone["state"], gone["tools"]) == ("failed", [])
    assert "no-such-program is not there" in gone["problem"]


def test_without_servers_it_says_how_to_set_one_up(home: Path) -> None:
    assert "[mcp.servers.files]" in run().output


def test_an_unknown_name_is_a_failure_in_a_sentence(home: Path) -> None:
    set_up(home, f"[mcp.servers.small]\n{PROGRAM}")
    assert "No MCP server is named smal in the settings. There are small." in run("smal").output


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("command = 'x'\nargs = 'not a list'", "so the MCP server s is left out."),
        ("command = 'x'\nurl = 'http://y'", "The MCP server s has both command and url, so it is left out;"),
        ("enabled = true", "The MCP server s has neither command nor url, so it is left out;"),
        ("comand = 'x'", "(did you mean command?), so the MCP server s is left out."),
        ("command = 'x'\nheaders = 'Bearer sk-secret'", "so the MCP server s is left out."),
        ("command = 'x'\ntimeout = -1", "so the MCP server s is left out."),
    ],
)
def test_a_server_that_is_half_set_up_is_left_out_and_said(text: str, sentence: str, home: Path) -> None:
    set_up(home, f"[mcp.servers.s]\n{text}\n[mcp.servers.good]\nurl = 'http://127.0.0.1:1/mcp'\n")
    settings, notices = load(home.parent / "work", {"OTTO_HOME": str(home)})
    options = to_options(settings, home=home, environ={}, chat="offline")
    assert [sentence in notice for notice in notices] == [True]
    assert "sk-secret" not in notices[0]
    assert options.mcp == {"good": McpServer(name="good", url="http://127.0.0.1:1/mcp")}


def test_a_folder_may_not_bring_servers_along(home: Path) -> None:
    folder = home.parent / "work"
    (folder / ".otto").mkdir()
    (folder / ".otto" / "config.toml").write_text(f"[mcp.servers.s]\n{PROGRAM}")
    settings, notices = load(folder, {"OTTO_HOME": str(home)})
    assert not settings.mcp.servers
    assert "mcp left out" in notices[0]
