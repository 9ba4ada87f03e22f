"""Replies from every vendor over real HTTP, in its own wire format, through the real litellm."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from memory.compaction import parse_bullets
from sessions.models import (
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
    open_model,
)
from tests.sessions.asking import (
    HELLO,
    RECALL,
    finish_of,
    model_of,
    pieces_of,
    text_of,
)
from tests.vendors import LoopbackVendor, Reply, ToolUse

pytestmark = pytest.mark.filterwarnings("ignore:::pydantic", "ignore:::litellm")


async def test_a_reply_streams_in_pieces_and_ends_with_its_usage(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.say("Tea or coffee?", usage=(1200, 30))
    pieces = await pieces_of(model_of(vendor, tmp_path))
    assert [piece.text for piece in pieces if isinstance(piece, TextDelta)] == ["Tea", " or", " coffee?"]
    finish = finish_of(pieces)
    assert (finish.reason, finish.usage, finish.model) == ("stop", Usage(1200, 30), vendor.model)
    asked = vendor.chats[0].chat
    assert (asked.system, asked.prompt, asked.tools) == ("Be brief.", "hello", ())


@pytest.mark.parametrize(
    ("vendor", "dollars"),
    [("openai", 0.0006), ("anthropic", 0.0035), ("ollama", 0.0)],
    indirect=["vendor"],
)
async def test_a_reply_costs_what_the_price_list_says(vendor: LoopbackVendor, dollars: float, tmp_path: Path) -> None:
    vendor.say("ok", usage=(1000, 500) if vendor.vendor == "anthropic" else (2000, 500))
    finish = finish_of(await pieces_of(model_of(vendor, tmp_path)))
    assert finish.cost == pytest.approx(dollars)


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"], indirect=True)
async def test_what_a_vendor_had_in_its_cache_costs_less(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.say("ok", usage=(10_000, 10))
    vendor.say("ok", usage=(10_000, 10), cached=9_000)
    model = model_of(vendor, tmp_path)
    fresh, cached = [finish_of(await pieces_of(model)) for _ in range(2)]
    assert fresh.usage == cached.usage == Usage(10_000, 10)
    assert fresh.cost is not None
    assert cached.cost is not None
    assert 0 < cached.cost < 0.7 * fresh.cost


async def test_anthropic_is_asked_to_cache_conversations_but_not_single_prompts(tmp_path: Path) -> None:
    with LoopbackVendor("anthropic") as vendor:
        model = model_of(vendor, tmp_path)
        await pieces_of(model)
        await model.complete("once only")
        conversation, prompt = (json.dumps(request.body) for request in vendor.conversations)
        assert conversation.count("cache_control") == 2
        assert "cache_control" not in prompt
        assert vendor.chats[0].chat.prompt == "hello"


async def test_what_a_server_does_not_count_is_not_made_up(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.say("some words", usage=None)
    pieces = await pieces_of(model_of(vendor, tmp_path))
    assert text_of(pieces) == "some words"
    finish = finish_of(pieces)
    assert finish.usage is None
    assert finish.cost == (0.0 if vendor.vendor == "ollama" else None)
    assert len(vendor.chats) == 1


async def test_a_model_without_a_known_price_costs_an_unknown_amount(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        options = vendor.options(tmp_path, chat="openai/no-such-model-in-any-list")
        finish = finish_of(await pieces_of(open_model(options.chat, options)))
        assert finish.usage is not None
        assert finish.cost is None


async def test_odd_but_harmless_frames_change_nothing(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.say("still fine", quirks=True)
    pieces = await pieces_of(model_of(vendor, tmp_path))
    assert text_of(pieces) == "still fine"
    assert finish_of(pieces).reason == "stop"


async def test_tool_calls_are_put_together_from_their_fragments(vendor: LoopbackVendor, tmp_path: Path) -> None:
    asked = [{"question": "What was the port of the staging database?"}, {"question": "Wer hat das gesagt? 什么时候"}]
    vendor.script(Reply("Let me look.", tools=tuple(ToolUse("recall_memory", arguments) for arguments in asked)))
    pieces = await pieces_of(model_of(vendor, tmp_path), tools=[RECALL])
    assert text_of(pieces) == "Let me look."
    calls = [piece for piece in pieces if isinstance(piece, ToolCall)]
    assert [call.name for call in calls] == ["recall_memory", "recall_memory"]
    assert [json.loads(call.arguments) for call in calls] == asked
    assert len({call.id for call in calls}) == 2
    assert finish_of(pieces).reason == "tool_calls"
    assert vendor.chats[0].chat.tools == ("recall_memory",)


async def test_a_tool_answer_goes_back_to_the_model_that_asked(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.use_tool("recall_memory", question="port")
    vendor.say("It was 5433.")
    model = model_of(vendor, tmp_path)
    call = next(piece for piece in await pieces_of(model, tools=[RECALL]) if isinstance(piece, ToolCall))
    asking = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    answered = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [asking]},
        {"role": "tool", "tool_call_id": call.id, "content": "port 5433"},
    ]
    assert text_of(await pieces_of(model, answered, [RECALL])) == "It was 5433."
    roles = [said.role for said in vendor.chats[1].chat.messages]
    assert roles == ["system", "user", "assistant", "tool"]
    assert "port 5433" in vendor.chats[1].chat.messages[-1].text
    assert vendor.chats[1].chat.messages[2].tool_calls[0].arguments == {"question": "port"}


async def test_reasoning_is_kept_apart_from_the_reply(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.say("42", thinking="six times seven")
    pieces = await pieces_of(model_of(vendor, tmp_path))
    assert "".join(piece.text for piece in pieces if isinstance(piece, ReasoningDelta)) == "six times seven"
    assert text_of(pieces) == "42"


async def test_a_reply_that_ran_into_its_limit_says_so(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.say("and then we", finish="length")
    pieces = await pieces_of(model_of(vendor, tmp_path))
    assert (text_of(pieces), finish_of(pieces).reason) == ("and then we", "length")


async def test_replies_that_stream_at_once_do_not_mix(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.reply_with(lambda asked: Reply(" ".join([asked.prompt] * 20), pause=0.001))
    model = model_of(vendor, tmp_path)
    prompts = [f"word{n}" for n in range(6)]
    replies = await asyncio.gather(*(pieces_of(model, [{"role": "user", "content": prompt}]) for prompt in prompts))
    assert [set(text_of(reply).split()) for reply in replies] == [{prompt} for prompt in prompts]


async def test_one_prompt_is_completed_for_the_summarize_seat(vendor: LoopbackVendor, tmp_path: Path) -> None:
    reply = await model_of(vendor, tmp_path).complete("Shorten.\nItems:\n[1] tea at four\n[2] no sugar\n[3] two cups")
    assert parse_bullets(reply, 3) == [("tea at four; no sugar; two cups", (1, 2, 3))]
    assert len(vendor.summaries) == 1


async def test_settings_for_length_and_temperature_are_sent(vendor: LoopbackVendor, tmp_path: Path) -> None:
    await pieces_of(model_of(vendor, tmp_path, temperature=0.25, max_output_tokens=321))
    body = vendor.chats[0].body
    flat = {**body, **body.get("options", {}), **body.get("generationConfig", {})}
    assert flat["temperature"] == 0.25
    assert 321 in (flat.get(name) for name in ("max_tokens", "maxOutputTokens", "max_output_tokens", "num_predict"))


async def test_a_long_monotonous_reply_arrives_whole(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.say("token " * 1_000, usage=(1_000, 500))
    pieces = await pieces_of(model_of(vendor, tmp_path))
    assert text_of(pieces) == "token " * 1_000
    assert finish_of(pieces).usage == Usage(1_000, 500)


async def test_a_prompt_of_five_megabytes_arrives_whole(tmp_path: Path) -> None:
    said = "".join(f"line {n}: [/] \x00 {{}} é\n" for n in range(220_000))
    with LoopbackVendor("openai") as vendor:
        await pieces_of(model_of(vendor, tmp_path), [{"role": "user", "content": said}])
        assert len(said) > 5_000_000
        assert vendor.chats[0].chat.prompt == said
