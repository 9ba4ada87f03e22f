"""Sessions with a ledger for tests: made by the real engine, with notes taken as workers would."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from memory.dropping import choose_drops
from memory.ledger_fold import read_state
from memory.observations import record_drops, record_observations, record_reflections
from memory.queue import TieredQueue
from memory.store import MemoryStore
from memory.values import TIERED_KINDS, Compaction, NewEvent
from sessions import tapes
from sessions.index import SessionIndex
from sessions.options import Options
from sessions.rows import SessionRow
from tests.memory.ledgers import concluded, observed
from tests.sessions.made_sessions import short_summary

NOTES_EVERY = 6
"""Events."""


def noted(options: Options, id: str, events: Iterable[NewEvent], *, pool_max_tokens: int = 200) -> SessionRow:
    """A session with this id whose compactions were made from its ledger, but for what no note covers."""
    path = tapes.tape_path(options.home, id)
    done: list[Compaction] = []
    with closing(MemoryStore(path, now=options.now)) as store:
        queue = TieredQueue(
            store,
            summarize=short_summary,
            x_budget=160,
            y_budget=2_500,
            mode="auto",
            pool_max_tokens=pool_max_tokens,
        )
        queue.on_compaction = done.append
        for number, event in enumerate(events):
            queue.append(event)
            if number % NOTES_EVERY == NOTES_EVERY - 1:
                take_notes(store)
        summary = tapes.summary_of(store, id)
    assert summary is not None
    assert {one.mode for one in done} == {"auto"}
    SessionIndex(options.home).record(summary.row)
    return summary.row


def take_notes(store: MemoryStore) -> None:
    """One observation of two events each, every third event passed over; a conclusion; what it covers is dropped."""
    newest = store.counts().events
    events = store.events(after=read_state(store).observed_through, kinds=TIERED_KINDS)
    new = [event for event in events if event.seq % 3]
    levels = ("low", "medium", "high", "critical")
    made = [
        observed(f"About {one.text[:20]}", one.id, other.id, relevance=levels[one.seq % 4])
        for one, other in zip(new[::2], new[1::2], strict=False)
    ]
    record_observations(store, made, covers=newest)
    state = read_state(store)
    live = list(state.observations.values())
    if newest - state.reflected_through < 5 * NOTES_EVERY:
        return
    record_reflections(store, [concluded(f"By event {newest} it was dry.", *live[:4])], covers=newest)
    record_drops(store, choose_drops(read_state(store), [one.id for one in live], 300), covers=newest)
