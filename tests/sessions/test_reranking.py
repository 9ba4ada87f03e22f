"""A session whose settings name a cross-encoder recalls with it, for the person and for the model, or says why not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from memory.values import RecallResult
from sessions.chat_model import ToolCall
from sessions.events import ToolUsed
from sessions.library import Library
from sessions.options import Options
from tests.memory.tiny_onnx import write_cross_encoder
from tests.sessions.listening import heard
from tests.sessions.made_sessions import conversation, made, options_for
from tests.sessions.scripted_model import ScriptedModel

ID = "20260302-beans1"
ASKED = "How many litres for bed 7?"


async def asked(options: Options) -> tuple[RecallResult, ToolUsed, str]:
    """What the person is answered; what the person sees of the model's own call, and what the model is told."""
    model = ScriptedModel(replies=[[ToolCall("1", "recall_memory", json.dumps({"question": ASKED}))]])
    session = await Library(options, open_model=model.opened).open(ID)
    found = await session.recall(ASKED)
    events = heard(session)
    await session.send(ASKED)
    await session.close()
    (used,) = [event for event in events if isinstance(event, ToolUsed)]
    return found, used, str(model.requests[-1][-1]["content"])


async def test_a_session_recalls_with_the_cross_encoder_that_is_set(tmp_path: Path) -> None:
    options = options_for(tmp_path, chat="test/scripted", embedding="none", x_budget=200, y_budget=400)
    made(options, ID, conversation(30))
    plain, plainly_used, _ = await asked(options)
    reranker = str(write_cross_encoder(tmp_path / "m", {"the": -1.0, "on": 1.0}))
    found, used, _ = await asked(replace(options, reranker=reranker))
    assert "reranked" not in plain.ranked_by + plainly_used.summary
    assert "reranked" in found.ranked_by
    assert "reranked" in used.summary
    assert [item.score for item in found.items] != [item.score for item in plain.items]


async def test_a_session_goes_on_without_a_cross_encoder_that_cannot_be_had(tmp_path: Path) -> None:
    options = options_for(tmp_path, chat="test/scripted", embedding="none", x_budget=200, y_budget=400)
    made(options, ID, conversation(30))
    found, used, told = await asked(replace(options, reranker=str(tmp_path / "nowhere")))
    assert found.items
    assert "reranked" not in found.ranked_by + used.summary
    assert "nowhere is not a cross-encoder" in (found.warning or "")
    assert "exactly 7 litres" in told
