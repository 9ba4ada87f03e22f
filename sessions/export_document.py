"""A session as one JSON-able document (seed 000: recent turns verbatim, current bullets, the chunks they cite).

``docs/export.md`` describes every key. The same tape gives the same document: no time of the export, no place, no
tokens (these depend on the tokenizer at hand), no vectors (these belong to the model that made them).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory.budgets import budgets_key
from memory.store import CONVERSATION, LedgerEntry, MemoryStore
from memory.values import Bullet, Chunk, Event, Item, Span
from sessions.display import one_line
from sessions.ids import TITLE_LENGTH, UNTITLED
from sessions.rows import SessionRow
from sessions.tapes import summary_of

FORMAT = "otto-session"
VERSION = 1

LARGEST_IMPORT = 150_000_000
"""Bytes. A larger export can be read, but not imported again: it is refused before it is parsed."""


def document_of(store: MemoryStore, row: SessionRow, *, tape: bool) -> dict[str, Any]:
    """The export of the session ``row`` from its tape; with ``tape`` the whole record as well."""
    bullets = store.bullets(CONVERSATION)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "session": _session(store, row),
        "generation": store.generation(CONVERSATION),
        "budgets": _budgets(store),
        "recent": [_recent(item) for item in store.pending(CONVERSATION)],
        "bullets": [_bullet(bullet) for bullet in bullets],
        "chunks": list(_cited(store, bullets)),
    }
    if tape:
        document["tape"] = {
            "events": [_event(event) for event in store.events()],
            "ledger": [_ledger_entry(entry) for entry in store.ledger()],
        }
    return document


def _session(store: MemoryStore, row: SessionRow) -> dict[str, Any]:
    """From the tape, so that it fits what follows; only what a person can change comes from the index."""
    summary = summary_of(store, row.id)
    said = row if summary is None else summary.row
    return {
        "id": row.id,
        "title": one_line(row.title, TITLE_LENGTH) or UNTITLED,
        "workspace": row.workspace,
        "created": said.created,
        "updated": said.updated,
        "turns": said.turns,
        "parent": row.parent,
    }


def _budgets(store: MemoryStore) -> dict[str, int] | None:
    recorded = store.get_meta(budgets_key(CONVERSATION))
    if recorded is None:
        return None
    x, y = map(int, recorded.split())
    return {"x": x, "y": y}


def _event(event: Event) -> dict[str, Any]:
    return {"seq": event.seq, "id": event.id, "thread": event.thread, **_facts(event), "text": event.text}


def _facts(event: Event) -> dict[str, Any]:
    return {
        "role": event.role,
        "kind": event.kind,
        "source": event.source,
        "t_event": event.t_event,
        "t_ingest": event.t_ingest,
        "refs": list(event.refs),
        "meta": dict(event.meta),
    }


def _recent(item: Item) -> dict[str, Any]:
    event = item.event
    return {
        "seq": event.seq,
        "id": event.id,
        "tier": item.tier,
        "spans": None if item.spans is None else _pairs(item.spans),
        **_facts(event),
        "text": event.text,
    }


def _bullet(bullet: Bullet) -> dict[str, Any]:
    return {
        "id": bullet.id,
        "generation": bullet.generation,
        "form": bullet.form,
        "protected": bullet.protected,
        "text": bullet.text,
        "spans": _pairs(bullet.spans),
        "seqs": list(bullet.seqs),
        "hash_refs": list(bullet.hash_refs),
    }


def _cited(store: MemoryStore, bullets: list[Bullet]) -> Iterator[dict[str, Any]]:
    """Every chunk behind a bullet. An event without a word has no chunk; it gets one entry without a hash."""
    seqs = {seq for bullet in bullets for seq in bullet.seqs}
    chunks = store.chunks_of(seqs)
    for event in store.events_at(seqs):
        pieces: list[Chunk | None] = [*chunks.get(event.seq, ())]
        for piece in pieces or [None]:
            yield {
                "hash": None if piece is None else piece.hash,
                "seq": event.seq,
                "id": event.id,
                **_facts(event),
                "length": len(event.text),
                "start": 0 if piece is None else piece.start,
                "text": "" if piece is None else event.text[piece.start : piece.end],
            }


def _ledger_entry(entry: LedgerEntry) -> dict[str, Any]:
    return {"n": entry.n, "kind": entry.kind, "entry": entry.entry, "t": entry.t, "data": dict(entry.data)}


def _pairs(spans: tuple[Span, ...]) -> list[list[int]]:
    return [list(span) for span in spans]
