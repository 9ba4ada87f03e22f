"""How much a model on a server of the person's own can read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sessions.local_http import ask_json
from sessions.vendors import PLACEHOLDER_KEY, Target

OLLAMA_CONTEXT = 16_384
"""Tokens of context that Otto asks Ollama for, unless ``OLLAMA_CONTEXT_LENGTH`` says otherwise.

Left alone, Ollama keeps a few thousand and silently drops the beginning of what it is sent.
"""


async def ollama_context(target: Target, environ: Mapping[str, str]) -> tuple[int | None, bool]:
    """The context of a model on Ollama in tokens, and whether requests must ask for it. None when unknown."""
    shown = await ask_json(f"{target.api_base}/api/show", post={"model": target.model})
    if not isinstance(shown, dict):
        return None, False
    set_by_modelfile = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE)
    if set_by_modelfile:
        return int(set_by_modelfile.group(1)), False
    wanted = environ.get("OLLAMA_CONTEXT_LENGTH", "")
    most = int(wanted) if wanted.isdecimal() and int(wanted) > 0 else OLLAMA_CONTEXT
    information = shown.get("model_info")
    lengths = [
        length
        for name, length in (information.items() if isinstance(information, dict) else ())
        if name.endswith(".context_length") and isinstance(length, int)
    ]
    return min([most, *lengths]), True


async def server_window(target: Target) -> int | None:
    """The window that an OpenAI-compatible server tells, in tokens; None when it tells none.

    vLLM and several gateways say it in their list of models, LM Studio and llama.cpp at addresses of their own.
    """
    if target.route != "openai" or target.api_base is None:
        return None
    key = target.api_key if target.api_key != PLACEHOLDER_KEY else None
    root = target.api_base.removesuffix("/v1")
    for url in (f"{target.api_base}/models", f"{root}/api/v0/models", f"{root}/props"):
        answer = await ask_json(url, key=key)
        if window := _window_in(answer, target.model):
            return window
    return None


def _window_in(answer: Any, model: str) -> int | None:
    if not isinstance(answer, dict):
        return None
    listed = answer.get("data")
    models = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    found = next((entry for entry in models if entry.get("id") == model), {})
    settings = answer.get("default_generation_settings")
    said = [found.get(name) for name in ("loaded_context_length", "max_model_len", "context_length")]
    said.append(settings.get("n_ctx") if isinstance(settings, dict) else None)
    return next((window for window in said if isinstance(window, int) and window > 0), None)
