"""Many requests, few runs, and never two at a time."""

from __future__ import annotations

import asyncio

import pytest

from screens.pacing import Paced


class Work:
    """Counts runs; each waits for its gate."""

    def __init__(self) -> None:
        self.runs = 0
        self.at_once = 0
        self.most_at_once = 0
        self.pauses: list[float] = []
        self.gate = asyncio.Event()

    async def __call__(self) -> None:
        self.runs += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await self.gate.wait()
        self.at_once -= 1

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)


async def test_requests_during_a_run_are_one_more_run() -> None:
    work = Work()
    paced = Paced(work, sleep=work.sleep)
    assert paced.ask()
    running = asyncio.create_task(paced.run())
    await asyncio.sleep(0)
    assert not any(paced.ask() for _ in range(1_000))
    work.gate.set()
    await running
    assert (work.runs, work.most_at_once) == (2, 1)
    assert work.pauses == [0.2, 0.2]


async def test_only_the_first_to_ask_has_to_start_it() -> None:
    paced = Paced(Work(), sleep=Work().sleep)
    assert [paced.ask() for _ in range(3)] == [True, False, False]


async def test_it_starts_again_after_it_was_done() -> None:
    work = Work()
    work.gate.set()
    paced = Paced(work, sleep=work.sleep)
    for _ in range(3):
        assert paced.ask()
        await paced.run()
    assert work.runs == 3


async def test_a_run_that_fails_does_not_end_it_for_good() -> None:
    failures = [ValueError("odd")]
    runs = []

    async def work() -> None:
        runs.append(1)
        if failures:
            raise failures.pop()

    paced = Paced(work, sleep=Work().sleep)
    paced.ask()
    with pytest.raises(ValueError, match="odd"):
        await paced.run()
    assert paced.ask()
    await paced.run()
    assert len(runs) == 2
