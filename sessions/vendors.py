"""Which server a model's name leads to, with which key, and what to call it in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from sessions.chat_model import ModelError
from sessions.options import OFFLINE, Options, Provider

Route = Literal["openai", "anthropic", "gemini", "ollama", "other"]
"""The wire format; ``other``: whatever litellm makes of it."""

PLACEHOLDER_KEY = "no-key-needed"
"""For servers that want no key, since the clients insist on one."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor that Otto knows by name. Others go through litellm with its own rules."""

    prefix: str
    label: str
    route: Route
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key; the first is the one to tell people about."""
    base_variables: tuple[str, ...] = ()
    own_base: str = ""
    default_model: str = ""
    """What to talk with when only this vendor's key is there."""


ANTHROPIC = Vendor(
    "anthropic",
    "Anthropic",
    "anthropic",
    ("ANTHROPIC_API_KEY",),
    ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
    "https://api.anthropic.com",
    "anthropic/claude-sonnet-5-5",
)

OPENAI = Vendor(
    "openai",
    "OpenAI",
    "openai",
    ("OPENAI_API_KEY",),
    ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "https://api.openai.com/v1",
    "openai/gpt-5.6-luna",
)

GEMINI = Vendor(
    "gemini",
    "Gemini",
    "gemini",
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ("GEMINI_API_BASE",),
    "https://generativelanguage.googleapis.com/v1beta",
    "gemini/gemini-flash-latest",
)

OLLAMA = Vendor("ollama", "Ollama", "ollama", (), ("OLLAMA_API_BASE", "OLLAMA_HOST"), "http://127.0.0.1:11434")

MISTRAL = Vendor("mistral", "Mistral", "other", ("MISTRAL_API_KEY",), default_model="mistral/mistral-medium-latest")

XAI = Vendor("xai", "xAI", "other", ("XAI_API_KEY",), default_model="xai/grok-4.5")

DEEPSEEK = Vendor("deepseek", "DeepSeek", "other", ("DEEPSEEK_API_KEY",), default_model="deepseek/deepseek-flash")

GROQ = Vendor("groq", "Groq", "other", ("GROQ_API_KEY",), default_model="groq/openai/gpt-oss-120b")

OPENROUTER = Vendor(
    "openrouter", "OpenRouter", "other", ("OPENROUTER_API_KEY",), default_model="openrouter/openrouter/auto"
)

VENDORS: Mapping[str, Vendor] = {
    vendor.prefix: vendor for vendor in (ANTHROPIC, OPENAI, GEMINI, OLLAMA, MISTRAL, XAI, DEEPSEEK, GROQ, OPENROUTER)
}
"""By the prefix of their models' names, in the order in which a default is chosen."""

_ALIASES = {"ollama_chat": "ollama"}

_LITELLM_PREFIXES = {"ollama": "ollama_chat"}
"""litellm's ``ollama/`` speaks Ollama's older format, which knows no tools."""

_USUAL_PATHS: Mapping[Route, str] = {"openai": "/v1", "gemini": "/v1beta"}
"""What is added to an address that names only host and port."""

_NEARBY = re.compile(r"localhost$|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|[^.:]+$|.*\.(local|lan)$")

_FAMILIES = {"claude": ANTHROPIC, "gemini": GEMINI, "gpt": OPENAI, "chatgpt": OPENAI, "o1": OPENAI, "o3": OPENAI}


@dataclass(frozen=True, slots=True)
class Target:
    """Where the requests for one model go."""

    name: str
    """As the person named it."""
    model: str
    """As the vendor knows it."""
    litellm_model: str
    label: str
    """The server's name in a sentence."""
    route: Route
    api_base: str | None
    """None: the vendor's own, which litellm knows."""
    api_key: str | None
    key_variable: str | None
    """The variable that holds or should hold the key; None when there is none to set."""
    price_as: str | None
    """Its name in the price list; None for a server whose models could be called anything."""
    free: bool = False
    """True when it runs on the person's own machine."""
    own_server: bool = False
    """True when the person has named its address: it may want no key, and the address may be wrong."""
    problem: ModelError | None = None
    """Why no request can be made: a key that is not set, an address that is none."""

    @property
    def place(self) -> str:
        """Host and port, for a sentence. Never a user name or a password."""
        return _place(self.api_base) if self.api_base else self.label

    @property
    def nearby(self) -> bool:
        """True when its server is on this machine or in this network, as far as its address tells."""
        host = urlsplit(self.api_base).hostname if self.api_base else None
        return host is not None and _NEARBY.match(host) is not None


def find_target(name: str, options: Options) -> Target:
    """The server, key and litellm name for a model. Raises ``ModelError`` when the name makes no sense."""
    prefix, slash, rest = name.partition("/")
    if not prefix.strip() or (slash and not rest.strip()):
        raise ModelError(
            f"{name or 'An empty name'} names no model: write it as VENDOR/MODEL, for example ollama/llama3.2.",
            "no_model",
        )
    if rest and prefix in options.providers:
        return _provider_target(name, options.providers[prefix], rest, options)
    vendor = VENDORS.get(_ALIASES.get(prefix, prefix)) if rest else _by_family(name)
    override = options.api_base if _sent_elsewhere(vendor, options) else None
    if vendor is not None:
        return _vendor_target(name, vendor, rest or name, override, options)
    if override is not None:
        return _compatible_target(name, override)
    return _unlisted_target(name, options)


