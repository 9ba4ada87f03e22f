"""Every invariant of the memory, checked on a real file (DESIGN, "What must always hold"). Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.budgets import noted_budgets
from memory.database import readable_errors
from memory.errors import OttoError
from memory.excerpt import join_spans
from memory.ids import chunk_hash
from memory.queue import TieredQueue
from memory.rebuild import fold_store, thread_of
from memory.record_checks import record_bullets_say_what_was_recorded, records_are_sound
from memory.store import CONVERSATION, MemoryStore
from memory.values import TIERED_KINDS, Bullet, Event, Item

MOST_ROWS = 50
"""Of one failing check, so many rows are named; the rest are counted."""

TRIGGERS = (
    "events_are_never_deleted",
    "events_are_never_edited",
    "ledger_is_never_deleted",
    "ledger_is_never_edited",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant. ``rows`` name exactly what breaks it."""

    name: str
    ok: bool
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    ok: bool
    checks: tuple[Check, ...]


def verify(store: MemoryStore, kind: str = CONVERSATION) -> VerifyReport:
    """Check one store. A check that cannot even run fails with the reason as its row."""
    checks = tuple(_run(name, check, store, kind) for name, check in CHECKS)
    return VerifyReport(all(check.ok for check in checks), checks)


def _run(name: str, check: Callable[[MemoryStore, str], Iterable[str]], store: MemoryStore, kind: str) -> Check:
    try:
        with readable_errors(store.path):
            rows = list(check(store, kind))
    except (OttoError, ValueError, KeyError, IndexError, TypeError) as error:
        rows = [f"could not be checked: {error}"]
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], f"and {len(rows) - MOST_ROWS} more"]
    return Check(name, not rows, tuple(rows))


