"""A process whose workers are at work is killed again and again: no batch is lost in part, none is recorded twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.observations import OBSERVATIONS, RECORD_ENTRIES
from memory.store import CONVERSATION, MemoryStore
from memory.values import TIERED_KINDS
from memory.verify import verify
from sessions import tapes
from sessions.library import Library
from tests.kill.lives import Death, FromInside, FromOutside, live, make_mortal
from tests.sessions.observing.conversations import options_for, talking

KILLS = 12
TURNS = 30
"""In one life, unless it is cut short."""


@pytest.mark.parametrize("seed", range(2))
def test_a_worker_killed_half_way_loses_and_repeats_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    killed = 0
    while killed < KILLS:
        killed += live(_talk(tmp_path, death := _death(chance)), death, tmp_path / "log").killed
        _check(tmp_path)
    asyncio.run(_goes_on(tmp_path))


def _death(chance: random.Random) -> Death:
    if chance.random() < 0.5:
        return FromOutside(chance.randint(1, 12), 0.03 * chance.random())
    return FromInside(chance.randint(60, 900))


def _talk(home: Path, death: Death) -> Callable[[Callable[[], None]], None]:
    def work(acknowledge: Callable[[], None]) -> None:
        make_mortal(death)
        asyncio.run(_say(home, acknowledge))

    return work


async def _say(home: Path, acknowledge: Callable[[], None]) -> None:
    rows = await Library(options_for(home)).list()
    async with talking(options_for(home), id=rows[0].id if rows else None) as talk:
        for _ in range(TURNS):
            await talk.say(1, settle=False)
            acknowledge()
        await talk.session.drain()


def _check(home: Path) -> None:
    for path in tapes.folder(home).glob("*.db"):
        with MemoryStore(path) as store:
            assert [check for check in verify(store).checks if not check.ok] == []
            entries = store.ledger(CONVERSATION, OBSERVATIONS)
            covers = [entry.data["covers"] for entry in entries]
            assert covers == sorted(set(covers))
            noted = [source for entry in entries for made in entry.data["observations"] for source in made["sources"]]
            covered = [event.id for event in store.events(kinds=TIERED_KINDS) if event.seq <= max(covers, default=0)]
            # One note an entry: every entry that is covered has been noted, and none of them twice.
            assert noted == covered


async def _goes_on(home: Path) -> None:
    (row,) = await Library(options_for(home)).list()
    async with talking(options_for(home), id=row.id) as talk:
        await talk.say(40)
        await talk.check()
        state = await talk.state()
        assert state.observations
        assert state.reflections
        memory = talk.session._memory
        assert memory is not None
        assert {entry.entry for entry in memory.store.ledger(CONVERSATION, RECORD_ENTRIES)} >= {OBSERVATIONS}
