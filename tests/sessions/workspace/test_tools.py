"""The workspace's tools as a model meets them: through a toolbox, at the same time, and cancelled in the middle."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sessions.chat_model import ToolCall
from sessions.events import SessionEvent
from sessions.toolbox import CallContext, ToolAnswer, Toolbox
from sessions.workspace.threads import Stop, WorkStopped, in_thread
from sessions.workspace.tool import WorkspaceTool, function_spec
from sessions.workspace.tools import workspace_tools


def told(event: SessionEvent) -> None:
    raise AssertionError(f"nothing is told: {event}")


CONTEXT = CallContext("call_1", told, None)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("call_1", name, json.dumps(arguments))


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    (tmp_path / "a.txt").write_text("hello\n")
    return Toolbox(workspace_tools(tmp_path, (tmp_path / ".otto",)))


async def test_each_tool_answers_its_call(toolbox: Toolbox) -> None:
    assert toolbox.names == ("read_file", "list_files", "search_files")
    read, listed, found = await asyncio.gather(
        toolbox.answer(call("read_file", path="a.txt", start=1, lines=1), CONTEXT),
        toolbox.answer(call("list_files", path=".", pattern="*.txt", depth=2), CONTEXT),
        toolbox.answer(
            call("search_files", pattern="HEL", path=".", glob="*", regex=False, ignore_case=True, context=1), CONTEXT
        ),
    )
    assert read.summary == "read a.txt, line 1 of 1, 5 bytes"
    assert listed.summary == "listed .: 1 file matching *.txt"
    assert found.summary == "searched HEL: 1 hit in 1 of 1 file, 6 bytes read"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (call("read_file", path="../x"), "is outside of the workspace"),
        (call("read_file"), "path"),
        (call("read_file", path="a.txt", start=0), "minimum"),
        (call("read_file", path="a.txt", color=True), "color"),
        (call("read_file", path=7), "string"),
        (call("search_files", pattern="("), "not a regular expression"),
        (call("list_files", path="a.txt"), "a.txt"),
    ],
)
async def test_a_call_that_makes_no_sense_is_answered_with_why(toolbox: Toolbox, asked: ToolCall, words: str) -> None:
    answer = await toolbox.answer(asked, CONTEXT)
    assert not answer.ok
    assert words in answer.text
    assert "\n" not in answer.summary


async def test_cancelling_a_tool_that_never_returns_stops_its_thread() -> None:
    began, ended = threading.Event(), threading.Event()

    def forever(arguments: Mapping[str, Any], stop: Stop) -> ToolAnswer:
        began.set()
        try:
            assert stop.wait(60), "nobody stopped it"
            raise WorkStopped
        finally:
            ended.set()

    tool = WorkspaceTool(function_spec("hang", "Hangs.", ()), forever)
    task = asyncio.create_task(Toolbox((tool,)).answer(call("hang"), CONTEXT))
    assert await asyncio.to_thread(began.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 60)


async def test_what_work_raises_comes_to_the_caller() -> None:
    def broken(stop: Stop) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await in_thread(broken)


async def test_work_that_never_ends_takes_no_thread_from_others() -> None:
    released = threading.Event()

    def forever(stop: Stop) -> None:
        assert released.wait(60)

    hanging = [asyncio.create_task(in_thread(forever)) for _ in range(50)]
    assert await asyncio.to_thread(lambda: "written") == "written"
    assert await in_thread(lambda stop: "read") == "read"
    released.set()
    await asyncio.gather(*hanging)
