"""Every invariant of the memory, checked on a real file (DESIGN, "What must always hold"). Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memory import tape_checks, tier_checks
from memory.database import readable_errors
from memory.errors import OttoError
from memory.record_checks import record_bullets_say_what_was_recorded, records_are_sound
from memory.store import CONVERSATION, MemoryStore

MOST_ROWS = 50
"""Of one failing check, so many rows are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant. ``rows`` name exactly what breaks it."""

    name: str
    ok: bool
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    ok: bool
    checks: tuple[Check, ...]


def verify(store: MemoryStore, kind: str = CONVERSATION) -> VerifyReport:
    """Check one store. A check that cannot even run fails with the reason as its row."""
    checks = tuple(_run(name, check, store, kind) for name, check in CHECKS)
    return VerifyReport(all(check.ok for check in checks), checks)


def _run(name: str, check: Callable[[MemoryStore, str], Iterable[str]], store: MemoryStore, kind: str) -> Check:
    rows: list[str] = []
    try:
        with readable_errors(store.path):
            rows.extend(check(store, kind))
    except (OttoError, ValueError, LookupError, TypeError, AttributeError) as error:
        rows.append(f"could not be checked: {error}")
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], f"and {len(rows) - MOST_ROWS} more"]
    return Check(name, not rows, tuple(rows))


CHECKS: tuple[tuple[str, Callable[[MemoryStore, str], Iterable[str]]], ...] = (
    ("file is sound", tape_checks.file_is_sound),
    ("tape is append-only", tape_checks.tape_is_append_only),
    ("events are whole", tape_checks.events_are_whole),
    ("the ledger is whole", tape_checks.ledger_is_whole),
    ("chunks cover every event", tape_checks.chunks_cover_every_event),
    ("keyword index is complete", tape_checks.keyword_index_is_complete),
    ("every event is reachable", tier_checks.every_event_is_reachable),
    ("bullets lead to events", tier_checks.bullets_lead_to_events),
    ("the person's words are exact", tier_checks.persons_words_are_exact),
    ("text is stored once", tier_checks.text_is_stored_once),
    ("tiers follow from the tape", tier_checks.tiers_follow_from_the_tape),
    ("the ledger's records are sound", records_are_sound),
    ("bullets say what was recorded", record_bullets_say_what_was_recorded),
    ("the view fits", tier_checks.view_fits),
    ("vectors belong to chunks", tape_checks.vectors_belong_to_chunks),
)
