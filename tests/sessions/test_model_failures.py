"""What goes wrong with a vendor, over real HTTP: one sentence each, and what had come is kept."""

from __future__ import annotations

import asyncio
import contextlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sessions.models import (
    ErrorKind,
    ModelError,
    Piece,
    TextDelta,
    ToolCall,
    open_model,
    preload,
)
from tests.sessions.asking import (
    HELLO,
    KEY,
    RECALL,
    assert_is_a_sentence,
    failing,
    model_of,
    pieces_of,
    text_of,
)
from tests.vendors import Failure, LoopbackVendor, Reply, ToolUse

pytestmark = pytest.mark.filterwarnings("ignore:::pydantic", "ignore:::litellm")


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
    async with contextlib.aclosing(model_of(vendor, tmp_path).stream(HELLO)) as stream:
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


async def test_a_broken_install_is_told_when_a_model_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @cache
    def broken() -> Any:
        raise ImportError("No module named 'litellm'")

    monkeypatch.setattr("sessions.litellm_door.load_for_requests", broken)
    await preload()
    with LoopbackVendor("openai") as vendor:
        _, error = await failing(model_of(vendor, tmp_path))
    assert "install Otto again" in str(error)


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
