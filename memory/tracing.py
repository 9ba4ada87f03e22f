"""From an id to the exact words it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from memory import bullet_rows, tier_ledger
from memory.bullet_fold import BulletFold, BulletLine
from memory.errors import UnknownId
from memory.json_text import dump
from memory.rebuild import bullet_of, thread_of
from memory.record_tracing import trace
from memory.store import CONVERSATION, MemoryStore
from memory.text import storable
from memory.values import RECORD_FORMS, Bullet, BulletForm, Event, RecalledSource

_SHOWN = 40


def recall_id(store: MemoryStore, id: str, kind: str = CONVERSATION) -> RecalledSource:
    """Return what the id of an event, chunk, ledger record or bullet stands for, word for word.

    A dropped observation and a bullet of an earlier generation are found too: a citation that was ever made leads back
    for good. Where more than one thing has the id, ``collision`` says so.

    Raises:
        UnknownId: nothing has this id.
    """
    id = storable(id.strip())
    found = [source for look in (_event, _chunk, _record) if (source := look(store, id, kind)) is not None]
    if not found and (bullet := _bullet(store, id, kind)) is not None:
        found.append(bullet)
    if not found:
        shown = id if len(id) <= _SHOWN else f"{id[:_SHOWN]}…"
        raise UnknownId(f"Nothing in this session has the id {shown!r}. Copy one from the memory panel or a recall.")
    return replace(found[0], collision=_collision(id, found))


def _event(store: MemoryStore, id: str, kind: str) -> RecalledSource | None:
    event = store.event_by_id(id, thread_of(kind))
    if event is None:
        with store.reading() as db:
            row = db.execute("SELECT seq FROM events WHERE id = ? ORDER BY seq LIMIT 1", (id,)).fetchone()
        event = store.event(row[0]) if row else None
    if event is None:
        return None
    return RecalledSource(event.id, "event", (event,), standing=_standing(store, [event], kind))


def _chunk(store: MemoryStore, id: str, kind: str) -> RecalledSource | None:
    chunk = store.chunk(id)
    if chunk is None:
        return None
    event = store.event(chunk.seq)
    return RecalledSource(id, "chunk", (event,), chunk=chunk, standing=_standing(store, [event], kind))


def _record(store: MemoryStore, id: str, kind: str) -> RecalledSource | None:
    traced = trace(store, id, kind)
    if traced is None:
        return None
    numbers = store.numbers_of(traced.sources, thread_of(kind))
    events = store.events_at(numbers.values())
    return RecalledSource(
        id,
        "reflection" if traced.reflections else "observation",
        tuple(events),
        bullet=_live_bullet(store, id, kind, RECORD_FORMS),
        standing=_standing(store, events, kind),
        observations=tuple(dict.fromkeys((*traced.observations, *traced.supports))),
        reflections=traced.reflections,
        dropped=traced.dropped,
        missing=(*traced.unknown, *(source for source in traced.sources if source not in numbers)),
    )


def _bullet(store: MemoryStore, id: str, kind: str) -> RecalledSource | None:
    bullet = _live_bullet(store, id, kind) or _former_bullet(store, id, kind)
    if bullet is None:
        return None
    events = store.events_at(bullet.seqs)
    return RecalledSource(id, "bullet", tuple(events), bullet=bullet, standing=_standing(store, events, kind))


def _live_bullet(store: MemoryStore, id: str, kind: str, forms: Collection[BulletForm] | None = None) -> Bullet | None:
    with store.reading() as db:
        found = bullet_rows.load(db, kind, [id])
    return next((bullet for bullet in found if forms is None or bullet.form in forms), None)


def _former_bullet(store: MemoryStore, id: str, kind: str) -> Bullet | None:
    """The bullet as the last compaction left it that made it."""
    with store.reading() as db:
        last = db.execute(
            "SELECT max(n) FROM ledger, json_each(data, iif(entry = ?2, '$.added', '$.bullets')) AS made"
            " WHERE kind = ?1 AND entry IN (?2, ?3) AND instr(data, ?4) AND json_extract(made.value, '$.id') = ?4",
            (kind, tier_ledger.COMPACTED, tier_ledger.IMPORTED, id),
        )
        n = last.fetchone()[0]
    if n is None:
        return None
    fold = BulletFold()
    for entry in store.ledger(kind, [tier_ledger.COMPACTED, tier_ledger.IMPORTED]):
        if entry.n <= n:
            fold.take(entry.entry, entry.data)
    line = fold.get(id)
    return None if line is None else _bullet_of(store, line)


def _bullet_of(store: MemoryStore, line: BulletLine) -> Bullet:
    seqs = line.seqs()
    events = {event.seq: event for event in store.events_at(seqs)}
    chunks = store.chunks_of(seqs)
    return bullet_of(line, events, {seq: [chunk.hash for chunk in pieces] for seq, pieces in chunks.items()})


def _collision(id: str, found: Sequence[RecalledSource]) -> str | None:
    """That more than one thing has the id, and which things."""
    things: Counter[str] = Counter()
    for source in found:
        if source.found_as in ("observation", "reflection"):
            things["observation"] += sum(made.id == id for made in source.observations)
            things["reflection"] += len(source.reflections)
        else:
            things[source.found_as] += 1
    if things.total() < 2:
        return None
    named = [f"{count} {thing}{'s' if count > 1 else ''}" for thing, count in things.items() if count]
    return f"More than one thing has this id: {', '.join(named)}."


def _standing(store: MemoryStore, events: Sequence[Event], kind: str) -> str:
    """Where events stand now, each place once, in the order of the events."""
    seqs = dump([event.seq for event in events])
    places: dict[int, list[str]] = {event.seq: [] for event in events}
    with store.reading() as db:
        rows = db.execute(
            "SELECT seq, CASE tier WHEN 'x' THEN 'x' ELSE 'y raw' END FROM pending"
            " WHERE kind = ?1 AND seq IN (SELECT value FROM json_each(?2))"
            " UNION ALL SELECT seq, 'behind bullet ' || bullet FROM bullet_refs"
            " WHERE kind = ?1 AND seq IN (SELECT value FROM json_each(?2)) ORDER BY 1",
            (kind, seqs),
        )
        for seq, name in rows:
            places[seq].append(name)
    named = [name for names in places.values() for name in names or ["on the tape only"]]
    return ", ".join(dict.fromkeys(named))