def _provider_target(name: str, provider: Provider, model: str, options: Options) -> Target:
    key = options.environ.get(provider.api_key_env, "").strip() if provider.api_key_env else PLACEHOLDER_KEY
    base, problem = _usable(provider.api_base, "/v1")
    if provider.api_key_env and not key:
        problem = _missing_key(provider.name, provider.api_key_env)
    return Target(
        name=name,
        model=model,
        litellm_model=f"openai/{model}",
        label=provider.name,
        route="openai",
        api_base=base,
        api_key=key,
        key_variable=provider.api_key_env,
        price_as=None,
        own_server=True,
        problem=problem,
    )


def _compatible_target(name: str, api_base: str) -> Target:
    """Any OpenAI-compatible server: the whole name is the model's."""
    base, problem = _usable(api_base, "/v1")
    return Target(
        name=name,
        model=name,
        litellm_model=f"openai/{name}",
        label=f"The server at {_place(base)}" if base else "The server",
        route="openai",
        api_base=base,
        api_key=PLACEHOLDER_KEY,
        key_variable=None,
        price_as=None,
        own_server=True,
        problem=problem,
    )


def _unlisted_target(name: str, options: Options) -> Target:
    """A vendor that only litellm knows, with the key that is usual for it."""
    prefix, _, model = name.partition("/")
    variable = f"{prefix.upper()}_API_KEY" if model else None
    return Target(
        name=name,
        model=model or name,
        litellm_model=name,
        label=prefix.replace("_", " ").title(),
        route="other",
        api_base=None,
        api_key=options.environ.get(variable) if variable else None,
        key_variable=variable,
        price_as=name,
    )


def _vendor_target(name: str, vendor: Vendor, model: str, override: str | None, options: Options) -> Target:
    variable, key = _key(vendor, options.environ)
    named_base = override or _base(vendor, options.environ)
    base, problem = _usable(named_base or vendor.own_base, _USUAL_PATHS.get(vendor.route, ""))
    if vendor.route == "ollama" and base is not None:
        # Its own format lives beside its OpenAI-compatible one, which people often name.
        base = base.removesuffix("/v1").removesuffix("/api")
    # Many servers speak OpenAI's format; the other formats are their own vendor's, also behind a gateway.
    compatible = vendor.route == "openai" and named_base is not None
    if vendor.key_variables and not key and named_base is None:
        problem = _missing_key(vendor.label, vendor.key_variables[0])
    return Target(
        name=name,
        model=model,
        litellm_model=f"{_LITELLM_PREFIXES.get(vendor.prefix, vendor.prefix)}/{model}",
        label=f"The server at {_place(base)}" if compatible and base else vendor.label,
        route=vendor.route,
        api_base=base,
        api_key=key or (PLACEHOLDER_KEY if vendor.key_variables else None),
        key_variable=variable,
        price_as=None if vendor.route == "ollama" else f"{vendor.prefix}/{model}",
        # Ollama hands models whose tag says so on to its own cloud.
        free=vendor.route == "ollama" and not model.endswith("cloud"),
        own_server=vendor.route == "ollama" or named_base is not None,
        problem=problem,
    )


def _by_family(name: str) -> Vendor | None:
    return next((vendor for family, vendor in _FAMILIES.items() if name.startswith(family)), None)


def _sent_elsewhere(vendor: Vendor | None, options: Options) -> bool:
    """``api_base`` is for the chat model, and for whatever else goes to the same vendor."""
    if options.api_base is None:
        return False
    prefix, _, rest = options.chat.partition("/")
    chats_with = VENDORS.get(prefix) if rest else _by_family(options.chat)
    return chats_with is vendor


def _key(vendor: Vendor, environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    for variable in vendor.key_variables:
        if key := environ.get(variable, "").strip():
            return variable, key
    return (vendor.key_variables[0] if vendor.key_variables else None), None


def _base(vendor: Vendor, environ: Mapping[str, str]) -> str | None:
    for variable in vendor.base_variables:
        if base := environ.get(variable, "").strip():
            return ollama_address(base) if vendor.route == "ollama" else base
    return None


def ollama_address(named: str) -> str:
    """``OLLAMA_HOST`` as a URL to call: it may lack scheme or port, and may name what the server listens on."""
    bare = "://" not in named
    try:
        parts = urlsplit(f"http://{named}" if bare else named)
    except ValueError:
        # No address at all. Whoever calls it is told so.
        return named
    host = parts.hostname or "127.0.0.1"
    host = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
    port = parts.netloc.rpartition(":")[2]
    port = port if port.isdecimal() else "11434" if bare else ""
    return f"{parts.scheme}://{host}{':' if port else ''}{port}{parts.path.rstrip('/')}"


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _usable(address: str, usual_path: str) -> tuple[str | None, ModelError | None]:
    """``address`` as a URL that a request can go to, or why there is none. Empty: litellm knows it."""
    if not address:
        return None, None
    address = address.strip()
    address = (address if "://" in address else f"http://{address}").rstrip("/")
    try:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return (address if parts.path else address + usual_path), None
    except ValueError:
        pass  # a port that is no number
    shown = address.rpartition("@")[2]
    sentence = f"{shown} is not an address: write it like http://127.0.0.1:8080/v1."
    return None, ModelError(sentence, "unreachable")


def _missing_key(label: str, variable: str) -> ModelError:
    return ModelError(
        f"{label} needs a key and {variable} is not set: set it and start Otto again, or choose another model.",
        "auth",
    )


def default_model(environ: Mapping[str, str]) -> str:
    """The model for someone who has named none: that of the first vendor whose key is set, else ``offline``."""
    return next(
        (vendor.default_model for vendor in VENDORS.values() if _key(vendor, environ)[1]),
        OFFLINE,
    )
