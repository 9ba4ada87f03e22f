"""What goes on behind a conversation: every failure is told, nothing is sent where it must not go, all of it ends."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from memory.embeddings import EmbedderChoice
from memory.errors import StoreUnavailable
from memory.next_generation import NextGeneration
from memory.queue import TieredQueue
from sessions.events import Compacting
from sessions.options import Options
from sessions.session import Session
from tests.memory.embedders import TinyEmbedder
from tests.sessions.listening import heard, notices, talk, until
from tests.sessions.scripted_model import ScriptedModel

MANY_CHUNKS = "One paragraph of many, and each of them is long enough for a chunk.\n\n" * 800
"""More than one batch of them."""

HOSTED, LOCAL = "openai/far-away", "ollama/nearby"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(home=tmp_path / "otto", chat=HOSTED, x_budget=200, y_budget=400, embedding="none")


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> TinyEmbedder:
    """The embedder of a session that talks with a hosted model; one that talks with a local model has another."""
    hosted, local = TinyEmbedder("tiny:hosted"), TinyEmbedder("tiny:local")

    def choose(options: Options, model_name: str) -> EmbedderChoice:
        return EmbedderChoice(hosted if model_name == HOSTED else local)

    monkeypatch.setattr("sessions.embedding.choose", choose)
    return hosted


class Hold:
    """Holds an embedder's batches until it is told to go on."""

    def __init__(self, embedder: TinyEmbedder) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        embedder.before_batch = self._wait

    def _wait(self) -> None:
        self.begun.set()
        assert self.go_on.wait(30)


async def test_a_compaction_that_cannot_be_written_is_told_and_tried_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **more: object) -> None:
        raise StoreUnavailable("The disk is full.")

    events = heard(session)
    await talk(session, 1)
    assert session._memory is not None
    with monkeypatch.context() as patch:
        patch.setattr(session._memory.queue, "swap_in", full)
        number = 1
        while not notices(events):
            await talk(session, 1, first=number)
            await session.drain()
            number += 1
    assert "could not be compacted" in notices(events)[0]
    assert "The disk is full." in notices(events)[0]
    generation = (await session.snapshot()).generation
    await talk(session, 10, first=number)
    await session.drain()
    assert (await session.snapshot()).generation > generation


async def test_whatever_a_summariser_raises_is_told(session: Session, model: ScriptedModel) -> None:
    def broken(prompt: str) -> str:
        raise KeyError("choices")

    model.summarize = broken
    events = heard(session)
    await talk(session, 60)
    await session.drain()
    assert any("KeyError('choices')" in text for text in notices(events))
    assert any("excerpts" in text for text in notices(events))


async def test_nothing_is_called_a_compaction_before_one_has_begun(session: Session) -> None:
    events = heard(session)
    while not any(isinstance(event, Compacting) for event in events):
        assert not (await session.snapshot()).compacting
        await talk(session, 1, first=len(events))
    await session.drain()
    assert not (await session.snapshot()).compacting


async def test_a_turn_does_not_wait_while_bullets_are_worked_out(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    work_out = TieredQueue.work_out

    def slow(*args: Any, **more: Any) -> NextGeneration:
        begun.set()
        assert go_on.wait(30)
        return work_out(*args, **more)

    monkeypatch.setattr(TieredQueue, "work_out", slow)
    number = 0
    while not begun.is_set():
        await talk(session, 1, first=number)
        await asyncio.sleep(0)
        number += 1
    await talk(session, 2, first=number)
    assert (await session.snapshot()).compacting
    go_on.set()
    await session.drain()
    assert (await session.snapshot()).generation > 0


async def test_no_text_leaves_the_machine_once_a_local_model_answers(session: Session, hosted: TinyEmbedder) -> None:
    hold = Hold(hosted)
    # More than one batch is waiting when the model changes.
    await session.send(MANY_CHUNKS)
    await until(hold.begun.is_set)
    await session.set_model(LOCAL)
    hold.go_on.set()
    await session.drain()
    sent = hosted.passages
    assert sent <= 32
    await session.send("A secret.")
    await session.drain()
    await session.recall("secret")
    assert hosted.passages == sent
