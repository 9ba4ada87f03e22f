"""What the killed process does: chats, takes notes, compacts, embeds and re-embeds, in steps that can be done again.

Everything is the same on every run: ids, times, summaries and vectors. A step that was done already changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memory.gist import gist
from memory.ledger_fold import read_state
from memory.observations import Observation, record_drops, record_observations, record_reflections
from memory.queue import TieredQueue
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from memory.vectors import embed_waiting, reembed
from tests.memory.conversations import answered, said
from tests.memory.embedders import TinyEmbedder
from tests.memory.ledgers import concluded, observed

TURNS = 60
X_BUDGET = 150
Y_BUDGET = 500

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

CALL_EVERY = 5
NOTE_EVERY = 3
EMBED_EVERY = 4
REEMBED_EVERY = 15
"""Turns."""

FIRST_MODEL, SECOND_MODEL = TinyEmbedder("tiny:first", 8), TinyEmbedder("tiny:second", 12)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is acknowledged when it is done."""

    name: str
    do: Callable[[TieredQueue], object]


def open_store(path: Path) -> MemoryStore:
    return MemoryStore(path, now=lambda: NOW)


def open_queue(store: MemoryStore) -> TieredQueue:
    return TieredQueue(store, restore=True, x_budget=X_BUDGET, y_budget=Y_BUDGET, auto_compact=False)


def steps() -> Sequence[Step]:
    return tuple(_steps())


def appended_by(step: Step) -> str | None:
    """The id of the event that a step puts on the tape."""
    return step.name.partition(" ")[2] if step.name.startswith("say ") else None


def _steps() -> Iterator[Step]:
    model = FIRST_MODEL
    for turn in range(TURNS):
        yield Step(f"say q{turn}", partial(_say, turn=turn))
        if turn % CALL_EVERY == 1:
            yield Step(f"say c{turn}", partial(_call, turn=turn))
            yield Step(f"say r{turn}", partial(_result, turn=turn))
        yield Step(f"draft {turn}", partial(_draft, turn=turn))
        yield Step(f"say a{turn}", partial(_answer, turn=turn))
        if turn % NOTE_EVERY == NOTE_EVERY - 1:
            yield Step(f"note {turn}", partial(_note, turn=turn))
            yield Step(f"conclude {turn}", partial(_conclude, turn=turn))
            yield Step(f"retire {turn}", partial(_retire, turn=turn))
        yield Step(f"compact {turn}", _compact_if_needed)
        if turn % EMBED_EVERY == EMBED_EVERY - 1:
            yield Step(f"embed {turn}", partial(_embed, model=model))
        if turn % REEMBED_EVERY == REEMBED_EVERY - 1:
            model = SECOND_MODEL if model is FIRST_MODEL else FIRST_MODEL
            yield Step(f"reembed {turn}", partial(_reembed, model=model))


def _say(queue: TieredQueue, turn: int) -> None:
    queue.append(said(turn, f"Question {turn}: {'please ' * (turn % 7)}keep port {4000 + turn} free."))


def _call(queue: TieredQueue, turn: int) -> None:
    meta = {"call": f"call-{turn}", "round": 1, "group": "workspace"}
    arguments = f'{{"path": "ports/{turn}.txt"}}'
    queue.append(NewEvent(id=f"c{turn}", text=arguments, role="assistant", kind="tool", source="read_file", meta=meta))


def _result(queue: TieredQueue, turn: int) -> None:
    """Long enough to stand as its line."""
    meta = {"call": f"call-{turn}", "summary": f"read the ports of turn {turn}", "ok": True, "group": "workspace"}
    text = f"port {4000 + turn} is taken by service {turn}\n" * 60
    new = NewEvent(
        id=f"r{turn}", text=text, role="tool", kind="tool", source="read_file", refs=(f"c{turn}",), meta=meta
    )
    queue.append(new)


def _draft(queue: TieredQueue, turn: int) -> None:
    if queue.store.event_by_id(f"a{turn}") is None:
        queue.store.save_draft(f"a{turn}", "model", "Answer")


def _answer(queue: TieredQueue, turn: int) -> None:
    queue.append(answered(turn, f"Answer {turn}: {'moved it, ' * (turn % 9)}all {turn + 3} tests pass."))
    queue.store.drop_draft(f"a{turn}")


def _note(queue: TieredQueue, turn: int) -> None:
    """On the last answers but one, so that something is left to the summariser."""
    store = queue.store
    covers = store.numbers_of([f"a{turn}"])[f"a{turn}"]
    if read_state(store).observed_through < covers:
        noted = range(turn - NOTE_EVERY + 2, turn + 1)
        record_observations(store, [_observation(number) for number in noted], covers=covers)


def _conclude(queue: TieredQueue, turn: int) -> None:
    made = concluded(f"By turn {turn} all ports were free.", _observation(turn))
    if made.id not in read_state(queue.store).reflections:
        record_reflections(queue.store, [made], covers=read_state(queue.store).observed_through)


def _retire(queue: TieredQueue, turn: int) -> None:
    if _observation(turn).id in read_state(queue.store).observations:
        record_drops(queue.store, [_observation(turn).id], covers=read_state(queue.store).observed_through)


def _observation(turn: int) -> Observation:
    return observed(f"Port {4000 + turn} was freed.", f"a{turn}")


def _compact_if_needed(queue: TieredQueue) -> None:
    if queue.needs_compaction:
        plan = queue.plan_compaction()
        assert plan is not None
        queue.apply_compaction(plan, [gist(prompt) for prompt in plan.prompts], made_by="gist")


def _embed(queue: TieredQueue, model: TinyEmbedder) -> None:
    embed_waiting(queue.store, model, batch=5)


def _reembed(queue: TieredQueue, model: TinyEmbedder) -> None:
    reembed(queue.store, model, batch=16)


KIND = CONVERSATION
