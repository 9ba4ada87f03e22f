"""The demo's model: word for word from the script, bullets for a compaction, memory for everything else."""

from __future__ import annotations

from memory.compaction import parse_bullets
from memory.values import RecallItem, RecallResult
from otto_tui.demo_model import PIECES, DemoModel
from otto_tui.demo_script import load_script
from sessions.chat_model import Finished, Message, TextDelta

SCRIPT = load_script()


async def test_it_streams_the_scripted_reply_in_pieces() -> None:
    turn = SCRIPT.turns[4]
    texts, finished = await _reply(_model(), [{"role": "user", "content": turn.you}])
    assert "".join(texts) == turn.otto
    assert 1 < len(texts) <= PIECES
    assert finished.usage is not None
    assert finished.usage.completion_tokens > 0
    assert finished.cost == 0.0


async def test_every_line_of_the_script_has_its_own_reply() -> None:
    model = _model()
    for turn in SCRIPT.turns:
        texts, _ = await _reply(model, [{"role": "user", "content": turn.you}])
        assert "".join(texts) == turn.otto


async def test_a_line_that_was_joined_to_a_stopped_one_is_answered() -> None:
    content = f"{SCRIPT.turns[0].you}\n\n{SCRIPT.turns[1].you}"
    texts, _ = await _reply(_model(), [{"role": "user", "content": content}])
    assert "".join(texts) == SCRIPT.turns[1].otto


async def test_off_the_script_it_quotes_what_recall_finds() -> None:
    asked: list[str] = []

    async def recall(question: str) -> RecallResult:
        asked.append(question)
        item = RecallItem(
            3, "e3", "c3", "you", "message", "2026-03-02T09:13:00+00:00", "big enough for a glove", 1, False
        )
        return RecallResult("bm25", 10, (item,))

    texts, _ = await _reply(_model(recall), [{"role": "user", "content": "How big is the glove button?"}])
    assert asked == ["How big is the glove button?"]
    assert "big enough for a glove" in "".join(texts)


async def test_it_answers_a_compaction_with_cited_bullets() -> None:
    prompt = (
        "At most 3 bullets of at most 40 words each.\n\nItems:\n[1] demo, 2026-03-02 09:04: Port 4001 is free.\n[2] No."
    )
    assert [numbers for _, numbers in parse_bullets(await _model().complete(prompt), 2)] == [(1,), (2,)]


def _model(recall: object = None) -> DemoModel:
    return DemoModel(SCRIPT, recall, reply_seconds=0, summary_seconds=0)  # type: ignore[arg-type]


async def _reply(model: DemoModel, messages: list[Message]) -> tuple[list[str], Finished]:
    pieces = [piece async for piece in model.stream(messages)]
    assert isinstance(pieces[-1], Finished)
    return [piece.text for piece in pieces if isinstance(piece, TextDelta)], pieces[-1]
