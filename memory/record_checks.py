"""What must hold of the ledger's records on a real file. Reads only; ``memory/verify.py`` runs these."""

from __future__ import annotations

from collections.abc import Iterator

from memory.bullet_making import record
from memory.ledger_fold import Batch, batch_of
from memory.observations import RECORD_ENTRIES, InvalidRecord
from memory.projection import recorded
from memory.rebuild import thread_of
from memory.store import LedgerEntry, MemoryStore
from memory.tier_ledger import IMPORTED
from memory.values import RECORD_FORMS, Bullet


def records_are_sound(store: MemoryStore, kind: str) -> Iterator[str]:
    """Every entry reads, covers no more than there was, and names what is there."""
    sound: list[tuple[LedgerEntry, Batch]] = []
    for entry in store.ledger(kind, RECORD_ENTRIES):
        try:
            sound.append((entry, batch_of(entry)))
        except InvalidRecord as error:
            yield f"ledger entry {entry.n} ({entry.entry}) counts for nothing: {error}"
    sources = {source for _, batch in sound for made in batch.observations for source in made.sources}
    numbers = store.numbers_of(sources, thread_of(kind))
    known: set[str] = set()
    for entry, batch in sound:
        at = f"ledger entry {entry.n}"
        if batch.covers > entry.data["at"]:
            yield f"{at} covers event {batch.covers}, which came after it"
        for made in batch.observations:
            known.add(made.id)
            for source in made.sources:
                if source not in numbers:
                    yield f"{at}: observation {made.id} names event {source!r}, which never stood in the view"
                elif numbers[source] > entry.data["at"]:
                    yield f"{at}: observation {made.id} names event {source!r}, which came after it"
        for reflection in batch.reflections:
            for support in reflection.supports:
                if support not in known:
                    yield f"{at}: reflection {reflection.id} rests on {support}, which was not observed before"


def record_bullets_say_what_was_recorded(store: MemoryStore, kind: str) -> Iterator[str]:
    """A bullet that stands for a record has its words and leads to what it rests on."""
    all_shown = recorded(store, kind)
    known = {shown.record.id for shown in all_shown}
    said = {_said(record(shown.record, shown.seqs, 1, _no_hashes)) for shown in all_shown}
    imported = bool(store.ledger(kind, IMPORTED))
    for bullet in store.bullets(kind):
        if bullet.form not in RECORD_FORMS:
            continue
        if bullet.id in known:
            if _said(bullet) not in said:
                yield f"bullet {bullet.id} does not say what the ledger recorded under its id, or leads elsewhere"
        elif not imported:
            # A session that came without its tape has such bullets and not the records.
            yield f"bullet {bullet.id} stands for a record that the ledger does not have"


def _said(bullet: Bullet) -> tuple[str, str, str, tuple[int, ...]]:
    return bullet.id, bullet.form, bullet.text, bullet.seqs


def _no_hashes(seq: int) -> tuple[str, ...]:
    return ()
