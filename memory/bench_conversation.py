"""The synthetic conversation of ``memory/compaction_bench.py``: a bookkeeping program, any number of turns long.

The person chats, asks for everyday things and now and then lays down a constraint; the replies report work. Requests
use the words of demand as people do ("before Friday", "don't touch the header"), so that a constraint does not stand
out by its vocabulary alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from memory.values import NewEvent

CONSTRAINTS = (
    "amounts are stored as whole cents and never as floats",
    "nothing goes out to a customer until Marta has approved it",
    "the export must stay readable by version 3 of the importer",
    "no customer data may leave the office network",
    "deleted rows are kept for ten years in every table",
    "dates are always written day first on the screen",
    "the nightly run has to be finished before 05:30",
    "an invoice number is never used twice, not even after a void",
)
"""The clause of each constraint, as the person says it."""

_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

_LEADS = (
    "One thing to bear in mind: {}.",
    "By the way, {}.",
    "What I forgot to say: {}.",
    "The auditors were here, so {}.",
)

_CHATTER = (
    "Morning, the train was {n} minutes late again.",
    "Coffee machine on floor {d} is broken, so be patient with me.",
    "{name} brought cake, I saved a piece.",
    "It has been raining since {day}.",
    "Back from lunch.",
    "That looked good yesterday, {name} liked it too.",
    "I slept badly, the neighbours have a new drum kit.",
    "Only {n} mails this morning, a record.",
    "{name} says hello.",
    "My laptop wanted {d} updates before it let me in.",
    "Thanks for the quick answer on {day}.",
    "We won the pub quiz, by {d} points.",
)

_REQUESTS = (
    "Can you look at why {file} drops the last line when the file has no newline at its end?",
    "Please rename {fn} to {fn2}, and keep the old name until {day}.",
    "The total on the {screen} screen is off by {n} for {name}, can you find out where it comes from?",
    "I need a column for the branch on the {screen} screen, before the date.",
    "Could you make {file} read the rates from the settings instead of the constant?",
    "Add a test for {fn} with an empty list, it crashed for {name} on {day}.",
    "Don't touch the header of {file} while {name} is working on it, the rest is yours.",
    "How long does {fn} take for {n} thousand rows?",
    "The {screen} screen should open on the newest entry.",
    "Merge what {name} sent on {day}, but without the change to {file}.",
    "Why does {fn} return None for bookings of {day}?",
    "Sort the {screen} list by amount, and only show {n} rows at a time.",
    "Can the log of {fn} say which file it was reading? I want to see it when it fails.",
    "Use the new logo on the {screen} page.",
    "What is left to do for {day}?",
    "Undo the last change to {file}, it was wrong after all.",
)

_REPORTS = (
    "{fn} in {file} threw away what came after the last newline. It keeps it now; {n} tests pass, one was added.",
    "Done in {file}: {d} places changed, and {fn} calls {fn2} now. The suite runs in {n}.{d} seconds.",
    "The {n} came from rounding twice, once in {fn} and once on the {screen} screen. I removed the second.",
    "The {screen} screen has the column. It comes from the branch table with one join, {d} ms for {n} rows.",
    "{file} read {d} settings at import. They are read on first use now, which also makes the tests independent.",
    "I measured {fn}: {n}.{d} seconds, most of it in sorting. With the index on the date it is {d} ms.",
    "Merged {d} commits from {name}. There was a conflict in {file} around line {n}{d}, I kept both sides.",
    "It returned None because the booking had no branch. {fn2} fills in the default branch now and logs the number.",
    "The {screen} page is sorted on the server, {n} rows a page, and remembers the page when you come back.",
    "Reverted. {file} is as it was on {day}; the test that depended on it is marked, so that we do not forget it.",
)

_TAILS = (
    "I looked at {file} as well, nothing to do there.",
    "Next would be {fn2}, if you agree.",
    "The change is on the branch for {day}.",
    "Coverage of {file} is {n}% now.",
    "{name} may want to read it before it is merged.",
)

_FILES = ("ledger/post.py", "ledger/rates.py", "export/csv.py", "export/pdf.py", "ui/list.py", "import/bank.py")
_FUNCTIONS = ("post_entry", "split_line", "sum_open", "match_payment", "load_rates", "close_month", "find_branch")
_SCREENS = ("payments", "invoices", "open items", "customers", "month end")
_NAMES = ("Marta", "Jonas", "Femi", "Aiko", "Luis")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def conversation(turns: int) -> Iterator[NewEvent]:
    """``turns`` pairs of message and reply. The constraints are spread evenly; the same ``turns``, the same words."""
    chance = random.Random(f"otto {turns}")
    planted = {int((place + 0.5) * turns / len(CONSTRAINTS)): text for place, text in enumerate(CONSTRAINTS)}
    for turn in range(turns):
        at = (_START + timedelta(minutes=7 * turn)).isoformat()
        yield _event(f"said-{turn}", "user", "person", _message(chance, planted.get(turn)), at)
        yield _event(f"reply-{turn}", "assistant", "bench", _report(chance), at)


def _message(chance: random.Random, constraint: str | None) -> str:
    parts = [_filled(chance, _CHATTER)] if chance.random() < 0.6 else []
    if constraint is not None:
        parts.append(chance.choice(_LEADS).format(constraint))
    parts.append(_filled(chance, _REQUESTS))
    return " ".join(parts)


def _report(chance: random.Random) -> str:
    parts = [_filled(chance, _REPORTS) for _ in range(chance.randint(1, 3))]
    return " ".join([*parts, _filled(chance, _TAILS)])


def _filled(chance: random.Random, templates: tuple[str, ...]) -> str:
    fn, fn2 = chance.sample(_FUNCTIONS, 2)
    return chance.choice(templates).format(
        n=chance.randint(11, 97),
        d=chance.randint(2, 9),
        file=chance.choice(_FILES),
        fn=fn,
        fn2=fn2,
        screen=chance.choice(_SCREENS),
        name=chance.choice(_NAMES),
        day=chance.choice(_DAYS),
    )


def _event(id: str, role: str, source: str, text: str, at: str) -> NewEvent:
    return NewEvent(id=id, role=role, source=source, text=text, t_event=at)
