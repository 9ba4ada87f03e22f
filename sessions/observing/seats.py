"""The jobs of the three workers, the models that do them, and how much each may read at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from sessions.chat_model import ChatModel
from sessions.options import OFFLINE, SMALLEST_CHUNK, LedgerSettings

Stage = Literal["observe", "reflect", "drop"]
"""A worker, and the seat that its model sits on."""

WINDOW_SHARE = 0.2
"""Of a model's window, what a worker gives it to read."""

UNKNOWN_WINDOW_CAP = 60_000
"""Tokens, where the window is not known."""

OpenSeat = Callable[[Stage], ChatModel]
"""The model of a seat as it is now. Raises ``ModelError`` where its name makes no sense."""


def takes_notes(model: ChatModel) -> bool:
    """False for the model in the box, which is no language model."""
    return model.name != OFFLINE


async def reading_cap(model: ChatModel, settings: LedgerSettings) -> int:
    """The most tokens of memory and conversation together that a worker's prompt holds."""
    cap = settings.observer_chunk_max_tokens
    if cap is None:
        window = await model.window()
        cap = UNKNOWN_WINDOW_CAP if window is None else int(window * WINDOW_SHARE)
    return max(SMALLEST_CHUNK, cap)
