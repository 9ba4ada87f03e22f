"""What must hold of the record on a real file, and of what is made of each event by itself: chunks, words, vectors.

Reads only; ``memory/verify.py`` runs these. They read rows as they stand, so that a broken one is named and not met.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime

from memory.bullet_fold import BulletFold
from memory.database import connect_reader
from memory.ids import chunk_hash
from memory.schema import GUARDS, KEYWORD_INDEX
from memory.store import MemoryStore
from memory.tier_ledger import COMPACTED, IMPORTED, flaw_in
from memory.tokens import count_tokens
from memory.values import EVENT_KINDS, ROLES, TIERED_KINDS
from memory.vector_rows import FLOAT_BYTES
from memory.words import index_words

UNIT_TOLERANCE = 0.01
"""How far from 1 the length of a vector may be."""

_EVENT_COLUMNS = ("thread", "id", "source", "role", "kind", "t_event", "t_ingest", "text", "refs", "meta")
_LEDGER_COLUMNS = ("kind", "entry", "t", "data")


def file_is_sound(store: MemoryStore, kind: str) -> Iterator[str]:
    db = store.reader()
    yield from (row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok")
    for table in ("chunks", "pending", "bullet_refs"):
        lost = db.execute(f"SELECT DISTINCT seq FROM {table} WHERE seq NOT IN (SELECT seq FROM events)")
        yield from (f"{table} has event {row[0]}, which is not on the tape" for row in lost)


def tape_is_append_only(store: MemoryStore, kind: str) -> Iterator[str]:
    """The guards are there, and nothing is missing at the end or within the ledger."""
    db = store.reader()
    there = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())
    for name, statement in GUARDS.items():
        if there.get(name) != statement:
            yield f"the guard {name} is {'another one' if name in there else 'missing'}"
    written = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    for table, number in (("events", "seq"), ("ledger", "n")):
        newest = db.execute(f"SELECT coalesce(max({number}), 0) FROM {table}").fetchone()[0]
        if newest != written.get(table, 0):
            yield f"{table} were written up to {written.get(table, 0)}, but the newest there is {newest}"
    numbers = [row[0] for row in db.execute("SELECT n FROM ledger ORDER BY n")]
    gone = sorted(set(range(1, max(numbers, default=0) + 1)).difference(numbers))
    yield from (f"ledger entry {number} is missing" for number in gone)


def events_are_whole(store: MemoryStore, kind: str) -> Iterator[str]:
    for seq, columns in _rows(store, "events", "seq", _EVENT_COLUMNS):
        at = f"event {seq}"
        if isinstance(columns, str):
            yield f"{at}: {columns} is not text"
            continue
        if not columns["id"]:
            yield f"{at}: it has no id"
        if columns["role"] not in ROLES:
            yield f"{at}: no event has the role {columns['role']!r}"
        if columns["kind"] not in EVENT_KINDS:
            yield f"{at}: no event is of the kind {columns['kind']!r}"
        yield from (
            f"{at}: {name} {flaw}" for name in ("t_event", "t_ingest") if (flaw := _flaw_of_time(columns[name]))
        )
        refs = _parsed(columns["refs"])
        if not isinstance(refs, list) or not all(isinstance(ref, str) for ref in refs):
            yield f"{at}: refs is no list of ids"
        if not isinstance(_parsed(columns["meta"]), dict):
            yield f"{at}: meta is no object"


def ledger_is_whole(store: MemoryStore, kind: str) -> Iterator[str]:
    """Entries are in order of what they knew of the tape, can be folded, and count generations one by one."""
    last = store.reader().execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
    before = 0
    generations: dict[str, int] = {}
    bullets: dict[str, BulletFold] = {}
    for n, columns in _rows(store, "ledger", "n", _LEDGER_COLUMNS):
        at = f"ledger entry {n}"
        if isinstance(columns, str):
            yield f"{at}: {columns} is not text"
            continue
        if flaw := _flaw_of_time(columns["t"]):
            yield f"{at}: t {flaw}"
        data = _parsed(columns["data"])
        newest = data.get("at") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(newest, int):
            yield f"{at}: its data does not say after which event it was made"
            continue
        if not before <= newest <= last:
            yield f"{at} was made after event {newest}, between entries of event {before} and the last event {last}"
        before = max(before, newest)
        if flaw := flaw_in(columns["entry"], data):
            yield f"{at} ({columns['entry']}) {flaw}"
        elif columns["entry"] in (COMPACTED, IMPORTED):
            counted = generations.get(columns["kind"], 0) + 1
            if columns["entry"] == COMPACTED and data["generation"] != counted:
                yield f"{at} is generation {data['generation']} where {counted} comes next"
            generations[columns["kind"]] = data["generation"]
            try:
                bullets.setdefault(columns["kind"], BulletFold()).take(columns["entry"], data)
            except KeyError as error:
                yield f"{at}: a bullet inherits from {error}, which did not stand before it"


def chunks_cover_every_event(store: MemoryStore, kind: str) -> Iterator[str]:
    events = store.events()
    chunks = store.chunks_of(event.seq for event in events)
    for event in events:
        place = 0
        for chunk in chunks.get(event.seq, []):
            text = event.text[chunk.start : chunk.end]
            if chunk.start != place:
                yield f"event {event.seq}: characters {place} to {chunk.start} are in no chunk, or in two"
            if chunk.hash != chunk_hash(event.thread, event.id, chunk.start, text):
                yield f"event {event.seq}: chunk {chunk.hash} does not have the hash of its words"
            if chunk.tokens != count_tokens(text):
                yield f"event {event.seq}: chunk {chunk.hash} does not have {chunk.tokens} tokens"
            place = chunk.end
        whole = len(event.text) if event.kind in TIERED_KINDS else 0
        if place != whole:
            yield f"event {event.seq}: its chunks end at character {place}, not at {whole}"


def keyword_index_is_complete(store: MemoryStore, kind: str) -> Iterator[str]:
    db = store.reader()
    missing = db.execute("SELECT hash FROM chunks WHERE rowid NOT IN (SELECT id FROM chunks_fts_docsize)")
    yield from (f"chunk {row[0]} is not in the keyword index" for row in missing)
    extra = db.execute("SELECT id FROM chunks_fts_docsize WHERE id NOT IN (SELECT rowid FROM chunks)")
    yield from (f"the keyword index has row {row[0]}, which is no chunk" for row in extra)
    with closing(connect_reader(store.path)) as kept, closing(_made_anew(store)) as made:
        there, expected = _index_contents(kept), _index_contents(made)
    hashes = dict(db.execute("SELECT rowid, hash FROM chunks").fetchall())
    for row in sorted(there.keys() | expected.keys()):
        if row in hashes and there.get(row) != expected.get(row):
            yield f"chunk {hashes[row]} is in the keyword index under other words than its own"


def vectors_belong_to_chunks(store: MemoryStore, kind: str) -> Iterator[str]:
    import numpy as np

    db = store.reader()
    orphans = db.execute("SELECT stamp, hash FROM vectors WHERE hash NOT IN (SELECT hash FROM chunks)")
    yield from (f"a vector of {row[0]} belongs to {row[1]}, which is no chunk" for row in orphans)
    sizes: dict[str, int] = {}
    for stamp, hash, vector in db.execute(
        "SELECT stamp, hash, CAST(vector AS BLOB) FROM vectors ORDER BY stamp, rowid"
    ):
        size = sizes.setdefault(stamp, len(vector))
        if len(vector) != size or size % FLOAT_BYTES or not size:
            yield f"the vector of {stamp} for {hash} has {len(vector)} bytes, where the first of that model has {size}"
            continue
        length = float(np.linalg.norm(np.frombuffer(vector, "<f4")))
        if not abs(length - 1.0) <= UNIT_TOLERANCE:
            yield f"the vector of {stamp} for {hash} has the length {length:.3g} instead of 1"


def _rows(
    store: MemoryStore, table: str, number: str, names: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, str] | str]]:
    """Each row's number with its columns, or with the name of the first that is not text."""
    columns = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    for row in store.reader().execute(f"SELECT {number}, {columns} FROM {table} ORDER BY {number}"):
        decoded: dict[str, str] = {}
        for name, raw in zip(names, row[1:], strict=True):
            try:
                decoded[name] = bytes(raw).decode()
            except (UnicodeDecodeError, TypeError):
                yield row[0], name
                break
        else:
            yield row[0], decoded


