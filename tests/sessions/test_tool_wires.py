"""Rounds of tools over each vendor's wire format, streamed, several calls in one reply, with and without ids."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sessions.chat_model import ToolCall, tool_request
from sessions.library import Library
from sessions.options import ToolSettings
from sessions.session import Session
from tests.sessions.asking import HELLO, RECALL, model_of, pieces_of
from tests.sessions.made_tools import MadeTool, give
from tests.vendors import LoopbackVendor, Reply, ToolUse


@asynccontextmanager
async def talking(vendor: LoopbackVendor, home: Path, **settings: Any) -> AsyncIterator[Session]:
    options = vendor.options(home, embedding="none", scale_to_window=False, tools=ToolSettings(**settings))
    session = await Library(options).new("/work/garden")
    give(session, MadeTool("dig"), MadeTool("rake"))
    yield session
    await session.close()


def uses(*calls: tuple[str, int]) -> tuple[ToolUse, ...]:
    return tuple(ToolUse(name, {"n": n}) for name, n in calls)


async def test_several_calls_in_a_reply_and_in_one_after_another(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.script(
        Reply("Let me look.", tools=uses(("dig", 1), ("dig", 2), ("rake", 3))),
        Reply(tools=uses(("rake", 4), ("rake", 5))),
        Reply("All is dug."),
    )
    async with talking(vendor, tmp_path) as session:
        done = await session.send("Dig.")
        assert done.event is not None, done.error
        assert done.event.text == "Let me look.\n\nAll is dug."
        events = [event for event in await session.transcript(limit=100) if event.kind == "tool"]
    assert set(vendor.chats[0].chat.tools) == {"recall_memory", "recall_id", "dig", "rake"}
    last = vendor.chats[-1]
    answers = [said.text for said in last.chat.messages if said.role == "tool"]
    said = ["dig says 1", "dig says 2", "rake says 3", "rake says 4", "rake says 5"]
    assert all(text in answer for text, answer in zip(said, answers, strict=True))
    calls = [(call.name, call.arguments) for said in last.chat.messages for call in said.tool_calls]
    assert calls == [("dig", {"n": 1}), ("dig", {"n": 2}), ("rake", {"n": 3}), ("rake", {"n": 4}), ("rake", {"n": 5})]
    check_pairs(vendor.vendor, last.body)
    asked = [event for event in events if event.role == "assistant"]
    assert len({event.meta["call"] for event in asked}) == 5
    assert [event.refs[0] for event in events if event.role == "tool"] == [event.id for event in asked]


def check_pairs(vendor: str, body: dict[str, Any]) -> None:
    """In the vendor's own format, each call is followed by its own answer."""
    if vendor == "openai":
        asked = [call["id"] for said in body["messages"] for call in said.get("tool_calls") or ()]
        answered = [said["tool_call_id"] for said in body["messages"] if said["role"] == "tool"]
    elif vendor == "anthropic":
        blocks = [block for said in body["messages"] for block in said["content"] if isinstance(block, dict)]
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    elif vendor == "gemini":
        parts = [part for said in body["contents"] for part in said["parts"]]
        asked = [part["function_call"]["name"] for part in parts if "function_call" in part]
        answered = [part["function_response"]["name"] for part in parts if "function_response" in part]
        assert len(asked) == len(answered) == 5
        return
    else:
        roles = [said["role"] for said in body["messages"]]
        assert roles[-7:] == ["assistant", "tool", "tool", "tool", "assistant", "tool", "tool"]
        return
    assert asked == answered
    assert len(set(asked)) == 5


async def test_the_last_request_of_a_turn_has_no_tools_and_is_taken(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.script(Reply(tools=uses(("dig", 1))), Reply(tools=uses(("dig", 2), ("dig", 3))), Reply("Enough."))
    async with talking(vendor, tmp_path, max_calls=2) as session:
        done = await session.send("Dig.")
        assert done.error is None
        assert done.event is not None
        assert done.event.text == "Enough."
    last = vendor.chats[-1].chat
    assert last.tools == ()
    assert "You have called 2 tools" in last.prompt
    assert "dig says 2" in last.text
    assert not any(said.role == "tool" or said.tool_calls for said in last.messages)


@pytest.mark.parametrize("arguments", ["{not json", "[1, 2]", '"text"', "", "{" * 2_000])
async def test_broken_arguments_can_be_sent_back_to_every_vendor(
    vendor: LoopbackVendor, tmp_path: Path, arguments: str
) -> None:
    vendor.say("I see.")
    call = ToolCall("c1", "recall_memory", arguments)
    messages = [*HELLO, tool_request("", [call]), {"role": "tool", "tool_call_id": "c1", "content": "Not valid JSON."}]
    await pieces_of(model_of(vendor, tmp_path), messages, [RECALL])
    (sent,) = vendor.chats[0].chat.messages[2].tool_calls
    assert sent.name == "recall_memory"
    assert isinstance(sent.arguments, dict)
    assert "Not valid JSON." in vendor.chats[0].chat.text


async def test_a_retry_after_tools_is_taken_by_every_vendor(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.script(Reply("Half of ", tools=uses(("dig", 1))), Reply("it", ending="cut"), Reply("It is dug."))
    async with talking(vendor, tmp_path) as session:
        failed = await session.send("Dig.")
        assert failed.error is not None
        again = await session.retry()
        assert again.error is None
        assert again.event is not None
        assert again.event.text == "It is dug."
    asked = vendor.chats[-1].chat
    assert "> dig answered: dig says 1" in asked.prompt
    assert "Half of" not in json.dumps(asked.text)
