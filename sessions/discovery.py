"""Which model servers run on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.local_http import ask_json
from sessions.vendors import OLLAMA, ollama_address

PATIENCE = 0.5
"""Seconds for each server."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answers."""

    name: str
    api_base: str
    """What ``--api-base`` wants."""
    models: tuple[str, ...]
    """As Otto names them: ``ollama/...`` or ``openai/...``."""


@dataclass(frozen=True, slots=True)
class UsualPlace:
    """Where a server listens when nobody has told it otherwise."""

    name: str
    api_base: str
    owner: str = ""
    """What its list of models says in ``owned_by``."""


USUAL_PLACES = (
    UsualPlace("LM Studio", "http://127.0.0.1:1234/v1", "organization_owner"),
    UsualPlace("llama.cpp", "http://127.0.0.1:8080/v1", "llamacpp"),
    UsualPlace("vLLM", "http://127.0.0.1:8000/v1", "vllm"),
)
"""OpenAI-compatible servers. What one says of itself counts before its port."""


async def find_servers(
    environ: Mapping[str, str] | None = None,
    *,
    places: Sequence[UsualPlace] = USUAL_PLACES,
    timeout: float = PATIENCE,
) -> list[FoundServer]:
    """The servers that answer on this machine, Ollama first, each with its models. Asks all at once."""
    named = (environ or {}).get("OLLAMA_API_BASE") or (environ or {}).get("OLLAMA_HOST") or OLLAMA.own_base
    asked = [_ollama(ollama_address(named.strip()), timeout), *(_compatible(place, timeout) for place in places)]
    return [found for found in await asyncio.gather(*asked) if found is not None]


async def _ollama(address: str, timeout: float) -> FoundServer | None:
    names = _names(await ask_json(f"{address}/api/tags", timeout=timeout), "models", "name")
    if names is None:
        return None
    return FoundServer("Ollama", address, tuple(f"ollama/{name}" for name in names if "embed" not in name))


async def _compatible(place: UsualPlace, timeout: float) -> FoundServer | None:
    answer = await ask_json(f"{place.api_base}/models", timeout=timeout)
    names = _names(answer, "data", "id")
    if names is None:
        return None
    owners = set(_names(answer, "data", "owned_by") or ())
    name = next((other.name for other in USUAL_PLACES if other.owner in owners), place.name)
    return FoundServer(name, place.api_base, tuple(f"openai/{model}" for model in names if "embed" not in model))


def _names(answer: Any, list_key: str, name_key: str) -> list[str] | None:
    """The names in a list of models; None when the answer is no such list."""
    listed = answer.get(list_key) if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    names = [entry.get(name_key) for entry in listed if isinstance(entry, dict)]
    return [name for name in names if isinstance(name, str)]