def file_is_sound(store: MemoryStore, kind: str) -> Iterator[str]:
    db = store.reader()
    yield from (row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok")
    yield from (f"{row[0]} row {row[1]} refers to nothing" for row in db.execute("PRAGMA foreign_key_check"))


def tape_is_append_only(store: MemoryStore, kind: str) -> Iterator[str]:
    there = {row[0] for row in store.reader().execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    yield from (f"the guard {name} is missing" for name in TRIGGERS if name not in there)


def events_are_whole(store: MemoryStore, kind: str) -> Iterator[str]:
    for event in store.events():
        for name in ("t_event", "t_ingest"):
            if datetime.fromisoformat(getattr(event, name)).tzinfo is None:
                yield f"event {event.seq}: {name} has no offset"
        if not event.id:
            yield f"event {event.seq}: it has no id"


def chunks_cover_every_event(store: MemoryStore, kind: str) -> Iterator[str]:
    events = store.events()
    chunks = store.chunks_of(event.seq for event in events)
    for event in events:
        place = 0
        for chunk in chunks.pop(event.seq, []):
            text = event.text[chunk.start : chunk.end]
            if chunk.start != place:
                yield f"event {event.seq}: characters {place} to {chunk.start} are in no chunk"
            if chunk.hash != chunk_hash(event.thread, event.id, chunk.start, text):
                yield f"event {event.seq}: chunk {chunk.hash} does not have the hash of its words"
            place = chunk.end
        if event.kind in TIERED_KINDS and place != len(event.text):
            yield f"event {event.seq}: characters {place} to {len(event.text)} are in no chunk"
    yield from (f"chunks of event {seq}, which is not on the tape" for seq in chunks)


def keyword_index_is_complete(store: MemoryStore, kind: str) -> Iterator[str]:
    db = store.reader()
    missing = db.execute("SELECT hash FROM chunks WHERE rowid NOT IN (SELECT id FROM chunks_fts_docsize)")
    yield from (f"chunk {row[0]} is not in the keyword index" for row in missing)
    extra = db.execute("SELECT id FROM chunks_fts_docsize WHERE id NOT IN (SELECT rowid FROM chunks)")
    yield from (f"the keyword index has row {row[0]}, which is no chunk" for row in extra)


def every_event_is_reachable(store: MemoryStore, kind: str) -> Iterator[str]:
    raw = {item.event.seq for item in store.pending(kind)}
    behind = {seq for bullet in store.bullets(kind) for seq in bullet.seqs}
    for event in _tiered(store, kind):
        if event.seq not in raw and event.seq not in behind:
            yield f"event {event.seq} stands in no tier and behind no bullet"
        if event.seq in raw and event.seq in behind:
            yield f"event {event.seq} stands raw and behind a bullet"


def bullets_lead_to_chunks(store: MemoryStore, kind: str) -> Iterator[str]:
    chunks = store.chunks_of(seq for bullet in store.bullets(kind) for seq in bullet.seqs)
    for bullet in store.bullets(kind):
        expected = tuple(chunk.hash for seq in bullet.seqs for chunk in chunks.get(seq, []))
        if bullet.hash_refs != expected:
            yield f"bullet {bullet.id}: its hash_refs are not the chunks of its events"


def persons_words_are_exact(store: MemoryStore, kind: str) -> Iterator[str]:
    bullets = store.bullets(kind)
    protected = {seq for bullet in bullets if bullet.protected for seq in bullet.seqs}
    raw = {item.event.seq for item in store.pending(kind)}
    for event in _tiered(store, kind):
        if event.protected and event.seq not in raw and event.seq not in protected:
            yield f"event {event.seq} was said by the person and is behind no protected bullet"
    yield from (row for bullet in bullets for row in _misquoted(store, bullet))


def text_is_stored_once(store: MemoryStore, kind: str) -> Iterator[str]:
    rows = store.reader().execute(
        "SELECT id FROM bullets WHERE spans IS NOT NULL AND text IS NOT NULL AND kind = ?", (kind,)
    )
    yield from (f"bullet {row[0]} copies the words that it quotes" for row in rows)


def tiers_follow_from_the_tape(store: MemoryStore, kind: str) -> Iterator[str]:
    tiers = fold_store(store, kind)
    if tiers.generation != store.generation(kind):
        yield f"generation {store.generation(kind)} should be {tiers.generation}"
    yield from _differences("pending event", {i.event.seq: i for i in store.pending(kind)}, _by_seq(tiers.pending))
    yield from _differences(
        "bullet", {b.id: b for b in store.bullets(kind)}, {bullet.id: bullet for bullet in tiers.bullets}
    )


def view_fits(store: MemoryStore, kind: str) -> Iterator[str]:
    x_budget, y_budget = noted_budgets(store, kind)
    queue = TieredQueue(store, kind, x_budget=x_budget, y_budget=y_budget, restore=True, alter=False)
    x = queue.recent_items
    newest = sum(item.tokens for item in x if item.turn == x[-1].turn)
    view = queue.current_view().tokens
    if view > x_budget + y_budget + newest:
        yield f"the view holds {view} tokens, the budget is {x_budget} + {y_budget} and the newest turn {newest}"


def vectors_belong_to_chunks(store: MemoryStore, kind: str) -> Iterator[str]:
    db = store.reader()
    orphans = db.execute("SELECT stamp, hash FROM vectors WHERE hash NOT IN (SELECT hash FROM chunks)")
    yield from (f"a vector of {row[0]} belongs to {row[1]}, which is no chunk" for row in orphans)
    sizes = db.execute("SELECT stamp, count(DISTINCT length(vector)) FROM vectors GROUP BY stamp")
    yield from (f"the vectors of {row[0]} have {row[1]} different sizes" for row in sizes if row[1] > 1)


def _tiered(store: MemoryStore, kind: str) -> list[Event]:
    return [event for event in store.events(kinds=TIERED_KINDS) if event.thread == thread_of(kind)]


def _by_seq(items: Iterable[Item]) -> dict[int, Item]:
    return {item.event.seq: item for item in items}


def _misquoted(store: MemoryStore, bullet: Bullet) -> Iterator[str]:
    if bullet.form in ("whole", "excerpt") and bullet.spans:
        text = store.event(bullet.seqs[0]).text
        if bullet.text != join_spans(text, bullet.spans):
            yield f"bullet {bullet.id} does not have the exact words of event {bullet.seqs[0]}"
        if bullet.form == "whole" and bullet.text != text:
            yield f"bullet {bullet.id} should be the whole of event {bullet.seqs[0]}"


def _differences(what: str, stored: Mapping[Any, object], derived: Mapping[Any, object]) -> Iterator[str]:
    for key in sorted(stored.keys() | derived.keys()):
        if stored.get(key) != derived.get(key):
            state = "differs from" if key in stored and key in derived else "is not in both"
            yield f"{what} {key}: the table {state} what the tape leads to"


CHECKS: tuple[tuple[str, Callable[[MemoryStore, str], Iterable[str]]], ...] = (
    ("file is sound", file_is_sound),
    ("tape is append-only", tape_is_append_only),
    ("events are whole", events_are_whole),
    ("chunks cover every event", chunks_cover_every_event),
    ("keyword index is complete", keyword_index_is_complete),
    ("every event is reachable", every_event_is_reachable),
    ("bullets lead to their chunks", bullets_lead_to_chunks),
    ("the person's words are exact", persons_words_are_exact),
    ("text is stored once", text_is_stored_once),
    ("tiers follow from the tape", tiers_follow_from_the_tape),
    ("the ledger's records are sound", records_are_sound),
    ("bullets say what was recorded", record_bullets_say_what_was_recorded),
    ("the view fits", view_fits),
    ("vectors belong to chunks", vectors_belong_to_chunks),
)
