"""Verify names the exact row: a sound file is altered in one place at a time, below everything that guards it."""

from __future__ import annotations

import math
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory.queue import TieredQueue
from memory.schema import GUARDS
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from memory.vectors import embed_waiting
from memory.verify import CHECKS, MOST_ROWS, verify
from tests.memory.conversations import answered, said
from tests.memory.embedders import TinyEmbedder
from tests.memory.summarizers import omits_a_third

X_BUDGET, Y_BUDGET = 200, 2_500

Alter = Callable[[sqlite3.Connection], str]
"""Alters a file; the start of the row that must be named."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape with every sort of event and bullet, vectors, a held excerpt, and several generations."""
    path = tmp_path_factory.mktemp("sound") / "tape.db"
    with MemoryStore(path) as store:
        queue = TieredQueue(store, summarize=omits_a_third, x_budget=X_BUDGET, y_budget=Y_BUDGET)
        queue.append(said(1_000, "You must never deploy on a Friday. " + "It has gone wrong too often. " * 20))
        for number in range(150):
            queue.append(
                said(number, f"Question {number}: please keep port {4000 + number} free for service {number}.")
            )
            if number % 9 == 0:
                queue.append(NewEvent(text=f"port {number}: free\n" * 4, role="tool", kind="tool", source="netstat"))
                queue.append(NewEvent(text="what of ports?", role="tool", kind="note", refs=("q0",)))
            queue.append(answered(number, f"Answer {number}: I moved service {number} and ran its {number + 3} tests."))

        queue.append(said(500, " ".join(f"word{number}" for number in range(600))))
        queue.append(answered(500, "A long one."))
        embed_waiting(store, TinyEmbedder(dimensions=8))
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "tape.db"
    shutil.copyfile(sound, copy)
    return copy


def one(db: sqlite3.Connection, query: str) -> str:
    """The only value of the first row; there must be one."""
    return str(db.execute(query).fetchone()[0])


def test_the_sound_file_is_sound_and_has_something_for_every_check(sound: Path) -> None:
    with MemoryStore(sound, read_only=True) as store:
        report = verify(store)
        assert report.ok, [check for check in report.checks if not check.ok]
        assert store.generation(CONVERSATION) > 2
        assert {bullet.form for bullet in store.bullets(CONVERSATION)} >= {"whole", "excerpt", "summary", "group"}
        assert {item.tier for item in store.pending(CONVERSATION)} == {"x", "y"}
        assert any(item.excerpt for item in store.pending(CONVERSATION))
        assert store.ledger(entry="held")
        assert store.reader().execute("SELECT count(*) FROM vectors").fetchone()[0] > 100


# -- one alteration each: the check that must fail, and what it does to the file ------------------------------------


def torn_page(db: sqlite3.Connection) -> str:
    db.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'chunks_by_seq'")
    return ""


def chunk_of_nothing(db: sqlite3.Connection) -> str:
    db.execute("UPDATE chunks SET seq = 9999 WHERE rowid = 1")
    return "chunks has event 9999, which is not on the tape"


