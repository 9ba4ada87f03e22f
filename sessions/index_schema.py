"""The index's table, and how a file that lacks part of it becomes a current one."""

from __future__ import annotations

from sqlite_utils import Database, Migrations

index_migrations = Migrations("otto-sessions")


@index_migrations()
def version_1(db: Database) -> None:
    """Create the table of sessions, or complete one that an early Otto or a person made."""
    db.execute(
        """
        CREATE TABLE IF NOT EXISTS sessions (
            id TEXT PRIMARY KEY,
            title TEXT,
            workspace TEXT,
            created TEXT,
            updated TEXT,
            turns INTEGER,
            parent TEXT
        )
        """
    )
    there = {row[1] for row in db.execute("PRAGMA table_info(sessions)")}
    for column in ("title", "workspace", "created", "updated", "parent"):
        if column not in there:
            db.execute(f"ALTER TABLE sessions ADD COLUMN {column} TEXT")
    if "turns" not in there:
        db.execute("ALTER TABLE sessions ADD COLUMN turns INTEGER")
    db.execute("PRAGMA user_version = 1")
