"""Which server a request goes to, with which key, and how much the model there can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.models import (
    ModelError,
    Usage,
    open_model,
)
from sessions.options import Provider
from tests.sessions.asking import (
    KEY,
    assert_is_a_sentence,
    failing,
    finish_of,
    model_of,
    pieces_of,
    text_of,
)
from tests.vendors import Failure, LoopbackVendor, Reply

pytestmark = pytest.mark.filterwarnings("ignore:::pydantic", "ignore:::litellm")


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


async def test_a_server_nearby_is_reached_without_the_proxy(
    vendor: LoopbackVendor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert text_of(await pieces_of(model_of(vendor, tmp_path))) == "Reply 1 to: hello"


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
