"""The tape file's tables.

``events`` and ``ledger`` are the record: append-only, guarded by triggers. Every other table is derived from them
and can be dropped and rebuilt (``memory/rebuild.py``). ``memory/migrations.py`` makes an older file a current one.
"""

from __future__ import annotations

SCHEMA_VERSION = 1
"""Kept in ``PRAGMA user_version``; a file with a higher one was written by a newer Otto."""

KEYWORD_INDEX = (
    "CREATE VIRTUAL TABLE chunks_fts USING fts5(words, content='', tokenize='porter unicode61 remove_diacritics 2')"
)
"""Contentless: the index stores no text. Rows are inserted through ``memory/words.py``, which makes any script
searchable; ``rowid`` is the chunk's."""

GUARDS = {
    f"{table}_{verb}": f"CREATE TRIGGER {table}_{verb} BEFORE {statement} ON {table}"
    f" BEGIN SELECT RAISE(ABORT, 'the {name} is append-only'); END"
    for table, be, name in (("events", "are", "tape"), ("ledger", "is", "ledger"))
    for verb, statement in ((f"{be}_never_edited", "UPDATE"), (f"{be}_never_deleted", "DELETE"))
}
"""By name: the triggers that keep the record from being changed."""

VERSION_1 = (
    # -- the record ------------------------------------------------------------------------------------------
    """
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        thread TEXT NOT NULL,
        id TEXT NOT NULL,
        source TEXT NOT NULL,
        role TEXT NOT NULL,
        kind TEXT NOT NULL,
        t_event TEXT NOT NULL,
        t_ingest TEXT NOT NULL,
        text TEXT NOT NULL,
        refs TEXT NOT NULL DEFAULT '[]',
        meta TEXT NOT NULL DEFAULT '{}',
        UNIQUE (thread, id)
    )
    """,
    # What the person said is counted after every turn; without this, from all rows of the tape.
    "CREATE INDEX events_said ON events (role, kind) WHERE role = 'user' AND kind = 'message'",
    """
    CREATE TABLE ledger (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        entry TEXT NOT NULL,
        t TEXT NOT NULL,
        data TEXT NOT NULL
    )
    """,
    *GUARDS.values(),
    # -- a reply that is still streaming; becomes an event when it ends, or on the next open ---------------------
    """
    CREATE TABLE drafts (
        id TEXT PRIMARY KEY,
        thread TEXT NOT NULL,
        source TEXT NOT NULL,
        t_event TEXT NOT NULL,
        text TEXT NOT NULL
    )
    """,
    # -- small facts about the file: session id, current embedding stamp ----------------------------------------
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # -- derived: units of search ---------------------------------------------------------------------------------
    """
    CREATE TABLE chunks (
        rowid INTEGER PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        seq INTEGER NOT NULL REFERENCES events (seq),
        start INTEGER NOT NULL,
        end INTEGER NOT NULL,
        tokens INTEGER NOT NULL
    )
    """,
    "CREATE INDEX chunks_by_seq ON chunks (seq)",
    KEYWORD_INDEX,
    """
    CREATE TABLE vectors (
        hash TEXT NOT NULL,
        stamp TEXT NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (stamp, hash)
    )
    """,
    # -- derived: the live tiers ------------------------------------------------------------------------------------
    """
    CREATE TABLE pending (
        kind TEXT NOT NULL,
        seq INTEGER NOT NULL REFERENCES events (seq),
        tier TEXT NOT NULL CHECK (tier IN ('x', 'y')),
        turn INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        spans TEXT,
        PRIMARY KEY (kind, seq)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE bullets (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        generation INTEGER NOT NULL,
        form TEXT NOT NULL,
        protected INTEGER NOT NULL,
        text TEXT,
        spans TEXT,
        tokens INTEGER NOT NULL,
        PRIMARY KEY (kind, id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE bullet_refs (
        kind TEXT NOT NULL,
        bullet TEXT NOT NULL,
        seq INTEGER NOT NULL REFERENCES events (seq),
        PRIMARY KEY (kind, bullet, seq)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX bullet_refs_by_seq ON bullet_refs (kind, seq)",
)