def _flaw_of_time(time: str) -> str | None:
    try:
        parsed = datetime.fromisoformat(time)
    except ValueError:
        return f"is {time[:40]!r}, which is no time"
    return None if parsed.tzinfo is not None else "has no offset"


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _made_anew(store: MemoryStore) -> sqlite3.Connection:
    """The keyword index that the tape's own words come to, in memory."""
    index = sqlite3.connect(":memory:")
    index.execute(KEYWORD_INDEX)
    places = "SELECT chunks.rowid, seq, start, end FROM chunks WHERE seq = ? ORDER BY start"
    for event in store.events(kinds=TIERED_KINDS):
        index.executemany(
            "INSERT INTO chunks_fts (rowid, words) VALUES (?, ?)",
            [
                (row, index_words(event.text[start:end]))
                for row, _, start, end in store.reader().execute(places, (event.seq,))
            ],
        )
    return index


def _index_contents(db: sqlite3.Connection) -> dict[int, int]:
    """By row of the keyword index: a number that stands for its words and their places."""
    db.execute("CREATE VIRTUAL TABLE temp.indexed USING fts5vocab(main, chunks_fts, instance)")
    contents: dict[int, int] = {}
    for term, row, place in db.execute("SELECT term, doc, offset FROM temp.indexed"):
        contents[row] = contents.get(row, 0) ^ hash((term, place))
    return contents
