"""How the tests of models ask: a model at a loopback vendor, its pieces, its failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.models import ChatModel, Finished, Message, ModelError, Piece, TextDelta, open_model
from tests.vendors import LoopbackVendor

RECALL = {
    "type": "function",
    "function": {
        "name": "recall_memory",
        "description": "Looks up what was said.",
        "parameters": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
    },
}

HELLO: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]

KEY = "sk-loopback-0123456789"


def model_of(vendor: LoopbackVendor, tmp_path: Path, **changes: Any) -> ChatModel:
    changes.setdefault("idle_timeout", 20.0)
    return open_model(vendor.model, vendor.options(tmp_path, **changes))


async def pieces_of(model: ChatModel, messages: list[Message] = HELLO, tools: Any = ()) -> list[Piece]:
    return [piece async for piece in model.stream(messages, tools)]


async def failing(model: ChatModel, tools: Any = ()) -> tuple[str, ModelError]:
    """The text that came before the failure, and the failure."""
    came: list[Piece] = []
    with pytest.raises(ModelError) as caught:
        async for piece in model.stream(HELLO, tools):
            came.append(piece)
    return text_of(came), caught.value


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))


def finish_of(pieces: list[Piece]) -> Finished:
    assert isinstance(pieces[-1], Finished)
    return pieces[-1]


def assert_is_a_sentence(error: ModelError) -> None:
    sentence = str(error)
    assert sentence[0].isupper() or sentence[0].isdigit()
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert "\n" not in sentence
    assert len(sentence) < 320
    for jargon in ("litellm", "Exception", "Traceback", "{", "b'", "None"):
        assert jargon not in sentence
