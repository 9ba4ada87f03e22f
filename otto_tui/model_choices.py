"""Which models can answer on this machine: vendors whose key is set, servers that answer, and the one in the box."""

from __future__ import annotations

from collections.abc import Iterator

from otto_tui.vendors import found_keys
from screens.model_picker import ModelChoice
from sessions.discovery import find_servers
from sessions.options import OFFLINE, Options
from sessions.vendors import VENDORS


async def model_choices(options: Options) -> list[ModelChoice]:
    """Names that can be chosen as they are. Only an Ollama is asked."""
    servers = await find_servers(options.environ, places=())
    return [
        *_configured(options),
        *_with_keys(options),
        *(ModelChoice(name, f"{server.name} at {server.api_base}") for server in servers for name in server.models),
        ModelChoice(OFFLINE, "in the box: quotes this session, no language model"),
    ]


def _configured(options: Options) -> Iterator[ModelChoice]:
    if options.chat != OFFLINE:
        yield ModelChoice(options.chat, "your setting")


def _with_keys(options: Options) -> Iterator[ModelChoice]:
    for vendor in VENDORS.values():
        keys = found_keys(options.environ, vendor)
        if keys and vendor.default_model and vendor.default_model != options.chat:
            yield ModelChoice(vendor.default_model, f"{keys[0]} is set")
