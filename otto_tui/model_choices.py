"""Which models can answer on this machine: vendors whose key is set, servers that answer, and the one in the box."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from otto_tui.vendors import VENDORS, found_keys, ollama_address, ollama_models
from screens.model_picker import ModelChoice
from sessions.options import OFFLINE, Options


async def model_choices(options: Options) -> list[ModelChoice]:
    """Names that can be chosen as they are. Only servers on this machine and named providers are asked, in a thread."""
    address = ollama_address(options.environ)
    local = await asyncio.to_thread(ollama_models, address)
    return [
        *_configured(options),
        *_with_keys(options),
        *(ModelChoice(f"ollama/{name}", f"Ollama at {address}") for name in local),
        ModelChoice(OFFLINE, "in the box: quotes this session, no language model"),
    ]


def _configured(options: Options) -> Iterator[ModelChoice]:
    if options.chat != OFFLINE:
        yield ModelChoice(options.chat, "your setting")


def _with_keys(options: Options) -> Iterator[ModelChoice]:
    for vendor in VENDORS:
        keys = found_keys(options.environ, vendor)
        if keys and vendor.model != options.chat:
            yield ModelChoice(vendor.model, f"{keys[0]} is set")
