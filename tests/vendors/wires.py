"""The formats that a loopback server can speak."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.vendors.anthropic_wire import AnthropicWire
from tests.vendors.gemini_wire import GeminiWire
from tests.vendors.ollama_wire import OllamaWire
from tests.vendors.openai_wire import OpenAIWire
from tests.vendors.wire import Wire

WIRES: Mapping[str, Callable[[], Wire]] = {
    "openai": OpenAIWire,
    "anthropic": AnthropicWire,
    "gemini": GeminiWire,
    "ollama": OllamaWire,
}
