"""Making a new tape out of a record that exists already: under another name until it is whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from memory import chunk_rows, event_rows
from memory.chunk_rows import Piece
from memory.errors import StoreUnavailable
from memory.json_text import dump
from memory.queue import TieredQueue
from memory.rebuild import fill_tiers
from memory.store import LedgerEntry, MemoryStore
from memory.values import Event
from sessions import tapes
from sessions.ids import free_id
from sessions.options import Options
from sessions.private_files import make_folder, move_once, reason
from sessions.rows import SessionRow

_ENDING = ".building"


@contextmanager
def unfinished_tape(home: Path, now: Callable[[], datetime]) -> Iterator[MemoryStore]:
    """An empty store in a file that no list shows. It is removed again unless ``finish`` gave it a name.

    Raises:
        StoreUnavailable: the folder cannot be written.
    """
    folder = tapes.folder(home)
    make_folder(folder)
    _remove_left_behind(folder)
    path = folder / f".{os.getpid()}-{secrets.token_hex(4)}{_ENDING}"
    store = MemoryStore(path, now=now)
    try:
        yield store
    finally:
        store.close()
        _remove(path)


def finish(store: MemoryStore, home: Path, id: str) -> str:
    """Close an unfinished tape and give it a session's name: ``id``, or it with a number where it is taken.

    Raises:
        StoreUnavailable: it cannot be moved there.
    """
    store.close()
    wal = store.path.with_name(f"{store.path.name}-wal")
    if wal.exists() and wal.stat().st_size:
        raise StoreUnavailable(f"{tapes.folder(home)} could not take all of the session; the disk may be full.")
    while True:
        id = free_id(id, lambda name: tapes.tape_path(home, name).exists())
        try:
            move_once(store.path, tapes.tape_path(home, id))
        except FileExistsError:
            # Another process took the name in between.
            continue
        except OSError as error:
            raise StoreUnavailable(f"{tapes.folder(home)} cannot be written: {reason(error)}.") from error
        return id


def write_record(
    store: MemoryStore,
    row: SessionRow,
    events: Iterable[Event],
    ledger: Iterable[LedgerEntry],
    *,
    facts: Mapping[str, str] | None = None,
    pieces: Mapping[int, Sequence[Piece]] | None = None,
) -> None:
    """Fill an empty store: the record as it is given, everything else as it follows from that. One transaction.

    Args:
        events: in order, each under its own ``seq``.
        facts: further facts of the file.
        pieces: how events are cut, by ``seq``; the others are cut anew.
    """
    cut = pieces or {}
    with store.transaction() as db:
        for event in events:
            event_rows.insert(db, event)
            chunk_rows.insert(db, event.seq, cut.get(event.seq) or chunk_rows.prepare(event))
        db.executemany(
            "INSERT INTO ledger (n, kind, entry, t, data) VALUES (?, ?, ?, ?, ?)",
            [(entry.n, entry.kind, entry.entry, entry.t, dump(dict(entry.data))) for entry in ledger],
        )
        tapes.write_facts(store, row)
        for key, value in (facts or {}).items():
            store.set_meta(key, value)
        fill_tiers(store)


def fit_to_budgets(store: MemoryStore, budgets: str | None, options: Options) -> None:
    """Cut the tiers to ``budgets``, as a tape records them, or to those of the settings."""
    x_budget, y_budget = map(int, budgets.split()) if budgets else (options.x_budget, options.y_budget)
    TieredQueue(store, x_budget=x_budget, y_budget=y_budget, restore=True, auto_compact=False)


def _remove_left_behind(folder: Path) -> None:
    """What a killed process was building. Half a tape is of no use: its source is still there."""
    for path in folder.glob(f".*{_ENDING}*"):
        owner = path.name[1:].split("-", 1)[0]
        if owner.isdigit() and not _alive(int(owner)):
            path.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> None:
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink(missing_ok=True)
