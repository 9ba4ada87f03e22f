"""What must hold of the live tiers on a real file: nothing lost, nothing reworded, nothing out of bounds.

Reads only; ``memory/verify.py`` runs these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from memory.budgets import noted_budgets
from memory.excerpt import whole
from memory.pending_rows import load_spans
from memory.queue import TieredQueue
from memory.rebuild import fold_store, thread_of
from memory.store import MemoryStore
from memory.values import QUOTING_FORMS, TIERED_KINDS, Event, Item, Span


def every_event_is_reachable(store: MemoryStore, kind: str) -> Iterator[str]:
    raw, behind = _raw(store, kind), _behind(store, kind)
    for event in _tiered(store, kind):
        if event.seq not in raw and event.seq not in behind:
            yield f"event {event.seq} stands in no tier and behind no bullet"
        if event.seq in raw and event.seq in behind:
            yield f"event {event.seq} stands raw and behind bullet {behind[event.seq][0]}"


def bullets_lead_to_events(store: MemoryStore, kind: str) -> Iterator[str]:
    """Every bullet stands for events of its queue that have left the raw tiers, and every reference is a bullet's."""
    tiered = {event.seq for event in _tiered(store, kind)}
    db = store.reader()
    bullets = {row[0] for row in db.execute("SELECT id FROM bullets WHERE kind = ?", (kind,))}
    behind: dict[str, list[int]] = {}
    for bullet, seq in db.execute("SELECT bullet, seq FROM bullet_refs WHERE kind = ? ORDER BY bullet, seq", (kind,)):
        behind.setdefault(bullet, []).append(seq)
    for bullet in sorted(bullets - behind.keys()):
        yield f"bullet {bullet} stands for no event"
    for bullet, seqs in behind.items():
        if bullet not in bullets:
            yield f"event {seqs[0]} is behind bullet {bullet}, which does not exist"
        yield from (
            f"bullet {bullet} stands for event {seq}, which is not of this queue" for seq in seqs if seq not in tiered
        )


def persons_words_are_exact(store: MemoryStore, kind: str) -> Iterator[str]:
    events = {event.seq: event for event in _tiered(store, kind)}
    raw, behind = _raw(store, kind), _behind(store, kind)
    rows = store.reader().execute("SELECT id, form, protected, spans FROM bullets WHERE kind = ? ORDER BY id", (kind,))
    forms = {row["id"]: row for row in rows}
    for seq, event in events.items():
        if event.protected and seq not in raw and not any(forms[id]["protected"] for id in behind.get(seq, ())):
            yield f"event {seq} was said by the person and is behind no protected bullet"
    stands_for: dict[str, list[int]] = {}
    for seq, bullets in behind.items():
        for id in bullets:
            stands_for.setdefault(id, []).append(seq)
    for id, row in forms.items():
        sources = [events[seq] for seq in sorted(stands_for.get(id, ())) if seq in events]
        if row["form"] in QUOTING_FORMS:
            yield from _misquoted(id, row["form"], load_spans(row["spans"]) or (), sources)
        elif row["spans"] is not None:
            yield f"bullet {id} has the form {row['form']} and quotes nothing, but has places of words"
        if row["protected"]:
            if row["form"] not in (*QUOTING_FORMS, "group"):
                yield f"bullet {id} passes for the person's words, but has the form {row['form']}"
            for event in sources:
                if not event.protected:
                    yield f"bullet {id} passes for the person's words, but event {event.seq} is not the person's"


def text_is_stored_once(store: MemoryStore, kind: str) -> Iterator[str]:
    rows = store.reader().execute(
        "SELECT id FROM bullets WHERE spans IS NOT NULL AND text IS NOT NULL AND kind = ? ORDER BY id", (kind,)
    )
    yield from (f"bullet {row[0]} copies the words that it quotes" for row in rows)


def tiers_follow_from_the_tape(store: MemoryStore, kind: str) -> Iterator[str]:
    tiers = fold_store(store, kind)
    if tiers.generation != store.generation(kind):
        yield f"generation {store.generation(kind)} should be {tiers.generation}"
    yield from _differences("pending event", _by_seq(store.pending(kind)), _by_seq(tiers.pending))
    stored = {bullet.id: bullet for bullet in store.bullets(kind)}
    yield from _differences("bullet", stored, {bullet.id: bullet for bullet in tiers.bullets})


def view_fits(store: MemoryStore, kind: str) -> Iterator[str]:
    x_budget, y_budget = noted_budgets(store, kind)
    queue = TieredQueue(store, kind, x_budget=x_budget, y_budget=y_budget, restore=True, alter=False)
    x = queue.recent_items
    newest = sum(item.tokens for item in x if item.turn == x[-1].turn)
    view = queue.current_view().tokens
    if view > x_budget + y_budget + newest:
        yield f"the view holds {view} tokens, the budget is {x_budget} + {y_budget} and the newest turn {newest}"
    if queue.x_tokens > x_budget and x[0].turn != x[-1].turn:
        yield f"X holds {queue.x_tokens} tokens from event {x[0].event.seq} on, its budget is {x_budget}"


def _tiered(store: MemoryStore, kind: str) -> list[Event]:
    return [event for event in store.events(kinds=TIERED_KINDS) if event.thread == thread_of(kind)]


def _raw(store: MemoryStore, kind: str) -> set[int]:
    return {row[0] for row in store.reader().execute("SELECT seq FROM pending WHERE kind = ?", (kind,))}


def _behind(store: MemoryStore, kind: str) -> dict[int, list[str]]:
    """By event: the bullets that stand for it and exist."""
    rows = store.reader().execute(
        "SELECT seq, bullet FROM bullet_refs JOIN bullets ON bullets.kind = bullet_refs.kind AND id = bullet"
        " WHERE bullet_refs.kind = ? ORDER BY seq, bullet",
        (kind,),
    )
    behind: dict[int, list[str]] = {}
    for seq, bullet in rows:
        behind.setdefault(seq, []).append(bullet)
    return behind


def _by_seq(items: Iterable[Item]) -> dict[int, Item]:
    return {item.event.seq: item for item in items}


def _misquoted(id: str, form: str, spans: tuple[Span, ...], sources: list[Event]) -> Iterator[str]:
    """What is wrong with a bullet of one event's own words: they are the pieces that it names, in order."""
    if len(sources) != 1:
        yield f"bullet {id} has the form {form}, but stands for {len(sources)} events"
        return
    text = sources[0].text
    if form == "whole" and spans != whole(text):
        yield f"bullet {id} is not the whole of event {sources[0].seq}"
    end = 0
    for start, stop in spans:
        if not end <= start < stop <= len(text):
            yield f"bullet {id} quotes characters {start} to {stop} of event {sources[0].seq}, which has {len(text)}"
        end = stop
    if not spans and text.strip():
        yield f"bullet {id} has the form {form}, but none of the words of event {sources[0].seq}"


def _differences(what: str, stored: Mapping[Any, Any], derived: Mapping[Any, Any]) -> Iterator[str]:
    for key in sorted(stored.keys() | derived.keys()):
        if key not in derived:
            yield f"{what} {key} is in its table, but does not follow from the tape"
        elif key not in stored:
            yield f"{what} {key} follows from the tape, but is not in its table"
        else:
            differing = [
                field.name
                for field in fields(derived[key])
                if getattr(stored[key], field.name) != getattr(derived[key], field.name)
            ]
            if differing:
                yield f"{what} {key}: {' and '.join(differing)} should be otherwise, by the tape"
