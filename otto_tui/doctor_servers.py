"""Which model servers answer: those that the settings name, and those usual on one's own machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from otto_tui.crash import without_keys
from otto_tui.doctor import Finding, State
from otto_tui.prepared import Prepared
from sessions.discovery import USUAL_PLACES, UsualPlace, find_servers

if TYPE_CHECKING:
    import httpx

SECONDS = 1.0
MOST_NAMED = 5


async def server_findings(prepared: Prepared, places: Sequence[UsualPlace] = USUAL_PLACES) -> list[Finding]:
    """A finding for each server that is named, answering or not, and for each usual one that answers.

    No key is sent along.
    """
    named, usual = await asyncio.gather(
        _named(prepared), find_servers(prepared.options.environ, places=places, timeout=SECONDS)
    )
    findings = named + [
        Finding("server", server.name, f"{server.api_base} answers, {_list(server.models)}") for server in usual
    ]
    return findings or [Finding("server", "local servers", "none found")]


async def _named(prepared: Prepared) -> list[Finding]:
    import httpx

    options = prepared.options
    addresses = {f"provider {name}": provider.api_base for name, provider in options.providers.items()}
    needed = {f"provider {options.chat.partition('/')[0]}", "api_base"}
    if options.api_base is not None:
        addresses["api_base"] = options.api_base
    # A proxy is for hosts elsewhere; a server of one's own is asked as it stands.
    async with httpx.AsyncClient(timeout=SECONDS, trust_env=_any_https(addresses)) as client:
        answers = await asyncio.gather(*(_answer(client, address) for address in addresses.values()))
    findings = []
    for (name, address), answer in zip(addresses.items(), answers, strict=True):
        shown = without_keys(address, options.environ)
        if answer is None:
            state: State = "broken" if name in needed else "note"
            findings.append(Finding("server", name, f"{shown} does not answer", state))
        else:
            findings.append(Finding("server", name, f"{shown} answers, {answer}"))
    return findings


async def _answer(client: httpx.AsyncClient, address: str) -> str | None:
    """What an OpenAI-compatible server has, in a few words; None when nobody answers."""
    import httpx

    try:
        response = await client.get(f"{address.rstrip('/')}/models")
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    if response.status_code in (401, 403):
        return "and wants a key"
    try:
        return _list([str(model["id"]) for model in response.json()["data"]])
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"with status {response.status_code}"


def _any_https(addresses: Mapping[str, str]) -> bool:
    return any(address.startswith("https://") for address in addresses.values())


def _list(models: Sequence[str]) -> str:
    more = f" and {len(models) - MOST_NAMED} more" if len(models) > MOST_NAMED else ""
    return f"with {', '.join(models[:MOST_NAMED])}{more}" if models else "without a model"
