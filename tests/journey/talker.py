"""A process that talks with a vendor, turn after turn, and says which turns are done. It is meant to be killed.

Run as ``python -m tests.journey.talker HOME MODEL FIRST LAST``; the vendor's address and key come from the
environment. One line a finished turn on standard output: its number.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from sessions.library import Library
from sessions.options import Options

X_BUDGET = 300
Y_BUDGET = 700


def question(number: int) -> str:
    """What the person says in turn ``number``."""
    if number == 3:
        return "For the record: the vault code is HELIOTROPE-39 and only Mirela may use it."
    return f"Question {number}: please write down that shelf {number} holds part {number * 7 % 1000} of the kit."


def options(home: Path, model: str) -> Options:
    return Options(
        home=home, environ=dict(os.environ), chat=model, x_budget=X_BUDGET, y_budget=Y_BUDGET, embedding="none"
    )


async def talk(home: Path, model: str, first: int, last: int) -> None:
    library = Library(options(home, model))
    session = await (library.open("last") if first > 1 else library.new("/work/vault"))
    for number in range(first, last + 1):
        done = await session.send(question(number))
        if done.error:
            print(f"error: {done.error}", flush=True)
            return
        print(number, flush=True)
    await session.drain()
    await session.close()


if __name__ == "__main__":
    asyncio.run(talk(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
