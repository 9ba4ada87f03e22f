"""Which vendors a machine can talk with right now: keys, by name, and a local Ollama."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from sessions.options import OFFLINE

OLLAMA = "http://127.0.0.1:11434"
PROBE_SECONDS = 0.5
LARGEST_ANSWER = 1_000_000

NO_MODEL = (
    "No key and no local server were found, so Otto answers from its own memory only; set a key such as"
    " OPENAI_API_KEY, start Ollama, or name a model with -m."
)
"""What to say to someone who is on ``offline`` without having chosen it."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor that litellm reaches with a key from the environment."""

    name: str
    keys: tuple[str, ...]
    """Environment variables, any of which holds its key."""
    model: str
    """What Otto talks with when this key is all it knows."""


VENDORS = (
    Vendor("Anthropic", ("ANTHROPIC_API_KEY",), "anthropic/claude-sonnet-5-5"),
    Vendor("OpenAI", ("OPENAI_API_KEY",), "openai/gpt-5.6-luna"),
    Vendor("Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini/gemini-flash-latest"),
    Vendor("Mistral", ("MISTRAL_API_KEY",), "mistral/mistral-medium-latest"),
    Vendor("xAI", ("XAI_API_KEY",), "xai/grok-4.5"),
    Vendor("DeepSeek", ("DEEPSEEK_API_KEY",), "deepseek/deepseek-flash"),
    Vendor("Groq", ("GROQ_API_KEY",), "groq/openai/gpt-oss-120b"),
    Vendor("OpenRouter", ("OPENROUTER_API_KEY",), "openrouter/openrouter/auto"),
)


def choose_chat(environ: Mapping[str, str]) -> str:
    """The model for someone who has named none: the first vendor with a key, a local Ollama's first, ``offline``."""
    for vendor in VENDORS:
        if found_keys(environ, vendor):
            return vendor.model
    models = ollama_models(ollama_address(environ))
    return f"ollama/{models[0]}" if models else OFFLINE


def found_keys(environ: Mapping[str, str], vendor: Vendor) -> tuple[str, ...]:
    """The names, never the values, of this vendor's variables that are set."""
    return tuple(name for name in vendor.keys if environ.get(name, "").strip())


def ollama_address(environ: Mapping[str, str]) -> str:
    """Where Ollama would be: ``OLLAMA_API_BASE``, ``OLLAMA_HOST`` or its usual port on this machine."""
    named = environ.get("OLLAMA_API_BASE", "").strip() or environ.get("OLLAMA_HOST", "").strip()
    if not named:
        return OLLAMA
    parts = urlsplit(named if "://" in named else f"http://{named}")
    host = parts.hostname or "127.0.0.1"
    # What Ollama's server listens on is no address to call.
    host = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}:{_port(parts.netloc, parts.scheme)}"


def ollama_models(address: str) -> tuple[str, ...]:
    """The chat models of an Ollama at ``address``; none when nobody answers within half a second."""
    if not _listens(address):
        return ()
    import http.client

    parts = urlsplit(address)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", "/api/tags")
        answer = json.loads(connection.getresponse().read(LARGEST_ANSWER))
        names = [model["name"] for model in answer["models"]]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, RecursionError):
        return ()
    finally:
        connection.close()
    return tuple(name for name in names if isinstance(name, str) and "embed" not in name)


def _listens(address: str) -> bool:
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 80), PROBE_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True


def _port(netloc: str, scheme: str) -> int:
    _, _, digits = netloc.rpartition(":")
    if digits.isdecimal() and 0 < int(digits) < 65536:
        return int(digits)
    return 443 if scheme == "https" else 11434
