"""A process whose model calls tools is killed at any statement: no call or result is lost, and none stays open."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

from memory.store import MemoryStore
from memory.values import Event
from memory.verify import verify
from sessions import tapes
from sessions.library import Library
from sessions.options import Options
from tests.kill.lives import Death, FromInside, FromOutside, live, make_mortal
from tests.sessions.made_tools import called, give, printing
from tests.sessions.scripted_model import ScriptedModel

LIVES = 25
TURNS = 6
MOST_STATEMENTS = 330


def printed(n: int) -> str:
    return f"drawer {n} holds a tide table\n" * (1 if n % 2 else 80)


def test_tool_calls_survive_a_kill_anywhere(tmp_path: Path) -> None:
    chance = random.Random("tools")
    killed = interrupted = 0
    for number in range(LIVES):
        home = tmp_path / f"home{number}"
        home.mkdir()
        by_statement = FromInside(chance.randint(30, MOST_STATEMENTS))
        killed += _live(home, by_statement if number % 2 else FromOutside(1, 0.25 * chance.random()))
        interrupted += _check(home)
    assert killed > LIVES // 2
    assert interrupted > 0


def _live(home: Path, death: Death) -> bool:
    def work(acknowledge: Callable[[], None]) -> None:
        make_mortal(death)
        acknowledge()
        asyncio.run(_talk(home))

    return live(work, death, home / "log").killed


async def _talk(home: Path) -> None:
    model = ScriptedModel()
    session = await Library(_options(home), open_model=model.opened).new("/work")
    give(session, printing(printed))
    for turn in range(TURNS):
        calls = [called("print_it", 3 * turn + n) for n in range(3)]
        model.replies = [["Let me look. ", *calls[:2]], [calls[2]], ["It is there."]]
        await session.send(f"Look into the drawers, round {turn}.")
    await session.close()


def _check(home: Path) -> int:
    """How many calls the kill left without a result; the next opening has answered them."""
    ids = tapes.tape_ids(home)
    if not ids:
        return 0
    (id,) = ids
    before = _tool_events(home, id)
    if not before:
        return 0
    open_calls = _unanswered(before)
    asyncio.run(_open(home, id))
    after = _tool_events(home, id)
    assert after[: len(before)] == before
    assert _unanswered(after) == []
    assert len(after) == len(before) + len(open_calls)
    for event in before:
        if event.role == "tool":
            n = int(event.meta["call"].rpartition("-")[2])
            assert event.text == printed(n)
    with MemoryStore(tapes.tape_path(home, id)) as store:
        assert [check for check in verify(store).checks if not check.ok] == []
    return len(open_calls)


async def _open(home: Path, id: str) -> None:
    library = Library(_options(home), open_model=ScriptedModel().opened)
    await library.start()
    session = await library.open(id)
    assert "has no answer" not in str(await session.view())
    await session.close()


def _tool_events(home: Path, id: str) -> list[Event]:
    # Opened for writing, since a file may have been killed while it was made.
    with MemoryStore(tapes.tape_path(home, id)) as store:
        return store.events(kinds=["tool"])


def _unanswered(events: list[Event]) -> list[str]:
    answered = {ref for event in events if event.role == "tool" for ref in event.refs}
    return [event.id for event in events if event.role == "assistant" and event.id not in answered]


def _options(home: Path) -> Options:
    return Options(home=home, chat="test/scripted", x_budget=200, y_budget=400, embedding="none")
