"""Which vendor a name leads to, what is chosen when nobody chose, and which servers run here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.discovery import UsualPlace, find_servers
from sessions.models import default_model, open_model
from sessions.options import OFFLINE, Options
from sessions.pricing import listed_windows
from sessions.vendors import VENDORS, find_target, ollama_address
from tests.vendors import LoopbackVendor


def options(**changes: object) -> Options:
    return Options(**{"home": Path("unused"), "environ": {}, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("environ", "model"),
    [
        ({}, OFFLINE),
        ({"OPENAI_API_KEY": "  "}, OFFLINE),
        ({"OPENAI_API_KEY": "k"}, VENDORS["openai"].default_model),
        ({"GOOGLE_API_KEY": "k"}, VENDORS["gemini"].default_model),
        ({"MISTRAL_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, VENDORS["anthropic"].default_model),
    ],
)
def test_the_default_model_follows_the_keys_that_are_set(environ: dict[str, str], model: str) -> None:
    assert default_model(environ) == model


def test_every_default_model_is_on_the_price_list() -> None:
    known = listed_windows()
    for vendor in VENDORS.values():
        if vendor.default_model and vendor.prefix != "openrouter":
            assert vendor.default_model in known or vendor.default_model.partition("/")[2] in known, vendor


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        ("box", "http://box:11434"),
        (":9999", "http://127.0.0.1:9999"),
        ("[::1]:11434", "http://[::1]:11434"),
        ("https://ollama.example.org", "https://ollama.example.org"),
        ("http://box:11434/", "http://box:11434"),
    ],
)
def test_ollamas_own_variable_may_be_written_in_many_ways(named: str, address: str) -> None:
    assert ollama_address(named) == address


def test_api_base_is_for_the_chat_model_and_its_vendor_only() -> None:
    chosen = options(
        chat="openai/m", api_base="http://127.0.0.1:1/v1", environ={"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    )
    assert find_target("openai/other", chosen).api_base == "http://127.0.0.1:1/v1"
    assert find_target("anthropic/claude-haiku-4-5", chosen).api_base == "https://api.anthropic.com"


@pytest.mark.parametrize(
    ("base", "nearby"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost:1234", True),
        ("http://192.168.1.7:8000/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://studio.local/v1", True),
        ("https://gateway.example.com/v1", False),
        ("https://8.8.8.8/v1", False),
    ],
)
def test_only_servers_nearby_are_asked_what_they_are(base: str, nearby: bool) -> None:
    assert find_target("m", options(chat="m", api_base=base)).nearby is nearby


def test_opening_a_model_asks_for_no_key() -> None:
    assert open_model("openai/gpt-4o-mini", options()).name == "openai/gpt-4o-mini"
    assert open_model(OFFLINE, options()).name == OFFLINE


async def test_servers_that_run_here_are_found_with_their_models() -> None:
    with LoopbackVendor("ollama") as ollama, LoopbackVendor("openai") as studio, LoopbackVendor("openai") as plain:
        listed = {"data": [{"id": "qwen3-8b", "owned_by": "organization_owner"}, {"id": "text-embed"}, {"id": 7}]}
        studio.answer("/v1/models", listed)
        places = (UsualPlace("llama.cpp", studio.api_base), UsualPlace("vLLM", plain.api_base))
        found = await find_servers({"OLLAMA_HOST": ollama.api_base}, places=places, timeout=5.0)
        assert [(server.name, server.api_base) for server in found] == [
            ("Ollama", ollama.api_base),
            ("LM Studio", studio.api_base),
            ("vLLM", plain.api_base),
        ]
        assert found[0].models == ("ollama/llama3.2:latest", "ollama/qwen3:8b")
        assert found[1].models == ("openai/qwen3-8b",)


async def test_where_nothing_answers_or_something_else_does_no_server_is_found() -> None:
    with LoopbackVendor("openai") as other:
        other.answer("/v1/models", "<html>a development server</html>")
        other.answer("/nothing/models", {"models": []})
        gone = f"http://127.0.0.1:{other.port}/nothing"
        places = (UsualPlace("vLLM", other.api_base), UsualPlace("llama.cpp", gone))
        assert await find_servers({"OLLAMA_API_BASE": gone}, places=places, timeout=5.0) == []


LOADS_QUIETLY = """
import json, socket, sys
import sessions.models
early = [name for name in ("litellm", "httpx", "openai", "numpy", "tiktoken", "aiohttp") if name in sys.modules]
reached = []
def refuse(*arguments, **options):
    reached.append(repr(arguments))
    raise OSError("no network here")
socket.getaddrinfo = refuse
socket.socket.connect = refuse
socket.create_connection = refuse
import asyncio
asyncio.run(sessions.models.preload())
print(json.dumps({"early": early, "reached": reached, "loaded": "litellm" in sys.modules}))
"""


def test_litellm_is_loaded_late_and_without_network_or_noise() -> None:
    root = Path(__file__).parents[2]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root), "HOME": "/nonexistent"}
    ran = subprocess.run(
        [sys.executable, "-c", LOADS_QUIETLY], cwd=root, env=environ, capture_output=True, text=True, timeout=300
    )
    assert ran.stderr == ""
    assert json.loads(ran.stdout) == {"early": [], "reached": [], "loaded": True}
