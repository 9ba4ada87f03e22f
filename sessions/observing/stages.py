"""What each worker does in one run: read, ask its model, and append what came of it to the ledger in one transaction.

A run that is cancelled or killed before that transaction leaves nothing behind, and the next one begins where it began.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from memory.dropping import Coverage, choose_drops, coverage_of, most_drops
from memory.ledger_fold import LedgerState
from memory.observations import (
    Observation,
    observation_line,
    record_drops,
    record_observations,
    record_reflections,
)
from sessions.chat_model import ChatModel
from sessions.live import LiveMemory
from sessions.observing.agent import Agent, Exchange, Task
from sessions.observing.entries import Chunk, next_chunk
from sessions.observing.known_memory import KnownMemory, known_memory
from sessions.observing.prompts import dropper_task, observer_task, reflector_task
from sessions.observing.record_tools import DropRecorder, ObservationRecorder, RecordingTool, ReflectionRecorder
from sessions.observing.seats import reading_cap
from sessions.options import Options

KNOWN_SHARE = 0.5
"""Of what an observer may read, what is known already may take at most."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a worker came to."""

    recorded: int
    exchange: Exchange
    task: Task
    read: int
    """Tokens of memory and conversation in its prompt."""
    rejected: int = 0
    garbage: bool = False
    """Something was recorded, and nothing of it made sense."""
    covers: int = 0
    """The ``seq`` up to which its entry covers the conversation; 0 where it wrote none."""
    passed: int = 0
    """The ``seq`` up to which an observer has read without finding anything, where more comes after it."""

    @property
    def failure(self) -> str | None:
        """Why it came to less than it should have, as a sentence."""
        if self.exchange.failure is not None:
            return str(self.exchange.failure)
        if self.garbage:
            return "All that was recorded named sources that do not exist or had another form, so none of it was kept."
        return None


async def observe(
    memory: LiveMemory, model: ChatModel, agent: Agent, options: Options, state: LedgerState, after: int
) -> Run:
    """Take notes of the oldest part of the conversation after event ``after``.

    Raises:
        StoreReadOnly, StoreUnavailable: the notes could not be written.
    """
    cap = await reading_cap(model, options.ledger)

    def read() -> tuple[KnownMemory, Chunk]:
        known = known_memory(state, int(cap * KNOWN_SHARE))
        return known, next_chunk(memory.store, after, cap - known.tokens)

    known, chunk = await memory.read(read)
    task = observer_task(options.now(), known.text, chunk.text)
    recorder = ObservationRecorder(chunk.entries, state)
    exchange = await agent.run(model, task, recorder.tool)
    # What came before a failure is kept, and covers no more than it speaks of.
    covers = chunk.covers if exchange.failure is None else recorder.read_through
    if recorder.observations:
        await memory.run(record_observations, memory.store, recorder.observations, covers=covers)
    return Run(
        len(recorder.observations),
        exchange,
        task,
        known.tokens + chunk.tokens,
        rejected=recorder.tool.rejected,
        garbage=recorder.tool.was_garbage,
        covers=covers if recorder.observations else 0,
        passed=0 if chunk.to_the_end else chunk.covers,
    )


async def reflect(memory: LiveMemory, model: ChatModel, agent: Agent, options: Options, state: LedgerState) -> Run:
    """Draw conclusions from the live observations.

    Raises:
        StoreReadOnly, StoreUnavailable: the conclusions could not be written.
    """
    known = await _known_with_coverage(model, options, state)
    task = reflector_task(options.now(), known.text)
    recorder = ReflectionRecorder(state, known.observations)
    exchange = await agent.run(model, task, recorder.tool)
    covers = state.observed_through
    if recorder.reflections:
        await memory.run(record_reflections, memory.store, recorder.reflections, covers=covers)
    return _run(len(recorder.reflections), exchange, task, known, recorder.tool, covers)


async def drop(memory: LiveMemory, model: ChatModel, agent: Agent, options: Options, state: LedgerState) -> Run:
    """Retire live observations until they come down to their target, of those that may go (``memory/dropping.py``).

    Raises:
        StoreReadOnly, StoreUnavailable: the tombstones could not be written.
    """
    target = options.ledger.pool_target
    known = await _known_with_coverage(model, options, state)
    most = most_drops(state, target)
    task = dropper_task(options.now(), known.text, pool=state.pool_tokens, target=target, most=most)
    recorder = DropRecorder(known.observations)
    exchange = await agent.run(model, task, recorder.tool)
    chosen = choose_drops(state, recorder.proposed, target)
    covers = min(state.observed_through, state.reflected_through)
    if chosen:
        await memory.run(record_drops, memory.store, chosen, covers=covers)
    return _run(len(chosen), exchange, task, known, recorder.tool, covers)


def _run(recorded: int, exchange: Exchange, task: Task, known: KnownMemory, tool: RecordingTool, covers: int) -> Run:
    return Run(
        recorded,
        exchange,
        task,
        known.tokens,
        rejected=tool.rejected,
        garbage=tool.was_garbage,
        covers=covers if recorded else 0,
    )


async def _known_with_coverage(model: ChatModel, options: Options, state: LedgerState) -> KnownMemory:
    cap = await reading_cap(model, options.ledger)
    coverage = coverage_of(state)
    return await asyncio.to_thread(known_memory, state, cap, lambda made: _line(made, coverage[made.id]))


def _line(made: Observation, coverage: Coverage) -> str:
    return f"{coverage}: {observation_line(made)}"
