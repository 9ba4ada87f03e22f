"""The ledger of an export: entries in order, each of a shape that the tiers can be folded from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from memory.bullet_fold import BulletFold
from memory.ledger_fold import batch_of
from memory.observations import DROPS, OBSERVATIONS, RECORD_ENTRIES, REFLECTIONS, InvalidRecord
from memory.rebuild import thread_of
from memory.store import LedgerEntry
from memory.tier_ledger import COMPACTED, DEMOTED, HELD, IMPORTED
from memory.values import TIERED_KINDS, Event
from sessions.export_shape import (
    CompactedData,
    DemotedData,
    DropsData,
    HeldData,
    ImportedData,
    LedgerBullet,
    LedgerData,
    LedgerRow,
    ObservationsData,
    ReflectionsData,
    checked,
    refused,
)

MOST_STEPS = 20_000_000
"""To find all events behind all live bullets of one queue, a step for each line of the ledger and each event."""

_SHAPES: Mapping[str, type[LedgerData]] = {
    HELD: HeldData,
    DEMOTED: DemotedData,
    COMPACTED: CompactedData,
    IMPORTED: ImportedData,
    OBSERVATIONS: ObservationsData,
    REFLECTIONS: ReflectionsData,
    DROPS: DropsData,
}


def ledger_of(rows: Sequence[LedgerRow], events: Sequence[Event]) -> list[LedgerEntry]:
    """The entries, each checked against the ``events`` of the tape.

    Raises:
        ImportRefused: an entry is wrong in itself, out of order, or leads to nothing.
    """
    last = events[-1].seq if events else 0
    tiered: dict[str, list[Event]] = {}
    for event in events:
        if event.kind in TIERED_KINDS:
            tiered.setdefault(event.thread, []).append(event)
    entries: list[LedgerEntry] = []
    queues: dict[str, _Queue] = {}
    number, newest = 0, 0
    for place, row in enumerate(rows):
        at = f"tape.ledger[{place}]"
        data = checked(_SHAPES.get(row.entry, LedgerData), row.data, f"{at}.data")
        if row.n <= number:
            raise refused(f"{at}.n", "does not come after the one before it")
        if not newest <= data.at <= last:
            raise refused(f"{at}.data.at", "is out of order, or is later than the last event")
        number, newest = row.n, data.at
        if row.kind not in queues:
            queues[row.kind] = _Queue(tiered.get(thread_of(row.kind), []))
        entry = LedgerEntry(row.n, row.kind, row.entry, row.t, row.data)
        queues[row.kind].take(f"{at}.data", row, data)
        if row.entry in RECORD_ENTRIES:
            queues[row.kind].take_records(f"{at}.data", entry)
        entries.append(entry)
    for queue in queues.values():
        queue.check_live_bullets()
    return entries


class _Queue:
    """One queue's live bullets, followed entry by entry."""

    def __init__(self, tiered: Sequence[Event]) -> None:
        self._events = {event.seq: event for event in tiered}
        self._seqs = [event.seq for event in tiered]
        self._numbers = {event.id: event.seq for event in tiered}
        self._bullets = BulletFold()
        self._made_at: dict[str, str] = {}
        self._observed: set[str] = set()

    def take(self, at: str, row: LedgerRow, data: Any) -> None:
        if isinstance(data, CompactedData):
            self._check_bullets(f"{at}.added", data.added)
        elif isinstance(data, ImportedData):
            self._check_bullets(f"{at}.bullets", data.bullets)
            for place, held in enumerate(data.held):
                self._check_held(f"{at}.held[{place}]", held.seq, held.spans)
        elif isinstance(data, HeldData):
            self._check_held(at, data.seq, data.spans)
        self._bullets.take(row.entry, row.data)

    def take_records(self, at: str, entry: LedgerEntry) -> None:
        """What a batch of records names must be there, and there before it."""
        try:
            batch = batch_of(entry)
        except InvalidRecord as error:
            raise refused(at, str(error)) from None
        newest = entry.data["at"]
        if batch.covers > newest:
            raise refused(f"{at}.covers", "is an event that came later")
        for place, observation in enumerate(batch.observations):
            self._observed.add(observation.id)
            for number, source in enumerate(observation.sources):
                if self._numbers.get(source, newest + 1) > newest:
                    raise refused(
                        f"{at}.observations[{place}].sources[{number}]",
                        "leads to an event that is not on the tape, or came later",
                    )
        for place, reflection in enumerate(batch.reflections):
            for number, support in enumerate(reflection.supports):
                if support not in self._observed:
                    raise refused(
                        f"{at}.reflections[{place}].supports[{number}]",
                        "leads to an observation that was not recorded before",
                    )

    def check_live_bullets(self) -> None:
        left = MOST_STEPS
        for line in self._bullets:
            try:
                left -= len(line.seqs(most=left)) + 1
            except ValueError:
                at = self._made_at[line.entry["id"]]
                raise refused(f"{at}.seqs", "is one of too many references for any session") from None

    def _check_bullets(self, at: str, bullets: Sequence[LedgerBullet]) -> None:
        """Bullets that are gone by now are checked too: a citation of one leads back for good."""
        for number, bullet in enumerate(bullets):
            here = f"{at}[{number}]"
            before = 0
            for place, (first, last) in enumerate(bullet.seqs):
                if first <= before:
                    raise refused(f"{here}.seqs[{place}]", "overlaps the range before it")
                before = last
                there = bisect_right(self._seqs, last) - bisect_left(self._seqs, first)
                if there != last - first + 1:
                    raise refused(f"{here}.seqs[{place}]", "leads to events that are not on the tape")
            for place, id in enumerate(bullet.inherits):
                if id not in self._bullets:
                    raise refused(f"{here}.inherits[{place}]", "is no bullet that stood before this one")
            if not bullet.seqs and (bullet.spans or not bullet.inherits):
                raise refused(f"{here}.seqs", "is empty, so the bullet leads to nothing")
            if bullet.spans:
                _check_end(f"{here}.spans", bullet.spans, self._events[bullet.seqs[0][0]])
            elif bullet.text is None:
                raise refused(f"{here}.text", "is null, and no spans say where the words stand")
            self._made_at[bullet.id] = here

    def _check_held(self, at: str, seq: int, spans: Sequence[Sequence[int]]) -> None:
        if seq not in self._events:
            raise refused(f"{at}.seq", "leads to an event that is not on the tape")
        _check_end(f"{at}.spans", spans, self._events[seq])


def _check_end(at: str, spans: Sequence[Sequence[int]], event: Event) -> None:
    for place, (_, end) in enumerate(spans):
        if end > len(event.text):
            raise refused(f"{at}[{place}][1]", f"lies behind the end of event {event.seq}")
