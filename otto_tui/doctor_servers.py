"""Which model servers answer: those that the settings name, and those usual on one's own machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from otto_tui.crash import without_keys
from otto_tui.doctor import Finding
from otto_tui.prepared import Prepared
from otto_tui.vendors import ollama_address, ollama_models

if TYPE_CHECKING:
    import httpx

SECONDS = 1.0
MOST_NAMED = 5

USUAL = {"LM Studio": "http://127.0.0.1:1234/v1", "llama.cpp": "http://127.0.0.1:8080/v1"}
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


async def server_findings(prepared: Prepared) -> list[Finding]:
    """A finding for each server that is named, answering or not, and for each usual one that answers.

    No key is sent along.
    """
    import httpx

    options = prepared.options
    named = {f"provider {name}": provider.api_base for name, provider in options.providers.items()}
    if options.api_base is not None:
        named["model.api_base"] = options.api_base
    async with (
        httpx.AsyncClient(timeout=SECONDS, trust_env=False) as near,
        httpx.AsyncClient(timeout=SECONDS) as far,
    ):

        async def ask(address: str) -> str | None:
            return await _models_at(near if urlsplit(address).hostname in LOOPBACK else far, address)

        ollama = ollama_address(options.environ)
        answers = await asyncio.gather(*map(ask, named.values()), *map(ask, USUAL.values()))
        found = await asyncio.to_thread(ollama_models, ollama)
    findings = [
        _named(name, address, answer, needed=name == "model.api_base" or options.chat.startswith(f"{name[9:]}/"))
        for (name, address), answer in zip(named.items(), answers, strict=False)
    ]
    findings += [
        Finding("server", name, f"{address} answers, {answer}")
        for (name, address), answer in zip(USUAL.items(), answers[len(named) :], strict=True)
        if answer is not None
    ]
    if found:
        findings.append(Finding("server", "Ollama", f"{ollama} answers, {_list(found)}"))
    return findings or [Finding("server", "local servers", "none found")]


def _named(name: str, address: str, answer: str | None, *, needed: bool) -> Finding:
    shown = without_keys(address, {})
    if answer is not None:
        return Finding("server", name, f"{shown} answers, {answer}")
    return Finding("server", name, f"{shown} does not answer", "broken" if needed else "note")


async def _models_at(client: httpx.AsyncClient, address: str) -> str | None:
    """What an OpenAI-compatible server has, in a few words; None when nobody answers."""
    import httpx

    try:
        response = await client.get(f"{address.rstrip('/')}/models")
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    if response.status_code in (401, 403):
        return "and wants a key"
    try:
        body: Any = response.json()
        return _list([str(model["id"]) for model in body["data"]])
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"with status {response.status_code}"


def _list(models: Any) -> str:
    names = list(models)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"with {', '.join(names[:MOST_NAMED])}{more}" if names else "without a model"
