"""Going on from the middle of a conversation: a new session with everything up to the end of one turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from memory import vector_rows
from memory.budgets import budgets_key
from memory.store import CONVERSATION, MemoryStore
from memory.values import Event
from sessions import tapes
from sessions.ids import fork_title, new_session_id
from sessions.options import Options
from sessions.remembered_model import MODEL_FACT
from sessions.rows import SessionRow
from sessions.snapshots import reading_at_once
from sessions.tape_building import finish, fit_to_budgets, unfinished_tape, write_record


def fork(options: Options, parent: SessionRow, at_seq: int) -> SessionRow:
    """Make the fork's tape; its row.

    The memory of the fork is the parent's as it stood at that moment: bullets that were made later, or that stand for
    anything later, are not in it.

    Raises:
        UnknownId: the parent has no event ``at_seq``.
        StoreUnavailable, StoreDamaged: a file cannot be used.
    """
    home, now = options.home, options.now
    with (
        MemoryStore(tapes.tape_path(home, parent.id), read_only=True, now=now) as source,
        reading_at_once(source),
        unfinished_tape(home, now) as store,
    ):
        last = _end_of_turn(source, at_seq)
        events = source.events(before=last + 1)
        ledger = takewhile(lambda entry: entry.data["at"] <= last, source.ledger())
        budgets = source.get_meta(budgets_key(CONVERSATION))
        moment = now().isoformat()
        id = new_session_id(now(), lambda name: tapes.tape_path(home, name).exists())
        row = SessionRow(
            id=id,
            title=fork_title(parent.title),
            workspace=parent.workspace,
            created=moment,
            updated=moment,
            turns=_turns(events),
            parent=parent.id,
        )
        write_record(store, row, events, ledger)
        # The parent may have had larger budgets then than it has now.
        fit_to_budgets(store, budgets, options)
        _take_along(source, store)
        return replace(row, id=finish(store, home, id))


def _end_of_turn(source: MemoryStore, at_seq: int) -> int:
    """The last event of the turn to which event ``at_seq`` belongs."""
    last = source.event(at_seq).seq
    for event in source.events(after=last):
        if event.protected:
            break
        last = event.seq
    return last


def _turns(events: Sequence[Event]) -> int:
    return sum(event.protected for event in events)


def _take_along(source: MemoryStore, store: MemoryStore) -> None:
    """The model that answers, and the vectors that are made already: they belong to chunks that are the same here."""
    stamp = source.get_meta(vector_rows.STAMP_KEY)
    with source.reading() as parent, store.transaction() as db:
        store.set_meta(MODEL_FACT, source.get_meta(MODEL_FACT))
        if stamp is not None:
            chunks = store.chunks_of(event.seq for event in store.events())
            hashes = [chunk.hash for pieces in chunks.values() for chunk in pieces]
            vector_rows.make_current(db, stamp)
            vector_rows.insert(db, stamp, vector_rows.select(parent, stamp, hashes))
