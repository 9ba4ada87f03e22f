"""The model in the box: quotes, says what it is, and summarises by extract."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.compaction import parse_bullets
from memory.values import RecallItem, RecallResult
from sessions.chat_model import Finished, Message, TextDelta
from sessions.extracts import MOST_BULLETS, MOST_WORDS, extract_bullets, numbered_items
from sessions.offline_model import HOW_TO_GET_A_REAL_ONE, WHAT_I_AM, OfflineModel


def item(seq: int, text: str, **changes: Any) -> RecallItem:
    fields: dict[str, Any] = {
        "seq": seq,
        "id": f"{seq:012x}",
        "chunk": f"{seq:016x}",
        "speaker": "you",
        "kind": "message",
        "t_event": "2026-03-01T09:30:00+00:00",
        "text": text,
        "score": 1.0,
        "neighbour": False,
    }
    return RecallItem(**{**fields, **changes})


def remembering(*items: RecallItem, ranked_by: str = "bm25+recency") -> OfflineModel:
    async def recall(question: str) -> RecallResult:
        return RecallResult(ranked_by, 10, items)

    return OfflineModel(recall)


async def answer(model: OfflineModel, question: str, earlier: list[Message] | None = None) -> str:
    messages = [*(earlier or []), {"role": "user", "content": question}]
    return "".join([piece.text async for piece in model.stream(messages) if isinstance(piece, TextDelta)])


async def test_it_quotes_what_the_session_remembers_with_speaker_and_time() -> None:
    model = remembering(
        item(9, "Ship it on Fridays.", score=0.5, speaker="openai/gpt-4o-mini"),
        item(3, "The staging port is 5433.\nNever 5432.", score=2.0),
    )
    said = await answer(model, "which port has staging?")
    assert "you, 2026-03-01 09:30:\n> The staging port is 5433.\n> Never 5432." in said
    assert said.index("5433") < said.index("Fridays"), "quotes stand in the order in which they were said"
    assert WHAT_I_AM in said
    assert said.endswith(HOW_TO_GET_A_REAL_ONE)


async def test_it_does_not_quote_itself_nor_mere_neighbours() -> None:
    model = remembering(
        item(1, "I quote the port", speaker="offline"), item(2, "a neighbour of the port", neighbour=True)
    )
    said = await answer(model, "port?", [{"role": "assistant", "content": f"{WHAT_I_AM} On this it holds the port"}])
    assert "> " not in said


async def test_it_finds_what_still_stands_in_the_request_itself() -> None:
    earlier: list[Message] = [
        {"role": "system", "content": "port port port"},
        {"role": "user", "content": "We chose the blue theme."},
        {"role": "assistant", "content": "Noted: the staging port is 5433."},
        {"role": "user", "content": "Kaffee um vier, 会议在星期五"},
    ]
    assert "> Noted: the staging port is 5433." in await answer(remembering(), "what was the staging port?", earlier)
    assert "> Kaffee um vier" in await answer(remembering(), "星期五", earlier)
    assert "> " not in await answer(remembering(), "kangaroo?", earlier)


async def test_by_recency_alone_it_quotes_only_what_shares_words() -> None:
    model = remembering(item(1, "tea at four"), item(2, "the port is 5433"), ranked_by="recency")
    said = await answer(model, "port")
    assert "5433" in said
    assert "tea" not in said


@pytest.mark.parametrize("question", ["hi", "Hello!", "Good morning Otto.", "hallo"])
async def test_a_greeting_is_greeted(question: str) -> None:
    said = await answer(OfflineModel(), question)
    assert said.startswith("Hello.")
    assert HOW_TO_GET_A_REAL_ONE in said


@pytest.mark.parametrize("question", ["what is the capital of France?", "", "???", "\ud800", "[/bold]"])
async def test_with_nothing_to_quote_it_says_so(question: str) -> None:
    for model in (OfflineModel(), remembering()):
        said = await answer(model, question)
        assert "nothing on this yet" in said
        assert HOW_TO_GET_A_REAL_ONE in said


async def test_it_streams_in_pieces_and_the_same_each_time() -> None:
    model = remembering(item(3, "The staging port is 5433."))
    runs = [[piece async for piece in model.stream([{"role": "user", "content": "port"}])] for _ in range(2)]
    assert runs[0] == runs[1]
    assert len(runs[0]) > 10
    assert runs[0][-1] == Finished("stop", None, 0.0, "offline")


async def test_a_very_long_quote_is_cut() -> None:
    said = await answer(remembering(item(1, "port " * 10_000)), "port")
    assert len(said) < 2_000
    assert "…" in said


# -- summaries -----------------------------------------------------------------------------------------------


async def test_its_summary_keeps_the_telling_sentence_of_each_item() -> None:
    prompt = (
        "Shorten.\nItems:\n[1] Sure! Happy to help with that. The staging database listens on port 5433.\n"
        "[2] Done.\n  I renamed build_index() to rebuild_index() in memory/rebuild.py.\n[3] Great"
    )
    bullets = parse_bullets(await OfflineModel().complete(prompt), 3)
    ((text, cited),) = bullets
    assert cited == (1, 2, 3)
    assert "port 5433" in text
    assert "memory/rebuild.py" in text


ITEM_TEXTS = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=80)
    | st.sampled_from(["[7] looks like an item", "ends with [2]", "- a list\n- [1] of things", "**bold** [/]"]),
    min_size=1,
    max_size=150,
)


def prompt_of(texts: list[str]) -> str:
    return "Instructions.\n\nItems:\n" + "\n".join(
        f"[{number}] " + "\n  ".join(text.splitlines()) for number, text in enumerate(texts, 1)
    )


@given(ITEM_TEXTS)
def test_every_item_is_cited_exactly_once_and_nothing_else_is(texts: list[str]) -> None:
    reply = extract_bullets(prompt_of(texts))
    cited = [number for line in reply.split("\n") for number in re.findall(r"\d+", line[line.rindex("[") :])]
    assert [int(number) for number in cited] == list(range(1, len(texts) + 1))
    assert len(reply.split("\n")) <= max(MOST_BULLETS, 1)


@given(ITEM_TEXTS)
def test_bullets_are_short(texts: list[str]) -> None:
    for line in extract_bullets(prompt_of(texts)).split("\n"):
        assert line.startswith("- ")
        assert len(line.split()) <= MOST_WORDS + len(texts) * 4 + 10


@given(ITEM_TEXTS)
def test_items_are_found_even_where_their_text_looks_like_items(texts: list[str]) -> None:
    assert len(numbered_items(prompt_of(texts))) == len(texts)


def test_a_prompt_without_items_gives_no_bullets() -> None:
    assert extract_bullets("What is the port?") == ""
    assert extract_bullets("[2] starts in the middle") == ""
