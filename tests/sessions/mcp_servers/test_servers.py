"""MCP servers over the official SDK: real processes, real HTTP."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sessions.chat_model import ToolCall
from sessions.events import Notice, SessionEvent
from sessions.mcp_servers import connection as connections
from sessions.mcp_servers.servers import McpServers
from sessions.mcp_servers.settings import McpServer
from sessions.mcp_servers.tools import LONGEST_NAME
from sessions.toolbox import CallContext, ToolAnswer, Toolbox

SMALL = Path(__file__).with_name("small_server.py")
MADE_WITH_SDK = Path(__file__).with_name("sdk_server.py")
PATIENCE = 300.0


def example(name: str = "example", *, timeout: float = PATIENCE, **more: object) -> McpServer:
    return McpServer(name=name, command=sys.executable, args=("-S", str(SMALL)), timeout=timeout, **more)  # type: ignore[arg-type]


@asynccontextmanager
async def running(*servers: McpServer, folder: Path, environ: dict[str, str] | None = None) -> AsyncIterator[Started]:
    told: list[SessionEvent] = []
    several = McpServers(servers, folder, environ or {}, told.append)
    several.start()
    await several.ready(PATIENCE)
    try:
        yield Started(several, told)
    finally:
        await several.close()


class Started:
    """Servers, what they told, and calls as a turn makes them."""

    def __init__(self, servers: McpServers, told: list[SessionEvent]) -> None:
        self.servers = servers
        self.told = told

    async def call(self, name: str, arguments: str = "{}") -> ToolAnswer:
        context = CallContext("1", self.told.append, None)
        return await Toolbox(self.servers.tools()).answer(ToolCall("1", name, arguments), context)

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.told if isinstance(event, Notice)]


async def test_a_tool_of_a_program_is_listed_and_called(tmp_path: Path) -> None:
    async with running(example(), folder=tmp_path) as started:
        (status,) = started.servers.status()
        assert (status.state, status.title) == ("running", "Example")
        assert "example__add" in status.tools
        assert (await started.call("example__add", '{"a": 2, "b": 3}')).text == "5"
        answer = await started.call("example__picture")
        assert answer.text == "here it is\n\n[image: 30 bytes of image/png, not shown]"
        assert answer.summary.endswith("1 image")
    assert started.servers.status()[0].state == "off"


async def test_what_a_tool_gets_wrong_is_told_to_the_model(tmp_path: Path) -> None:
    async with running(example(), folder=tmp_path) as started:
        wrong = await started.call("example__add", '{"a": "two"}')
        assert not wrong.ok
        assert "The arguments of example__add were wrong" in wrong.text
        failed = await started.call("example__fail")
        assert not failed.ok
        assert failed.text == "there is no cheese"
        garbled = await started.call("example__garble")
        assert not garbled.ok
        assert "does not fit the protocol" in garbled.text


async def test_a_server_that_dies_in_a_call_costs_that_call_only(tmp_path: Path) -> None:
    async with running(example(), folder=tmp_path) as started:
        died = await started.call("example__die")
        assert not died.ok
        assert "went away (out of cheese)" in died.text
        assert any("went away" in notice for notice in started.notices)
        assert started.servers.status()[0].state == "failed"
        assert (await started.call("example__add", '{"a": 1, "b": 1}')).text == "2"
        assert started.servers.status()[0].state == "running"


async def test_a_tool_that_never_answers_ends_at_its_limit(tmp_path: Path) -> None:
    async with running(example(timeout=1.0), folder=tmp_path) as started:
        hung = await started.call("example__hang")
        assert not hung.ok
        assert "gave no answer in 1 seconds" in hung.text
        assert started.servers.status()[0].state == "running"


async def test_a_call_can_be_stopped(tmp_path: Path) -> None:
    async with running(example(), folder=tmp_path) as started:
        call = asyncio.create_task(started.call("example__hang"))
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await started.call("example__add", '{"a": 4, "b": 4}')).text == "8"


async def test_a_server_that_floods_standard_error_goes_on(tmp_path: Path) -> None:
    async with running(example(), folder=tmp_path) as started:
        assert (await started.call("example__shout")).text == "done"


async def test_no_key_of_the_person_reaches_a_server_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-tell")
    server = example(env={"CHEESE_TOKEN": "it is ${MY_TOKEN}"})
    async with running(server, folder=tmp_path, environ={"MY_TOKEN": "brie"}) as started:
        assert (await started.call("example__secret", '{"name": "OPENAI_API_KEY"}')).text == "not set"
        assert (await started.call("example__secret", '{"name": "CHEESE_TOKEN"}')).text == "it is brie"


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (McpServer(name="bad", command="no-such-program-anywhere"), "no-such-program-anywhere is not there"),
        (McpServer(name="bad", command=sys.executable, args=("-c", "raise SystemExit('no cheese')")), "no cheese"),
        (McpServer(name="bad", command="cat", env={"KEY": "${NOT_SET}"}), "variable NOT_SET is not set"),
        (McpServer(name="bad", url="http://127.0.0.1:9/mcp"), "could not be used"),
    ],
)
async def test_a_server_that_cannot_start_is_one_sentence(server: McpServer, why: str, tmp_path: Path) -> None:
    async with running(server, folder=tmp_path) as started:
        (status,) = started.servers.status()
        assert status.state == "failed"
        assert why in status.problem
        assert status.problem.endswith("Check [mcp.servers.bad] in the settings.")
        assert started.notices == [status.problem]
        assert not started.servers.tools()


async def test_a_program_that_is_no_server_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "START_TIMEOUT", 0.5)
    async with running(McpServer(name="slow", command="sleep", args=("1000",)), folder=tmp_path) as started:
        assert "did not start within 0.5 seconds" in started.servers.status()[0].problem


async def test_one_that_is_off_starts_when_it_is_switched_on(tmp_path: Path) -> None:
    async with running(example(enabled=False), folder=tmp_path) as started:
        assert started.servers.status()[0].state == "off"
        assert not started.servers.tools()
        await started.servers.switch("example", True)
        await started.servers.ready(PATIENCE)
        assert (await started.call("example__add", '{"a": 1, "b": 2}')).text == "3"
        await started.servers.switch("example", False)
        assert not started.servers.tools()


async def test_names_are_what_every_vendor_takes_and_no_two_are_alike(tmp_path: Path) -> None:
    odd = "a name with spaces, ümlauts and more letters than any vendor takes in the name of a tool"
    async with running(example(odd), example(odd + "!"), folder=tmp_path) as started:
        names = [tool.name for tool in started.servers.tools()]
        assert len(set(names)) == len(names) == 16
        assert all(len(name) <= LONGEST_NAME and name.replace("-", "_").isidentifier() for name in names)
        assert all(name.isascii() for name in names)


async def test_a_program_made_with_the_sdk(tmp_path: Path) -> None:
    server = McpServer(name="sdk", command=sys.executable, args=(str(MADE_WITH_SDK), "stdio"), timeout=PATIENCE)
    async with running(server, folder=tmp_path) as started:
        assert started.servers.status()[0].title == "Example of the SDK"
        assert (await started.call("sdk__add", '{"a": 2, "b": 3}')).text == "5"


@pytest.fixture
def address() -> Iterator[str]:
    """An MCP server over HTTP in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(MADE_WITH_SDK), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while True:
            assert process.poll() is None
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def test_a_tool_over_http_is_listed_and_called(address: str, tmp_path: Path) -> None:
    async with running(McpServer(name="web", url=address, timeout=PATIENCE), folder=tmp_path) as started:
        assert (await started.call("web__add", '{"a": 20, "b": 3}')).text == "23"
        died = await started.call("web__die")
        assert not died.ok
        assert "web" in died.text
