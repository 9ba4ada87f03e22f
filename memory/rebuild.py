"""The derived tables again, from the tape and its ledger alone (DESIGN, invariant 6: same tape, same view)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from memory import bullet_rows, chunk_rows, tier_ledger
from memory.bullet_fold import BulletFold, BulletLine
from memory.excerpt import join_spans
from memory.render import bullet_tokens
from memory.standing import item_of
from memory.store import CONVERSATION, LedgerEntry, MemoryStore
from memory.values import MAIN_THREAD, TIERED_KINDS, Bullet, Event, Item, Span, Tier


@dataclass(frozen=True, slots=True)
class Tiers:
    """The live tiers at one moment."""

    generation: int
    pending: tuple[Item, ...]
    bullets: tuple[Bullet, ...]


@dataclass(slots=True)
class _Fold:
    """What the ledger says, entry by entry."""

    generation: int = 0
    demoted_through: int = 0
    compacted_through: int = 0
    held: dict[int, tuple[Span, ...]] = field(default_factory=dict)
    bullets: BulletFold = field(default_factory=BulletFold)


def fold_tiers(events: Sequence[Event], ledger: Iterable[LedgerEntry], hashes: Mapping[int, Sequence[str]]) -> Tiers:
    """X, Y and bullets as the ledger leaves them.

    Args:
        events: the queue's tiered events, in order.
        ledger: the queue's entries, in order; a prefix gives the tiers as of that moment.
        hashes: the chunk hashes of each event, by ``seq``.
    """
    fold = _Fold()
    for entry in ledger:
        _take(fold, entry)
    by_seq = {event.seq: event for event in events}
    return Tiers(
        generation=fold.generation,
        pending=tuple(_standing(events, fold)),
        bullets=tuple(bullet_rows.in_order(bullet_of(line, by_seq, hashes) for line in fold.bullets)),
    )


def fold_store(store: MemoryStore, kind: str = CONVERSATION, *, until: int | None = None) -> Tiers:
    """The tiers that the tape of ``store`` leads to; with ``until``, as they stood when that event was the newest."""
    before = None if until is None else until + 1
    events = [event for event in store.events(kinds=TIERED_KINDS, before=before) if event.thread == thread_of(kind)]
    ledger = store.ledger(kind)
    if until is not None:
        ledger = list(takewhile(lambda entry: entry.data["at"] <= until, ledger))
    chunks = store.chunks_of(event.seq for event in events)
    return fold_tiers(events, ledger, {seq: [c.hash for c in pieces] for seq, pieces in chunks.items()})


def thread_of(kind: str) -> str:
    """The thread on which the queue of this namespace stands."""
    return MAIN_THREAD if kind == CONVERSATION else kind


def rebuild(store: MemoryStore) -> None:
    """Throw away chunks, keyword index, tiers and bullets, and make them again. Vectors of gone chunks go too."""
    events = store.events()
    with store.transaction() as db:
        _empty(db)
        for event in events:
            chunk_rows.insert(db, event.seq, chunk_rows.prepare(event))
        fill_tiers(store)
        db.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM chunks)")


def fill_tiers(store: MemoryStore) -> None:
    """Fill empty tiers and bullets from the tape and its chunks."""
    with store.transaction() as db:
        for kind in _kinds(store, store.events()):
            tiers = fold_store(store, kind)
            for item in tiers.pending:
                store.add_pending(kind, item)
            bullet_rows.replace(db, kind, (), tiers.bullets)


def _kinds(store: MemoryStore, events: Iterable[Event]) -> list[str]:
    threads = {event.thread for event in events if event.kind in TIERED_KINDS}
    kinds = {CONVERSATION if thread == MAIN_THREAD else thread for thread in threads}
    return sorted(kinds | {entry.kind for entry in store.ledger()})


def _empty(db: sqlite3.Connection) -> None:
    chunk_rows.remove_all(db)
    bullet_rows.remove_all(db)
    db.execute("DELETE FROM pending")


def _take(fold: _Fold, entry: LedgerEntry) -> None:
    data = entry.data
    fold.bullets.take(entry.entry, data)
    if entry.entry == tier_ledger.HELD:
        fold.held[data["seq"]] = tier_ledger.bullet_spans(data)
    elif entry.entry == tier_ledger.DEMOTED:
        fold.demoted_through = max(fold.demoted_through, data["through"])
    elif entry.entry == tier_ledger.COMPACTED:
        fold.generation = data["generation"]
        fold.compacted_through = max(fold.compacted_through, data["through"])
    elif entry.entry == tier_ledger.IMPORTED:
        fold.generation = data["generation"]
        fold.demoted_through = data["demoted_through"]
        fold.compacted_through = data["compacted_through"]
        fold.held = {held["seq"]: tier_ledger.bullet_spans(held) for held in data["held"]}


def _standing(events: Iterable[Event], fold: _Fold) -> Iterable[Item]:
    turn = 0
    for event in events:
        if event.protected or not turn:
            turn = event.seq
        if event.seq <= fold.compacted_through:
            continue
        spans = fold.held.get(event.seq)
        tier: Tier = "y" if event.seq <= fold.demoted_through else "x"
        yield item_of(event, tier, turn, spans)


def bullet_of(line: BulletLine, events: Mapping[int, Event], hashes: Mapping[int, Sequence[str]]) -> Bullet:
    """A bullet as the ledger wrote it down, with its words and hashes from the tape."""
    entry, seqs = line.entry, line.seqs()
    spans = tier_ledger.bullet_spans(entry)
    text = join_spans(events[seqs[0]].text, spans) if spans else str(entry["text"])
    return Bullet(
        id=entry["id"],
        text=text,
        hash_refs=tuple(hash for seq in seqs for hash in hashes.get(seq, ())),
        seqs=seqs,
        generation=entry["generation"],
        protected=entry["protected"],
        form=entry["form"],
        tokens=bullet_tokens(text, entry["id"], protected=entry["protected"], form=entry["form"]),
        spans=spans,
    )