def pending_of_nothing(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO pending VALUES ('message', 9999, 'x', 9999, 1, NULL)")
    return "pending has event 9999, which is not on the tape"


def reference_to_nothing(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO bullet_refs SELECT kind, id, 9999 FROM bullets LIMIT 1")
    return "bullet_refs has event 9999, which is not on the tape"


def guard_gone(db: sqlite3.Connection) -> str:
    db.execute("DROP TRIGGER ledger_is_never_edited")
    return "the guard ledger_is_never_edited is missing"


def guard_that_guards_nothing(db: sqlite3.Connection) -> str:
    db.execute("DROP TRIGGER events_are_never_deleted")
    db.execute("CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events BEGIN SELECT 1; END")
    return "the guard events_are_never_deleted is another one"


def last_event_gone(db: sqlite3.Connection) -> str:
    last = int(one(db, "SELECT max(seq) FROM events"))
    unguarded(db, f"DELETE FROM events WHERE seq = {last}")
    return f"events were written up to {last}, but the newest there is {last - 1}"


def last_ledger_entry_gone(db: sqlite3.Connection) -> str:
    last = int(one(db, "SELECT max(n) FROM ledger"))
    unguarded(db, f"DELETE FROM ledger WHERE n = {last}")
    return f"ledger were written up to {last}, but the newest there is {last - 1}"


def ledger_entry_gone(db: sqlite3.Connection) -> str:
    unguarded(db, "DELETE FROM ledger WHERE n = 3")
    return "ledger entry 3 is missing"


def event_column(column: str, value: str, row: str) -> Alter:
    def alter(db: sqlite3.Connection) -> str:
        unguarded(db, f"UPDATE events SET {column} = {value} WHERE seq = 7")
        return f"event 7: {row}"

    alter.__name__ = f"event_{column}_{value[:12]}"
    return alter


def ledger_column(column: str, value: str, row: str) -> Alter:
    def alter(db: sqlite3.Connection) -> str:
        unguarded(db, f"UPDATE ledger SET {column} = {value} WHERE n = 5")
        return f"ledger entry 5{row}"

    alter.__name__ = f"ledger_{column}_{value[:12]}"
    return alter


def words_changed(db: sqlite3.Connection) -> str:
    unguarded(db, "UPDATE events SET text = replace(text, 'never', 'always') WHERE seq = 1")
    hash = one(db, "SELECT hash FROM chunks WHERE seq = 1 AND start = 0")
    return f"event 1: chunk {hash} does not have the hash of its words"


def words_added(db: sqlite3.Connection) -> str:
    length = int(one(db, "SELECT length(text) FROM events WHERE seq = 2"))
    unguarded(db, "UPDATE events SET text = text || ' Not at all.' WHERE seq = 2")
    return f"event 2: its chunks end at character {length}, not at {length + 12}"


def chunk_gone(db: sqlite3.Connection) -> str:
    length = one(db, "SELECT length(text) FROM events WHERE seq = 2")
    db.execute("DELETE FROM chunks WHERE seq = 2")
    return f"event 2: its chunks end at character 0, not at {length}"


def chunk_moved(db: sqlite3.Connection) -> str:
    db.execute("UPDATE chunks SET start = start + 3 WHERE seq = 2")
    return "event 2: characters 0 to 3 are in no chunk, or in two"


def chunk_counted_otherwise(db: sqlite3.Connection) -> str:
    db.execute("UPDATE chunks SET tokens = 1 WHERE seq = 2")
    return f"event 2: chunk {one(db, 'SELECT hash FROM chunks WHERE seq = 2')} does not have 1 tokens"


def note_with_a_chunk(db: sqlite3.Connection) -> str:
    note = one(db, "SELECT seq FROM events WHERE kind = 'note'")
    db.execute("INSERT INTO chunks (hash, seq, start, end, tokens) VALUES ('0123456789abcdef', ?, 0, 4, 1)", (note,))
    return f"event {note}: chunk 0123456789abcdef does not have the hash of its words"


def chunk_not_indexed(db: sqlite3.Connection) -> str:
    db.execute("DELETE FROM chunks_fts_docsize WHERE id = 4")
    return f"chunk {one(db, 'SELECT hash FROM chunks WHERE rowid = 4')} is not in the keyword index"


def index_without_chunk(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO chunks_fts (rowid, words) VALUES (99999, 'stray words')")
    return "the keyword index has row 99999, which is no chunk"


def indexed_under_other_words(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO chunks_fts (rowid, words) VALUES (4, 'entirely other words')")
    return f"chunk {one(db, 'SELECT hash FROM chunks WHERE rowid = 4')} is in the keyword index under other words"


def pending_gone(db: sqlite3.Connection) -> str:
    seq = one(db, "SELECT max(seq) FROM pending")
    db.execute("DELETE FROM pending WHERE seq = ?", (seq,))
    return f"event {seq} stands in no tier and behind no bullet"


def reference_gone(db: sqlite3.Connection) -> str:
    seq = one(db, "SELECT seq FROM bullet_refs JOIN bullets ON id = bullet WHERE form = 'summary'")
    db.execute("DELETE FROM bullet_refs WHERE seq = ?", (seq,))
    return f"event {seq} stands in no tier and behind no bullet"


def raw_and_behind_a_bullet(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO pending SELECT 'message', seq, 'y', seq, 9, NULL FROM bullet_refs WHERE seq = 2 LIMIT 1")
    return "event 2 stands raw and behind bullet"


def bullet_of_nothing(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO bullets VALUES ('message', 'abcdefabcdef', 1, 'summary', 0, 'out of thin air', NULL, 9)")
    return "bullet abcdefabcdef stands for no event"


def reference_of_no_bullet(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO bullet_refs VALUES ('message', 'abcdefabcdef', 2)")
    return "event 2 is behind bullet abcdefabcdef, which does not exist"


def reference_to_a_note(db: sqlite3.Connection) -> str:
    note = one(db, "SELECT seq FROM events WHERE kind = 'note'")
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'summary'")
    db.execute("INSERT INTO bullet_refs VALUES ('message', ?, ?)", (bullet, note))
    return f"bullet {bullet} stands for event {note}, which is not of this queue"


def protection_gone(db: sqlite3.Connection) -> str:
    seq = one(db, "SELECT seq FROM bullet_refs JOIN bullets ON id = bullet WHERE form = 'whole' AND protected")
    db.execute("UPDATE bullets SET protected = 0 WHERE id IN (SELECT bullet FROM bullet_refs WHERE seq = ?)", (seq,))
    return f"event {seq} was said by the person and is behind no protected bullet"


def words_of_another_kind(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'summary'")
    db.execute("UPDATE bullets SET protected = 1 WHERE id = ?", (bullet,))
    return f"bullet {bullet} passes for the person's words, but has the form summary"


def words_of_somebody_else(db: sqlite3.Connection) -> str:
    bullet, seq = db.execute(
        "SELECT id, seq FROM bullets JOIN bullet_refs ON bullet = id WHERE spans IS NOT NULL AND NOT protected"
    ).fetchone()
    db.execute("UPDATE bullets SET protected = 1 WHERE id = ?", (bullet,))
    return f"bullet {bullet} passes for the person's words, but event {seq} is not the person's"


def paraphrased(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'whole' AND protected")
    db.execute("UPDATE bullets SET spans = NULL, text = 'something of the sort' WHERE id = ?", (bullet,))
    return f"bullet {bullet} is not the whole of event"


def cut_short(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'whole' AND protected")
    db.execute("UPDATE bullets SET spans = '[[0,5]]' WHERE id = ?", (bullet,))
    return f"bullet {bullet} is not the whole of event"


def quoted_beyond_the_end(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'excerpt'")
    db.execute("UPDATE bullets SET spans = '[[0,99999]]' WHERE id = ?", (bullet,))
    return f"bullet {bullet} quotes characters 0 to 99999 of event"


def quoted_of_nothing(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'excerpt'")
    db.execute("UPDATE bullets SET spans = NULL, text = 'something of the sort' WHERE id = ?", (bullet,))
    return f"bullet {bullet} has the form excerpt, but none of the words of event"


def quoted_of_two(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'excerpt'")
    db.execute(
        "INSERT INTO bullet_refs SELECT 'message', ?, seq FROM bullet_refs WHERE bullet != ? LIMIT 1", (bullet, bullet)
    )
    return f"bullet {bullet} has the form excerpt, but stands for 2 events"


def summary_with_places(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'summary'")
    db.execute("UPDATE bullets SET spans = '[[0,5]]' WHERE id = ?", (bullet,))
    return f"bullet {bullet} has the form summary and quotes nothing, but has places of words"


def copied(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'whole'")
    db.execute("UPDATE bullets SET text = 'the same words again' WHERE id = ?", (bullet,))
    return f"bullet {bullet} copies the words that it quotes"


def compaction_gone(db: sqlite3.Connection) -> str:
    """As if it had never been counted: later ones are numbered as before."""
    n, generation = db.execute(
        "SELECT n, json_extract(data, '$.generation') FROM ledger WHERE entry = 'compacted' ORDER BY n DESC"
    ).fetchone()
    unguarded(db, f"UPDATE ledger SET data = json_set(data, '$.generation', {generation + 4}) WHERE n = {n}")
    return f"ledger entry {n} is generation {generation + 4} where {generation} comes next"


def compaction_without(field: str) -> Alter:
    def alter(db: sqlite3.Connection) -> str:
        n = one(db, "SELECT n FROM ledger WHERE entry = 'compacted'")
        unguarded(db, f"UPDATE ledger SET data = json_remove(data, '$.{field}') WHERE n = {n}")
        return f"ledger entry {n} (compacted) cannot be folded"

    alter.__name__ = f"compaction_without_{field}"
    return alter


def demotion_of_nothing(db: sqlite3.Connection) -> str:
    n = one(db, "SELECT n FROM ledger WHERE entry = 'demoted'")
    unguarded(db, f"UPDATE ledger SET data = json_set(data, '$.through', 'far') WHERE n = {n}")
    return f"ledger entry {n} (demoted) cannot be folded"


def held_nowhere(db: sqlite3.Connection) -> str:
    n = one(db, "SELECT n FROM ledger WHERE entry = 'held'")
    unguarded(db, f"UPDATE ledger SET data = json_set(data, '$.spans', 7) WHERE n = {n}")
    return f"ledger entry {n} (held) cannot be folded"


def tier_changed(db: sqlite3.Connection) -> str:
    seq = one(db, "SELECT seq FROM pending WHERE tier = 'x'")
    db.execute("UPDATE pending SET tier = 'y' WHERE seq = ?", (seq,))
    return f"pending event {seq}: tier should be otherwise"


def turn_changed(db: sqlite3.Connection) -> str:
    seq = one(db, "SELECT seq FROM pending WHERE tier = 'x'")
    db.execute("UPDATE pending SET turn = 1, tokens = 1 WHERE seq = ?", (seq,))
    return f"pending event {seq}: turn and tokens should be otherwise"


def held_spans_changed(db: sqlite3.Connection) -> str:
    seq = one(db, "SELECT seq FROM pending WHERE spans IS NOT NULL")
    db.execute("UPDATE pending SET spans = '[[0,9]]' WHERE seq = ?", (seq,))
    return f"pending event {seq}: spans should be otherwise"


def summary_reworded(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'summary'")
    db.execute("UPDATE bullets SET text = 'Something else.' WHERE id = ?", (bullet,))
    return f"bullet {bullet}: text should be otherwise"


def bullet_gone(db: sqlite3.Connection) -> str:
    bullet = one(db, "SELECT id FROM bullets WHERE form = 'summary'")
    db.execute("DELETE FROM bullets WHERE id = ?", (bullet,))
    db.execute("DELETE FROM bullet_refs WHERE bullet = ?", (bullet,))
    return f"bullet {bullet} follows from the tape, but is not in its table"


def bullet_made_up(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO bullets VALUES ('message', 'abcdefabcdef', 1, 'summary', 0, 'made up', NULL, 9)")
    db.execute("INSERT INTO bullet_refs VALUES ('message', 'abcdefabcdef', 2)")
    return "bullet abcdefabcdef is in its table, but does not follow from the tape"


def demoted_further(db: sqlite3.Connection) -> str:
    n = one(db, "SELECT max(n) FROM ledger WHERE entry = 'demoted'")
    last = one(db, "SELECT max(seq) FROM events")
    unguarded(db, f"UPDATE ledger SET data = json_set(data, '$.through', {last}) WHERE n = {n}")
    return f"pending event {one(db, 'SELECT min(seq) FROM pending WHERE tier = char(120)')}: tier should be otherwise"


def view_too_large(db: sqlite3.Connection) -> str:
    db.execute("UPDATE bullets SET tokens = 5000 WHERE form = 'summary'")
    return "the view holds "


def x_too_large(db: sqlite3.Connection) -> str:
    db.execute("UPDATE meta SET value = '60 2500' WHERE key = 'budgets:message'")
    return "X holds "


def vector_of_nothing(db: sqlite3.Connection) -> str:
    db.execute("UPDATE vectors SET hash = 'feedfeedfeedfeed' WHERE rowid = 5")
    return "a vector of tiny:a belongs to feedfeedfeedfeed, which is no chunk"


def vector_of_another_size(db: sqlite3.Connection) -> str:
    db.execute("UPDATE vectors SET vector = substr(vector, 1, 16) WHERE rowid = 5")
    return f"the vector of tiny:a for {one(db, 'SELECT hash FROM vectors WHERE rowid = 5')} has 16 bytes"


def vector_of_zeros(db: sqlite3.Connection) -> str:
    db.execute("UPDATE vectors SET vector = zeroblob(32) WHERE rowid = 5")
    return f"the vector of tiny:a for {one(db, 'SELECT hash FROM vectors WHERE rowid = 5')} has the length 0"


def vector_of_no_numbers(db: sqlite3.Connection) -> str:
    db.execute("UPDATE vectors SET vector = ? WHERE rowid = 5", (struct.pack("<8f", math.nan, *[0.1] * 7),))
    return f"the vector of tiny:a for {one(db, 'SELECT hash FROM vectors WHERE rowid = 5')} has the length nan"


ALTERATIONS: tuple[tuple[str, Alter], ...] = (
    ("file is sound", torn_page),
    ("file is sound", chunk_of_nothing),
    ("file is sound", pending_of_nothing),
    ("file is sound", reference_to_nothing),
    ("tape is append-only", guard_gone),
    ("tape is append-only", guard_that_guards_nothing),
    ("tape is append-only", last_event_gone),
    ("tape is append-only", last_ledger_entry_gone),
    ("tape is append-only", ledger_entry_gone),
    ("events are whole", event_column("id", "''", "it has no id")),
    ("events are whole", event_column("role", "'boss'", "no event has the role 'boss'")),
    ("events are whole", event_column("kind", "'rumour'", "no event is of the kind 'rumour'")),
    ("events are whole", event_column("t_event", "'soon'", "t_event is 'soon', which is no time")),
    ("events are whole", event_column("t_ingest", "'2026-03-02T09:00:00'", "t_ingest has no offset")),
    ("events are whole", event_column("refs", "'[1]'", "refs is no list of ids")),
    ("events are whole", event_column("refs", "'['", "refs is no list of ids")),
    ("events are whole", event_column("meta", "'{'", "meta is no object")),
    ("events are whole", event_column("text", "CAST(x'ff41' AS TEXT)", "text is not text")),
    ("the ledger is whole", ledger_column("t", "'soon'", ": t is 'soon', which is no time")),
    ("the ledger is whole", ledger_column("data", "'{'", ": its data does not say after which event")),
    ("the ledger is whole", ledger_column("data", "'{}'", ": its data does not say after which event")),
    ("the ledger is whole", ledger_column("data", "json_set(data, '$.at', 9999)", " was made after event 9999")),
    ("the ledger is whole", ledger_column("data", "json_set(data, '$.at', 0)", " was made after event 0")),
    ("the ledger is whole", ledger_column("entry", "CAST(x'ff41' AS TEXT)", ": entry is not text")),
    ("the ledger is whole", compaction_gone),
    ("the ledger is whole", compaction_without("generation")),
    ("the ledger is whole", compaction_without("added[0].seqs")),
    ("the ledger is whole", compaction_without("removed")),
    ("the ledger is whole", demotion_of_nothing),
    ("the ledger is whole", held_nowhere),
    ("chunks cover every event", words_changed),
    ("chunks cover every event", words_added),
    ("chunks cover every event", chunk_gone),
    ("chunks cover every event", chunk_moved),
    ("chunks cover every event", chunk_counted_otherwise),
    ("chunks cover every event", note_with_a_chunk),
    ("keyword index is complete", chunk_not_indexed),
    ("keyword index is complete", index_without_chunk),
    ("keyword index is complete", indexed_under_other_words),
    ("every event is reachable", pending_gone),
    ("every event is reachable", reference_gone),
    ("every event is reachable", raw_and_behind_a_bullet),
    ("bullets lead to events", bullet_of_nothing),
    ("bullets lead to events", reference_of_no_bullet),
    ("bullets lead to events", reference_to_a_note),
    ("the person's words are exact", protection_gone),
    ("the person's words are exact", words_of_another_kind),
    ("the person's words are exact", words_of_somebody_else),
    ("the person's words are exact", paraphrased),
    ("the person's words are exact", cut_short),
    ("the person's words are exact", quoted_beyond_the_end),
    ("the person's words are exact", quoted_of_nothing),
    ("the person's words are exact", quoted_of_two),
    ("the person's words are exact", summary_with_places),
    ("text is stored once", copied),
    ("tiers follow from the tape", tier_changed),
    ("tiers follow from the tape", turn_changed),
    ("tiers follow from the tape", held_spans_changed),
    ("tiers follow from the tape", summary_reworded),
    ("tiers follow from the tape", bullet_gone),
    ("tiers follow from the tape", bullet_made_up),
    ("tiers follow from the tape", demoted_further),
    ("the view fits", view_too_large),
    ("the view fits", x_too_large),
    ("vectors belong to chunks", vector_of_nothing),
    ("vectors belong to chunks", vector_of_another_size),
    ("vectors belong to chunks", vector_of_zeros),
    ("vectors belong to chunks", vector_of_no_numbers),
)

RECORDS = {"the ledger's records are sound", "bullets say what was recorded"}
"""Checks of the observing memory, tried where its tapes are made."""


def unguarded(db: sqlite3.Connection, statement: str) -> None:
    """Change the record as nothing but a hand in the file could."""
    for name in GUARDS:
        db.execute(f"DROP TRIGGER {name}")
    db.execute(statement)
    for guard in GUARDS.values():
        db.execute(guard)


def test_every_check_is_tried() -> None:
    assert {name for name, _ in ALTERATIONS} | RECORDS == {name for name, _ in CHECKS}


@pytest.mark.parametrize(("name", "alter"), ALTERATIONS, ids=[alter.__name__ for _, alter in ALTERATIONS])
def test_an_altered_file_fails_the_check_that_names_the_row(path: Path, name: str, alter: Alter) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("PRAGMA writable_schema = ON")
        row = alter(db)
    with MemoryStore(path, read_only=True) as store:
        report = verify(store)
    assert not report.ok
    (check,) = [check for check in report.checks if check.name == name]
    assert not check.ok
    assert any(found.startswith(row) for found in check.rows), (row, check.rows)


def test_of_very_many_rows_the_rest_are_counted(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE vectors SET vector = zeroblob(32)")
    with MemoryStore(path, read_only=True) as store:
        rows = verify(store).checks[-1].rows
        made = store.reader().execute("SELECT count(*) FROM vectors").fetchone()[0]
    assert len(rows) == MOST_ROWS + 1
    assert rows[-1] == f"and {made - MOST_ROWS} more"
