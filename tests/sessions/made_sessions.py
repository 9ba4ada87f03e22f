"""Sessions for tests, made by the real engine with small budgets and a summariser that is no model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.queue import TieredQueue
from memory.store import MemoryStore
from memory.values import NewEvent
from sessions import tapes
from sessions.index import SessionIndex
from sessions.options import Options
from sessions.rows import SessionRow

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def ticking(start: datetime = START) -> Callable[[], datetime]:
    """A clock that moves on by a second each time it is read."""
    times = (start + timedelta(seconds=number) for number in range(10**9))
    return lambda: next(times)


def options_for(home: Path, **fields: object) -> Options:
    return Options(**{"home": home, "now": ticking(), **fields})  # type: ignore[arg-type]


def short_summary(prompt: str) -> str:
    """A summariser that leaves out every third item."""
    numbers = [int(number) for number in re.findall(r"^\[(\d+)\]", prompt, re.MULTILINE)]
    kept = [number for number in numbers if number % 3]
    return "\n".join(
        f"- About item {kept[at]} [{kept[at]}-{min(kept[at] + 1, numbers[-1])}]" for at in range(0, len(kept), 2)
    )


def conversation(turns: int, *, words: str = "we keep the beds in rows and water them at dawn") -> list[NewEvent]:
    """Questions, answers, and now and then a tool's output and a note."""
    said: list[NewEvent] = []
    for turn in range(1, turns + 1):
        said.append(
            NewEvent(
                text=f"Question {turn}: bed {turn} must get exactly {turn} litres, {words}?",
                role="user",
                source="person",
            )
        )
        if turn % 4 == 0:
            said.append(
                NewEvent(
                    text=f'{{"question": "bed {turn}"}}',
                    role="tool",
                    kind="note",
                    source="recall_memory",
                    meta={"summary": "1 found"},
                )
            )
        if turn % 5 == 0:
            said.append(NewEvent(text=f"bed{turn}.log: dry\n" * 3, role="tool", kind="tool", source="sensor"))
        meta = {
            "model": "fake/model",
            "cost": 0.0012 * turn,
            "usage": {"prompt_tokens": 10 * turn, "completion_tokens": turn},
        }
        if turn % 7 == 0:
            meta["partial"] = "stopped"
        said.append(
            NewEvent(
                text=f"Answer {turn}: in bed {turn} grow **beans** and `kale`; {words}.",
                role="assistant",
                source="fake/model",
                meta=meta,
            )
        )
    return said


def made(
    options: Options,
    id: str,
    events: Iterable[NewEvent],
    *,
    x_budget: int = 120,
    y_budget: int = 260,
    indexed: bool = True,
    workspace: str = "/home/sam/garden",
    title: str | None = None,
) -> SessionRow:
    """A session with this id, whose tape and index row are written."""
    path = tapes.tape_path(options.home, id)
    with closing(MemoryStore(path, now=options.now)) as store:
        queue = TieredQueue(store, summarize=short_summary, x_budget=x_budget, y_budget=y_budget, restore=True)
        store.set_meta(tapes.WORKSPACE, workspace)
        if title is not None:
            store.set_meta(tapes.TITLE, title)
        for event in events:
            queue.append(event)
        summary = tapes.summary_of(store, id)
    assert summary is not None
    if indexed:
        SessionIndex(options.home).record(summary.row)
    return summary.row
