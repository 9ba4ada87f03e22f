"""Chat with every vendor over real HTTP, in its own wire format, through the real litellm."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.compaction import parse_bullets
from sessions.models import (
    ChatModel,
    ErrorKind,
    Finished,
    Message,
    ModelError,
    Piece,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
    open_model,
    preload,
)
from sessions.options import Provider
from tests.vendors import Failure, LoopbackVendor, Reply, ToolUse

VENDORS = ("openai", "anthropic", "gemini", "ollama")

pytestmark = pytest.mark.filterwarnings("ignore:::pydantic", "ignore:::litellm")

RECALL = {
    "type": "function",
    "function": {
        "name": "recall_memory",
        "description": "Looks up what was said.",
        "parameters": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
    },
}

HELLO: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]

KEY = "sk-loopback-0123456789"


@pytest.fixture(scope="module", autouse=True)
def _litellm_is_loaded() -> None:
    asyncio.run(preload())


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> Iterator[LoopbackVendor]:
    with LoopbackVendor(request.param) as running:
        yield running


def model_of(vendor: LoopbackVendor, tmp_path: Path, **changes: Any) -> ChatModel:
    changes.setdefault("idle_timeout", 20.0)
    return open_model(vendor.model, vendor.options(tmp_path, **changes))


async def pieces_of(model: ChatModel, messages: list[Message] = HELLO, tools: Any = ()) -> list[Piece]:
    return [piece async for piece in model.stream(messages, tools)]


async def failing(model: ChatModel, tools: Any = ()) -> tuple[str, ModelError]:
    """The text that came before the failure, and the failure."""
    came: list[Piece] = []
    with pytest.raises(ModelError) as caught:
        async for piece in model.stream(HELLO, tools):
            came.append(piece)
    return text_of(came), caught.value


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))


def finish_of(pieces: list[Piece]) -> Finished:
    assert isinstance(pieces[-1], Finished)
    return pieces[-1]


# -- replies that arrive -------------------------------------------------------------------------------------


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


# -- replies that do not -------------------------------------------------------------------------------------

FAILURES: list[tuple[Failure, ErrorKind, str]] = [
    (Failure(401), "auth", "key in |sign in"),
    (Failure(404), "no_model", "has no model"),
    (Failure(429, retry_after=7), "rate", "wait 7 s and retry"),
    (Failure(429), "rate", "wait a minute and retry"),
    (Failure(500), "server", "retry in a moment"),
    (Failure(503, retry_after=30), "server", "wait 30 s and retry"),
    (Failure(529), "server", "retry in a moment"),
    (Failure(400, "too_long"), "too_long", "is longer than .* can read"),
    (Failure(400, "refused"), "refused", "content rules"),
    (Failure(402, "no_credit"), "auth", "no credit left"),
    (Failure(400, message="temperature must be at most 1"), "other", "temperature must be at most 1"),
]


@pytest.mark.parametrize(("failure", "kind", "words"), FAILURES, ids=lambda value: str(value)[:40])
async def test_each_failure_is_one_sentence_to_act_on(
    vendor: LoopbackVendor,
    failure: Failure,
    kind: ErrorKind,
    words: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    vendor.script(failure)
    came, error = await failing(model_of(vendor, tmp_path), [RECALL])
    assert (came, error.kind, error.retry_after) == ("", kind, failure.retry_after)
    assert_is_a_sentence(error)
    assert re.search(words, str(error))
    assert len(vendor.chats) == 1, "the request was repeated without being asked for"
    assert capfd.readouterr() == ("", "")


def assert_is_a_sentence(error: ModelError) -> None:
    sentence = str(error)
    assert sentence[0].isupper() or sentence[0].isdigit()
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert "\n" not in sentence
    assert len(sentence) < 320
    for jargon in ("litellm", "Exception", "Traceback", "{", "b'", "None"):
        assert jargon not in sentence


@pytest.mark.parametrize(
    ("ending", "kind", "words"),
    [
        ("cut", "cut", "before the reply was whole"),
        ("early_end", "cut", "before the reply was whole"),
        ("garbled", "garbled", "not the JSON"),
        ("error", "server", "failed"),
    ],
)
async def test_what_came_before_a_stream_broke_is_kept(
    vendor: LoopbackVendor, ending: Any, kind: ErrorKind, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    vendor.say("one two three four", ending=ending, after=3)
    came, error = await failing(model_of(vendor, tmp_path))
    assert (came, error.kind) == ("one two three", kind)
    assert words in str(error)
    assert_is_a_sentence(error)
    assert capfd.readouterr() == ("", "")


async def test_a_stream_cut_before_its_first_word_is_cut(vendor: LoopbackVendor, tmp_path: Path) -> None:
    for ending in ("cut", "early_end"):
        vendor.script(Reply("nothing of this arrives", ending=ending, after=0))
        came, error = await failing(model_of(vendor, tmp_path))
        assert (came, error.kind) == ("", "cut")


async def test_a_stream_cut_in_the_middle_of_tool_calls_calls_no_tool(vendor: LoopbackVendor, tmp_path: Path) -> None:
    broken = Reply("Wait.", tools=(ToolUse("recall_memory", {"question": "x"}),), ending="early_end", after=2)
    vendor.script(broken)
    came: list[Piece] = []
    with pytest.raises(ModelError) as caught:
        async for piece in model_of(vendor, tmp_path).stream(HELLO, [RECALL]):
            came.append(piece)
    assert caught.value.kind == "cut"
    assert not [piece for piece in came if isinstance(piece, ToolCall)]


async def test_a_stream_that_hangs_is_given_up(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.hang("one two three", after=2)
    came, error = await failing(model_of(vendor, tmp_path, idle_timeout=1.0))
    assert (came, error.kind) == ("one two", "timeout")
    assert "sent nothing for 1 s" in str(error)
    assert_is_a_sentence(error)
    await vendor.dropped()


async def test_a_stream_that_is_slow_but_alive_is_not_given_up(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        vendor.say(" ".join("abcdefghijkl"), pause=0.3)
        pieces = await pieces_of(model_of(vendor, tmp_path, idle_timeout=3.0))
        assert text_of(pieces) == "a b c d e f g h i j k l"


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"], indirect=True)
async def test_a_reply_held_back_by_content_rules_is_not_taken_for_whole(
    vendor: LoopbackVendor, tmp_path: Path
) -> None:
    vendor.say("Once upon", finish="refused")
    came, error = await failing(model_of(vendor, tmp_path))
    assert (came, error.kind) == ("Once upon", "refused")


async def test_stopping_closes_the_connection(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.hang("one two three", after=1)
    arrived: list[Piece] = []

    async def read() -> None:
        async for piece in model_of(vendor, tmp_path).stream(HELLO):
            arrived.append(piece)

    reading = asyncio.create_task(read())
    await vendor.holding()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await vendor.dropped()


async def test_closing_the_iterator_closes_the_connection(vendor: LoopbackVendor, tmp_path: Path) -> None:
    vendor.hang("one two three", after=1)
    async with contextlib.aclosing(model_of(vendor, tmp_path).stream(HELLO)) as stream:  # type: ignore[type-var]
        assert isinstance(await anext(stream), TextDelta)
    await vendor.dropped()


async def test_a_server_that_is_down_is_named_with_what_to_do(vendor: LoopbackVendor, tmp_path: Path) -> None:
    options = vendor.options(tmp_path)
    vendor.__exit__(None, None, None)
    _, error = await failing(open_model(vendor.model, options))
    assert error.kind == "unreachable"
    assert f"127.0.0.1:{vendor.port}" in str(error)
    assert ("`ollama serve`" if vendor.vendor == "ollama" else "start that server") in str(error)
    assert_is_a_sentence(error)


async def test_a_page_of_html_is_not_taken_for_a_reply(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        vendor.answer("/v1/chat/completions", "<html><body>Log in to the guest network</body></html>")
        _, error = await failing(model_of(vendor, tmp_path))
    assert error.kind == "garbled"
    assert_is_a_sentence(error)


# -- secrets -------------------------------------------------------------------------------------------------


async def test_no_key_and_no_password_is_ever_in_a_sentence(vendor: LoopbackVendor, tmp_path: Path) -> None:
    environ = {vendor.wire.key_variable or "UNUSED": KEY}
    base = vendor.api_base.replace("http://", "http://someone:hunter2@")
    options = vendor.options(tmp_path, environ=environ, api_base=base)
    echo = f"key {KEY} at {base} was refused; header was Bearer {KEY}"
    for failure in (Failure(401, message=echo), Failure(400, message=echo), Failure(500, message=echo), Failure(404)):
        vendor.script(failure)
        _, error = await failing(open_model(options.chat, options))
        assert "hunter2" not in str(error)
        assert KEY not in str(error)
        assert "someone" not in str(error)


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"], indirect=True)
async def test_the_key_comes_from_the_options_and_not_from_the_process(
    vendor: LoopbackVendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(vendor.wire.key_variable, "from-the-process")
    await pieces_of(open_model(vendor.model, vendor.options(tmp_path)))
    headers = vendor.chats[0].headers
    sent = {headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key")} | {vendor.chats[0].path}
    assert any("loopback-key" in value for value in sent)
    assert not any("from-the-process" in value for value in sent)


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("gpt-4o-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-flash-latest", "GEMINI_API_KEY"),
        ("mistral/mistral-large-latest", "MISTRAL_API_KEY"),
    ],
)
async def test_a_key_that_is_not_set_is_named_before_anything_is_sent(name: str, variable: str, tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        options = vendor.options(tmp_path, environ={}, chat=name)
        _, error = await failing(open_model(name, options))
        assert error.kind == "auth"
        assert f"{variable} is not set" in str(error)
        assert_is_a_sentence(error)
        assert not vendor.requests


# -- where requests go ---------------------------------------------------------------------------------------


async def test_api_base_leads_each_vendor_elsewhere(vendor: LoopbackVendor, tmp_path: Path) -> None:
    options = vendor.options(tmp_path, environ={}, api_base=vendor.api_base)
    assert text_of(await pieces_of(open_model(vendor.model, options))) == "Reply 1 to: hello"


@pytest.mark.parametrize(
    ("vendor", "variable"),
    [
        ("openai", "OPENAI_BASE_URL"),
        ("openai", "OPENAI_API_BASE"),
        ("anthropic", "ANTHROPIC_BASE_URL"),
        ("anthropic", "ANTHROPIC_API_BASE"),
        ("gemini", "GEMINI_API_BASE"),
        ("ollama", "OLLAMA_API_BASE"),
        ("ollama", "OLLAMA_HOST"),
    ],
    indirect=["vendor"],
)
async def test_the_usual_variables_lead_each_vendor_elsewhere(
    vendor: LoopbackVendor, variable: str, tmp_path: Path
) -> None:
    base = vendor.api_base.removeprefix("http://") if variable == "OLLAMA_HOST" else vendor.api_base
    options = vendor.options(tmp_path, environ={variable: base})
    assert text_of(await pieces_of(open_model(vendor.model, options))) == "Reply 1 to: hello"


@pytest.mark.parametrize("vendor", ["openai", "gemini"], indirect=True)
async def test_an_address_without_a_path_gets_the_usual_one(vendor: LoopbackVendor, tmp_path: Path) -> None:
    options = vendor.options(tmp_path, environ={}, api_base=f"127.0.0.1:{vendor.port}")
    assert text_of(await pieces_of(open_model(vendor.model, options))) == "Reply 1 to: hello"


@pytest.mark.parametrize("name", ["local-model", "Qwen/Qwen3-8B-GGUF"])
async def test_any_name_reaches_a_compatible_server(name: str, tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        options = vendor.options(tmp_path, environ={}, chat=name, api_base=vendor.api_base)
        assert text_of(await pieces_of(open_model(name, options))) == "Reply 1 to: hello"
        assert vendor.chats[0].chat.model == name


async def test_a_provider_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        provider = Provider("den", vendor.api_base)
        options = vendor.options(tmp_path, environ={}, chat="den/org/model:7b", providers={"den": provider})
        finish = finish_of(await pieces_of(open_model(options.chat, options)))
        assert vendor.chats[0].chat.model == "org/model:7b"
        assert (finish.model, finish.cost) == ("den/org/model:7b", None)


async def test_a_provider_with_a_key_gets_it_and_no_other(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        provider = Provider("den", vendor.api_base, "DEN_KEY")
        environ = {"DEN_KEY": "den-secret", "OPENAI_API_KEY": KEY}
        options = vendor.options(tmp_path, environ=environ, chat="den/m", providers={"den": provider})
        await pieces_of(open_model("den/m", options))
        assert vendor.chats[0].headers["authorization"] == "Bearer den-secret"
        _, error = await failing(open_model("den/m", vendor.options(tmp_path, environ={}, providers={"den": provider})))
        assert "DEN_KEY is not set" in str(error)


async def test_a_vendor_that_only_litellm_knows_well_works_too(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        environ = {"MISTRAL_API_KEY": KEY}
        options = vendor.options(
            tmp_path, environ=environ, chat="mistral/mistral-large-latest", api_base=vendor.api_base, idle_timeout=20.0
        )
        model = open_model(options.chat, options)
        vendor.script(
            Reply("bon", usage=(10, 5)),
            Failure(401),
            Failure(429, retry_after=3),
            Reply("un deux trois quatre", ending="early_end"),
        )
        pieces = await pieces_of(model)
        assert (text_of(pieces), finish_of(pieces).usage) == ("bon", Usage(10, 5))
        for kind in ("auth", "rate", "cut"):
            _, error = await failing(model)
            assert error.kind == kind
            assert_is_a_sentence(error)


async def test_a_name_of_no_known_vendor_says_how_to_write_it(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        _, error = await failing(open_model("wizard-99", vendor.options(tmp_path, environ={}, chat="wizard-99")))
    assert error.kind == "no_model"
    assert "VENDOR/MODEL" in str(error)
    assert_is_a_sentence(error)


@pytest.mark.parametrize("name", ["", "  ", "openai/", "/gpt", "openai/ "])
def test_a_name_that_makes_no_sense_is_refused_at_once(name: str, tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor, pytest.raises(ModelError, match="names no model"):
        open_model(name, vendor.options(tmp_path))


async def test_an_address_that_is_none_is_refused_with_an_example(tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        for address in ("ftp://127.0.0.1", "http://", "http://host:notaport/v1"):
            options = vendor.options(tmp_path, environ={}, api_base=address)
            _, error = await failing(open_model(options.chat, options))
            assert error.kind == "unreachable"
            assert "is not an address" in str(error)


# -- how much a model reads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vendor", "window"),
    [("openai", 128_000), ("anthropic", 200_000), ("gemini", 1_048_576), ("ollama", 16_384)],
    indirect=["vendor"],
)
async def test_the_window_is_known_without_a_request(vendor: LoopbackVendor, window: int, tmp_path: Path) -> None:
    assert await model_of(vendor, tmp_path).window() == window
    assert not vendor.chats


async def test_ollama_is_asked_for_the_window_that_otto_counts_on(tmp_path: Path) -> None:
    with LoopbackVendor("ollama") as vendor:
        await pieces_of(model_of(vendor, tmp_path))
        assert vendor.chats[-1].body["options"]["num_ctx"] == 16_384
        asked = vendor.options(tmp_path, environ={**vendor.environ, "OLLAMA_CONTEXT_LENGTH": "65536"})
        await pieces_of(open_model(vendor.model, asked))
        assert vendor.chats[-1].body["options"]["num_ctx"] == 65_536
        vendor.answer("/api/show", {"model_info": {"gemma.context_length": 8192}, "parameters": "stop x"})
        await pieces_of(model_of(vendor, tmp_path))
        assert vendor.chats[-1].body["options"]["num_ctx"] == 8_192
        vendor.answer("/api/show", {"model_info": {}, "parameters": "num_ctx                        4096"})
        model = model_of(vendor, tmp_path)
        await pieces_of(model)
        assert "num_ctx" not in vendor.chats[-1].body.get("options", {})
        assert await model.window() == 4_096


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/v1/models", {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 32_768}]}),
        ("/api/v0/models", {"data": [{"id": "m", "loaded_context_length": 32_768, "max_context_length": 131_072}]}),
        ("/props", {"default_generation_settings": {"n_ctx": 32_768}}),
        ("/v1/models", {"data": [{"id": "m", "context_length": 32_768}]}),
    ],
)
async def test_a_server_of_ones_own_is_asked_how_much_its_model_reads(path: str, content: Any, tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        vendor.answer(path, content)
        options = vendor.options(tmp_path, environ={}, chat="m", api_base=vendor.api_base)
        assert await open_model("m", options).window() == 32_768


@pytest.mark.parametrize("content", [[], "text", {"data": 3}, {"data": [{"id": "m", "max_model_len": "lots"}]}, None])
async def test_a_server_that_tells_no_window_leaves_it_unknown(content: Any, tmp_path: Path) -> None:
    with LoopbackVendor("openai") as vendor:
        vendor.answer("/v1/models", content)
        options = vendor.options(tmp_path, environ={}, chat="m", api_base=vendor.api_base)
        assert await open_model("m", options).window() is None


# -- long ones -----------------------------------------------------------------------------------------------


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
