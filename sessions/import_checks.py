"""What the fields of an export must mean to each other, and the record that a sound export comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from memory.budgets import budgets_key
from memory.chunk_rows import Piece
from memory.ids import chunk_hash
from memory.ranges import pack
from memory.store import CONVERSATION, LedgerEntry
from memory.tier_ledger import IMPORTED
from memory.tokens import count_tokens
from memory.values import MAIN_THREAD, TIERED_KINDS, Event
from memory.words import index_words
from sessions.export_shape import CitedChunk, Export, ExportedBullet, RecentEvent, TapeEvent, checked, refused
from sessions.ledger_checks import ledger_of
from sessions.rows import SessionRow

LONGEST_CHUNK = 960
"""Characters; no chunk that Otto cuts is longer, whatever counts its tokens."""

_Said = RecentEvent | TapeEvent | CitedChunk


@dataclass(frozen=True, slots=True)
class Record:
    """All that an import writes."""

    row: SessionRow
    events: list[Event]
    ledger: list[LedgerEntry]
    pieces: dict[int, list[Piece]]
    """How cited events are cut, by ``seq``."""
    facts: dict[str, str]


def record_of(document: Mapping[str, Any], now: str) -> Record:
    """The record of an export that has been parsed.

    Args:
        now: when the import happens; the time of what only the import itself adds.

    Raises:
        ImportRefused: a field is wrong in itself or does not fit the others.
    """
    export = checked(Export, document)
    recent = _recent_events(export, document)
    cited = _cited_events(export, document)
    _check_apart(export, recent, cited)
    _check_bullets(export, cited)
    _check_cited(export)
    if export.tape is None:
        events = [*cited.values(), *recent.values()]
        ledger = [LedgerEntry(1, CONVERSATION, IMPORTED, now, _tiers(export, events))]
    else:
        events = _tape_events(export, document, {**cited, **recent})
        ledger = ledger_of(export.tape.ledger, events)
    return Record(_row(export), events, ledger, _pieces(export), _facts(export))


def _recent_events(export: Export, document: Mapping[str, Any]) -> dict[int, Event]:
    events: dict[int, Event] = {}
    tier = "y"
    for place, (said, raw) in enumerate(zip(export.recent, document["recent"], strict=True)):
        at = f"recent[{place}]"
        _check_tiered(at, said)
        _check_after(at, said.seq, events)
        if tier == "x" and said.tier == "y":
            raise refused(f"{at}.tier", "is y after an event that stands in x")
        tier = said.tier
        if said.spans is not None:
            _check_spans(f"{at}.spans", said.spans, len(said.text))
        events[said.seq] = _event(said, raw, said.text)
    return events


def _cited_events(export: Export, document: Mapping[str, Any]) -> dict[int, Event]:
    """The events that the chunks join to, by ``seq``."""
    events: dict[int, Event] = {}
    place = 0
    while place < len(export.chunks):
        first = export.chunks[place]
        at = f"chunks[{place}]"
        _check_tiered(at, first)
        _check_after(at, first.seq, events)
        end = place
        while end < len(export.chunks) and export.chunks[end].seq == first.seq:
            end += 1
        text = _joined(export.chunks, document["chunks"], place, end)
        events[first.seq] = _event(first, document["chunks"][place], text)
        place = end
    return events


def _joined(chunks: Sequence[CitedChunk], raws: Sequence[Mapping[str, Any]], start: int, end: int) -> str:
    """The text of the event whose chunks these are."""
    first = raws[start]
    parts: list[str] = []
    length = 0
    for place in range(start, end):
        chunk, at = chunks[place], f"chunks[{place}]"
        for key, value in raws[place].items():
            if key not in ("hash", "start", "text") and value != first[key]:
                raise refused(f"{at}.{key}", f"is not what chunks[{start}] of the same event says")
        if chunk.start != length:
            raise refused(f"{at}.start", f"leaves a gap or an overlap: the chunk before ends at {length}")
        _check_hash(f"{at}.hash", chunk)
        parts.append(chunk.text)
        length += len(chunk.text)
    if length != chunks[start].length:
        raise refused(f"chunks[{end - 1}].length", f"is not the {length} characters that the event's chunks have")
    return "".join(parts)


def _check_hash(at: str, chunk: CitedChunk) -> None:
    if chunk.length == 0:
        if chunk.hash is not None:
            raise refused(at, "should be null: the event has no text")
        return
    if not 0 < len(chunk.text) <= LONGEST_CHUNK:
        raise refused(at.removesuffix("hash") + "text", f"is not 1 to {LONGEST_CHUNK} characters long")
    if chunk.hash != chunk_hash(MAIN_THREAD, chunk.id, chunk.start, chunk.text):
        raise refused(at, "is not the hash of these words; the text or the hash has been changed")


def _check_tiered(at: str, said: _Said) -> None:
    if said.kind not in TIERED_KINDS:
        raise refused(f"{at}.kind", f'"{said.kind}" never stands in the view')


def _check_after(at: str, seq: int, events: dict[int, Event]) -> None:
    """Keys of ``events`` stand in the order in which they were added."""
    if events and seq <= next(reversed(events.keys())):
        raise refused(f"{at}.seq", "does not come after the one before it")


def _check_apart(export: Export, recent: Mapping[int, Event], cited: Mapping[int, Event]) -> None:
    last = max(cited, default=0)
    ids = {event.id: f"chunks (seq {event.seq})" for event in cited.values()}
    if len(ids) != len(cited):
        place = _repeated([(chunk.seq, chunk.id) for chunk in export.chunks])
        raise refused(f"chunks[{place}].id", "is the id of another event as well")
    for place, said in enumerate(export.recent):
        if said.seq <= last:
            raise refused(f"recent[{place}].seq", "does not come after every event that stands behind a bullet")
        if said.id in ids:
            raise refused(f"recent[{place}].id", f"is the id of another event as well: {ids[said.id]}")
        ids[said.id] = f"recent[{place}]"


def _check_cited(export: Export) -> None:
    behind = {seq for bullet in export.bullets for seq in bullet.seqs}
    for place, chunk in enumerate(export.chunks):
        if chunk.seq not in behind:
            raise refused(f"chunks[{place}].seq", "is an event to which no bullet leads")


def _repeated(names: Iterable[tuple[int, str]]) -> int:
    """The place of the first id that an earlier event has."""
    owners: dict[str, int] = {}
    for place, (seq, id) in enumerate(names):
        if owners.setdefault(id, seq) != seq:
            return place
    return 0


def _check_bullets(export: Export, cited: Mapping[int, Event]) -> None:
    hashes: dict[int, list[str]] = {seq: [] for seq in cited}
    for chunk in export.chunks:
        if chunk.hash is not None:
            hashes[chunk.seq].append(chunk.hash)
    known = {hash for found in hashes.values() for hash in found}
    ids: set[str] = set()
    for place, bullet in enumerate(export.bullets):
        at = f"bullets[{place}]"
        if bullet.id in ids:
            raise refused(f"{at}.id", "is the id of an earlier bullet")
        ids.add(bullet.id)
        if bullet.generation > export.generation:
            raise refused(f"{at}.generation", f"is later than the session's generation {export.generation}")
        _check_seqs(at, bullet.seqs, cited)
        expected = [hash for seq in bullet.seqs for hash in hashes[seq]]
        _check_hash_refs(at, bullet.hash_refs, expected, known)
        _check_form(at, bullet, cited)


def _check_seqs(at: str, seqs: Sequence[int], cited: Mapping[int, Event]) -> None:
    before = 0
    for place, seq in enumerate(seqs):
        if seq <= before:
            raise refused(f"{at}.seqs[{place}]", "does not come after the one before it")
        if seq not in cited:
            raise refused(f"{at}.seqs[{place}]", f"leads to nothing: no chunk is of event {seq}")
        before = seq


def _check_hash_refs(at: str, refs: Sequence[str], expected: Sequence[str], known: set[str]) -> None:
    for place, ref in enumerate(refs):
        if ref not in known:
            raise refused(f"{at}.hash_refs[{place}]", f"leads to nothing: no chunk has the hash {ref}")
        if place >= len(expected) or ref != expected[place]:
            raise refused(f"{at}.hash_refs[{place}]", "is not the next chunk of the events in seqs")
    if len(refs) < len(expected):
        raise refused(f"{at}.hash_refs", f"lacks the chunk {expected[len(refs)]} of the events in seqs")


def _check_form(at: str, bullet: ExportedBullet, cited: Mapping[int, Event]) -> None:
    if bullet.form not in ("whole", "excerpt"):
        if bullet.spans:
            raise refused(f"{at}.spans", f"should be empty: a bullet of the form {bullet.form} quotes nothing")
        if bullet.form != "group" and bullet.protected:
            raise refused(f"{at}.protected", f"is true of the form {bullet.form}, which is not the person's own words")
        if not bullet.text.strip():
            raise refused(f"{at}.text", "says nothing")
        return
    if len(bullet.seqs) != 1:
        raise refused(f"{at}.seqs", "has several events, but the bullet quotes one")
    event = cited[bullet.seqs[0]]
    if bullet.protected and not event.protected:
        raise refused(f"{at}.protected", "is true, but the person did not say it")
    _check_spans(f"{at}.spans", bullet.spans, len(event.text))
    if not bullet.spans and bullet.text:
        raise refused(f"{at}.spans", "is empty, so these words stand nowhere in the event")


def _check_spans(at: str, spans: Sequence[Sequence[int]], length: int) -> None:
    before = 0
    for place, (start, end) in enumerate(spans):
        if start < before:
            raise refused(f"{at}[{place}][0]", "overlaps the span before it")
        if end > length:
            raise refused(f"{at}[{place}][1]", f"lies behind the end of the text, which has {length} characters")
        before = end


def _tape_events(export: Export, document: Mapping[str, Any], viewed: Mapping[int, Event]) -> list[Event]:
    """The whole record; what stands in the view or behind a bullet must be on it."""
    assert export.tape is not None
    events: dict[int, Event] = {}
    ids: set[tuple[str, str]] = set()
    for place, (said, raw) in enumerate(zip(export.tape.events, document["tape"]["events"], strict=True)):
        at = f"tape.events[{place}]"
        _check_after(at, said.seq, events)
        if (said.thread, said.id) in ids:
            raise refused(f"{at}.id", "is the id of an earlier event of the thread")
        ids.add((said.thread, said.id))
        event = _event(said, raw, said.text, said.thread)
        if said.seq in viewed and viewed[said.seq] != event:
            raise refused(f"{at}.{_differing(viewed[said.seq], event)}", "is not what recent or chunks say")
        events[said.seq] = event
    missing = sorted(viewed.keys() - events.keys())
    if missing:
        raise refused("tape.events", f"lacks event {missing[0]}, which stands in recent or chunks")
    return list(events.values())


def _differing(one: Event, other: Event) -> str:
    return next(field.name for field in fields(Event) if getattr(one, field.name) != getattr(other, field.name))


def _event(said: _Said, raw: Mapping[str, Any], text: str, thread: str = MAIN_THREAD) -> Event:
    return Event(
        seq=said.seq,
        id=said.id,
        thread=thread,
        source=said.source,
        role=said.role,
        kind=said.kind,
        t_event=said.t_event,
        t_ingest=said.t_ingest,
        text=text,
        refs=tuple(said.refs),
        meta=raw["meta"],
    )


def _tiers(export: Export, events: Sequence[Event]) -> dict[str, Any]:
    """The ledger entry from which the tiers fold, for a session that comes without its ledger."""
    compacted = max((seq for bullet in export.bullets for seq in bullet.seqs), default=0)
    demoted = max((said.seq for said in export.recent if said.tier == "y"), default=compacted)
    return {
        "at": max((event.seq for event in events), default=0),
        "generation": export.generation,
        "demoted_through": demoted,
        "compacted_through": compacted,
        "bullets": [_ledger_bullet(bullet) for bullet in export.bullets],
        "held": [{"seq": said.seq, "spans": said.spans} for said in export.recent if said.spans is not None],
    }


def _ledger_bullet(bullet: ExportedBullet) -> dict[str, Any]:
    return {
        "id": bullet.id,
        "form": bullet.form,
        "generation": bullet.generation,
        "protected": bullet.protected,
        "text": None if bullet.spans else bullet.text,
        "spans": bullet.spans,
        "seqs": pack(bullet.seqs),
    }


def _pieces(export: Export) -> dict[int, list[Piece]]:
    """Cited chunks as the file cuts them: their hashes stay what they are, whatever counts tokens here."""
    pieces: dict[int, list[Piece]] = {}
    for chunk in export.chunks:
        if chunk.hash is not None:
            end = chunk.start + len(chunk.text)
            piece = Piece(chunk.hash, chunk.start, end, count_tokens(chunk.text), index_words(chunk.text))
            pieces.setdefault(chunk.seq, []).append(piece)
    return pieces


def _row(export: Export) -> SessionRow:
    session = export.session
    return SessionRow(
        id=session.id,
        title=session.title,
        workspace=session.workspace,
        created=session.created,
        updated=session.updated,
        turns=session.turns,
        parent=session.parent,
    )


def _facts(export: Export) -> dict[str, str]:
    return {} if export.budgets is None else {budgets_key(CONVERSATION): f"{export.budgets.x} {export.budgets.y}"}
