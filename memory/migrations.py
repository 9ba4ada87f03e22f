"""How an older tape file becomes a current one: ordered steps, each recorded in the file.

Imported only when a file has to be made or upgraded, since sqlite-utils takes its time to import.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from memory.schema import VERSION_1

tape_migrations = Migrations("otto-tape")


@tape_migrations()
def version_1(db: Database) -> None:
    """Create every table of schema 1."""
    for statement in VERSION_1:
        db.execute(statement)
    db.execute("PRAGMA user_version = 1")
