"""What a reply cost and how much a model can read, from the price list that litellm carries."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

PRICE_LIST = "model_prices_and_context_window_backup.json"


def cost_of(litellm: Any, price_as: str, usage: Any) -> float | None:
    """US dollars for a reply; None when the model's price is not known. ``usage`` as litellm hands it over."""
    key = next((key for key in _keys(price_as) if "input_cost_per_token" in litellm.model_cost.get(key, {})), None)
    if key is None:
        return None
    try:
        prompt, completion = litellm.cost_per_token(model=key, usage_object=usage)
    except Exception:  # whatever litellm's arithmetic cannot make of an entry, the price is not known
        return None
    return float(prompt) + float(completion)


def listed_window(model: str) -> int | None:
    """Tokens that a model can read; None when it is not on the list. Reads a file; call it on a thread."""
    return next((listed_windows()[key] for key in _keys(model) if key in listed_windows()), None)


@cache
def listed_windows() -> Mapping[str, int]:
    """The window of each model on the list, read without importing litellm."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        prices = json.loads((Path(spec.origin).parent / PRICE_LIST).read_bytes())
    except (OSError, ValueError):
        return {}
    windows = {name: entry.get("max_input_tokens") or entry.get("max_tokens") for name, entry in prices.items()}
    return {name: window for name, window in windows.items() if isinstance(window, int) and window > 0}


def _keys(model: str) -> tuple[str, ...]:
    """OpenAI's and Anthropic's models are listed without their vendor."""
    return (model, model.partition("/")[2])
