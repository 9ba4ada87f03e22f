"""The model of the ``summarize`` seat as a plain callable, for a command that replays a conversation and waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memory.errors import OttoError
from memory.values import RecallResult
from sessions.models import open_model
from sessions.options import OFFLINE, Options
from sessions.seats import Seats


@contextmanager
def seat_summarizer(options: Options) -> Iterator[tuple[str, Callable[[str], str]]]:
    """The model's name, and what answers one prompt after the other. Each call waits for the reply.

    Raises:
        ModelError: the model's name makes no sense; a call: the model did not answer.
        OttoError: no model is set that could summarise.
    """
    model = Seats(options, open_model, _nothing).of("summarize")
    if model.name == OFFLINE:
        raise OttoError(
            "There is no model to summarise with: set a key or [seats] summarize, or measure with --offline."
        )
    with asyncio.Runner() as runner:
        yield model.name, lambda prompt: runner.run(model.complete(prompt))


async def _nothing(question: str) -> RecallResult:
    """The model in the box would ask this; no other does."""
    return RecallResult(ranked_by="recency", tokens=0, items=())
