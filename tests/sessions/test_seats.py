"""Who does which job: a seat whose model makes no sense never stands in the way of the conversation."""

from __future__ import annotations

from dataclasses import replace

from sessions.chat_model import ChatModel, ModelError
from sessions.library import Library
from sessions.models import Recall
from sessions.options import Options
from tests.sessions.listening import talk
from tests.sessions.scripted_model import ScriptedModel

BAD = "no/such model"

TURNS = 40
"""Enough for a compaction."""


async def test_a_summariser_whose_name_makes_no_sense_is_said_and_the_chat_model_takes_its_seat(
    options: Options, model: ScriptedModel
) -> None:
    def open_model(name: str, options: Options, *, recall: Recall | None = None) -> ChatModel:
        if name == BAD:
            raise ModelError(f"{BAD} is no model's name.")
        return model.opened(name, options, recall=recall)

    library = Library(replace(options, summarize=BAD), open_model=open_model)
    session = await library.new("/work/garden")
    try:
        heard: list[str] = []
        session.subscribe(lambda event: heard.append(str(getattr(event, "text", ""))))
        await talk(session, TURNS)
        await session.drain()
        assert f"{BAD} is no model's name. The chat model takes the seat summarize instead." in heard
        assert (await session.snapshot()).turns == TURNS
        assert await session.compactions()
    finally:
        await session.close()
