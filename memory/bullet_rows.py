"""Live bullets as rows. A bullet that quotes an event holds where the words stand, not the words."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from memory import event_rows
from memory.excerpt import join_spans
from memory.json_text import dump
from memory.pending_rows import dump_spans, load_spans
from memory.values import RECORD_FORMS, Bullet, Event, Voices, speaker_of

REPLACED_KEY = "bullets_replaced"
"""The meta key that counts how often bullets were written or removed."""


def load(db: sqlite3.Connection, kind: str, only: Collection[str] | None = None) -> list[Bullet]:
    """Every live bullet, or those with these ids, in the order of the oldest event behind each."""
    ids = None if only is None else dump(sorted(only))
    rows = db.execute(
        "SELECT id, generation, form, protected, text, spans, tokens FROM bullets WHERE kind = ?1"
        f" AND {_among('id', ids)}",
        (kind, ids),
    ).fetchall()
    seqs = _seqs_by_bullet(db, kind, ids)
    quoted = _quoted_events(db, (seqs[row["id"]][0] for row in rows if row["spans"] is not None))
    hashes = _hashes_by_seq(db, kind, ids)
    return in_order(
        Bullet(
            id=row["id"],
            text=row["text"] if spans is None else join_spans(quoted[seqs[row["id"]][0]].text, spans),
            hash_refs=tuple(hash for seq in seqs[row["id"]] for hash in hashes.get(seq, ())),
            seqs=tuple(seqs[row["id"]]),
            generation=row["generation"],
            protected=bool(row["protected"]),
            form=row["form"],
            tokens=row["tokens"],
            spans=spans or (),
        )
        for row in rows
        for spans in [load_spans(row["spans"])]
    )


def voices(db: sqlite3.Connection, kind: str) -> dict[str, Voices]:
    """By bullet: who said what stands behind it, and when the newest of it was said."""
    rows = db.execute(
        "SELECT bullet, role, source, t_event FROM bullet_refs JOIN events USING (seq)"
        " WHERE bullet_refs.kind = ? ORDER BY bullet, seq",
        (kind,),
    )
    found: dict[str, Voices] = {}
    for bullet, said in groupby(rows, key=itemgetter("bullet")):
        speakers: dict[str, None] = {}
        for row in said:
            speakers[speaker_of(row["role"], row["source"])] = None
            newest = row["t_event"]
        found[bullet] = Voices(tuple(speakers), newest)
    return found


def in_order(bullets: Iterable[Bullet]) -> list[Bullet]:
    """Bullets in the order in which a prompt reads them."""
    return sorted(bullets, key=_place)


def _place(bullet: Bullet) -> tuple[int, int, str]:
    """In the order of the oldest event behind each; a record of the ledger, of the newest.

    A record may rest on events of any age. Where its newest stands it came to be, and nothing before it moves.
    """
    if bullet.form in RECORD_FORMS:
        return bullet.seqs[-1], bullet.seqs[0], bullet.id
    return bullet.seqs[0], bullet.seqs[-1], bullet.id


def replace(db: sqlite3.Connection, kind: str, removed: Iterable[str], added: Sequence[Bullet]) -> None:
    gone = [(kind, id) for id in removed]
    db.executemany("DELETE FROM bullet_refs WHERE kind = ? AND bullet = ?", gone)
    db.executemany("DELETE FROM bullets WHERE kind = ? AND id = ?", gone)
    db.executemany(
        "INSERT INTO bullets (kind, id, generation, form, protected, text, spans, tokens)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                kind,
                bullet.id,
                bullet.generation,
                bullet.form,
                int(bullet.protected),
                None if bullet.spans else bullet.text,
                dump_spans(bullet.spans or None),
                bullet.tokens,
            )
            for bullet in added
        ],
    )
    db.executemany(
        "INSERT INTO bullet_refs (kind, bullet, seq) VALUES (?, ?, ?)",
        [(kind, bullet.id, seq) for bullet in added for seq in bullet.seqs],
    )
    _count_replacement(db)


def remove_all(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM bullet_refs")
    db.execute("DELETE FROM bullets")
    _count_replacement(db)


def replaced(db: sqlite3.Connection) -> int:
    """How often bullets, of any queue, were written or removed: what was read at one count holds at that count."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (REPLACED_KEY,)).fetchone()
    return 0 if row is None else int(row[0])


def _count_replacement(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET value = value + 1", (REPLACED_KEY,))


def summaries_behind(db: sqlite3.Connection, kind: str, seqs: Iterable[int]) -> dict[int, list[tuple[str, int]]]:
    """Id and tokens of the bullets that say these events in other words, by event."""
    rows = db.execute(
        "SELECT bullet_refs.seq, bullets.id, bullets.tokens FROM bullet_refs"
        " JOIN bullets ON bullets.kind = bullet_refs.kind AND bullets.id = bullet_refs.bullet"
        " WHERE bullet_refs.kind = ? AND bullet_refs.seq IN (SELECT value FROM json_each(?))"
        " AND bullets.form IN ('summary', 'group', 'observation', 'reflection') ORDER BY bullet_refs.seq, bullets.id",
        (kind, dump(sorted(set(seqs)))),
    )
    found: dict[int, list[tuple[str, int]]] = {}
    for seq, id, tokens in rows:
        found.setdefault(seq, []).append((id, tokens))
    return found


def _seqs_by_bullet(db: sqlite3.Connection, kind: str, ids: str | None) -> dict[str, list[int]]:
    rows = db.execute(
        f"SELECT bullet, seq FROM bullet_refs WHERE kind = ?1 AND {_among('bullet', ids)} ORDER BY bullet, seq",
        (kind, ids),
    )
    seqs: dict[str, list[int]] = {}
    for row in rows:
        seqs.setdefault(row["bullet"], []).append(row["seq"])
    return seqs


def _among(column: str, ids: str | None) -> str:
    """The condition that ``column`` is one of ``?2``, or any when that is None; one for both would read every row."""
    return "?2 IS NULL" if ids is None else f"{column} IN (SELECT value FROM json_each(?2))"


def _quoted_events(db: sqlite3.Connection, seqs: Iterable[int]) -> dict[int, Event]:
    return {event.seq: event for event in event_rows.by_seq(db, seqs)}


def _hashes_by_seq(db: sqlite3.Connection, kind: str, ids: str | None) -> dict[int, list[str]]:
    hashes: dict[int, list[str]] = {}
    rows = db.execute(
        "SELECT DISTINCT chunks.seq, chunks.start, chunks.hash FROM chunks"
        " JOIN bullet_refs ON bullet_refs.seq = chunks.seq AND bullet_refs.kind = ?1"
        f" WHERE {_among('bullet_refs.bullet', ids)} ORDER BY chunks.seq, chunks.start",
        (kind, ids),
    )
    for row in rows:
        hashes.setdefault(row["seq"], []).append(row["hash"])
    return hashes
