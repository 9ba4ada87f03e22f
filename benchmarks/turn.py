"""What a turn costs: a key in a long session against an empty one, a turn beside a compaction against one alone, and
the way from Enter to the model beside an observer that hangs against the way alone.

python benchmarks/turn.py [--json]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

if TYPE_CHECKING:
    from benchmarks.ratios import Ratio

ROUNDS = 4
KEYS = 30
"""In one round."""

LONG = 5_000
"""Turns."""

TURNS = 200


def measure() -> list[Ratio]:
    """All, each with its two sides measured in turns."""
    return [asyncio.run(ratio()) for ratio in (keystroke_ratio, turn_ratio, enter_ratio)]


async def keystroke_ratio() -> Ratio:
    """From a key to the paint that shows it."""
    from benchmarks.app_timing import keystrokes, running
    from benchmarks.long_sessions import make_session
    from benchmarks.ratios import ratio
    from otto_tui.app import NEW

    with tempfile.TemporaryDirectory(prefix="otto-bench-") as folder:
        home = Path(folder)
        times: dict[str, list[float]] = {make_session(home, LONG): [], NEW: []}
        for _ in range(ROUNDS):
            for session, taken in times.items():
                async with running(home, session) as (app, paints):
                    await keystrokes(app, paints, KEYS // 3)
                    taken += await keystrokes(app, paints, KEYS)
    long, empty = times.values()
    return ratio("keystroke_5000_turns", long, empty, target=1.5)


async def turn_ratio() -> Ratio:
    """From Enter to the reply on disk, the model taking no time at all."""
    from benchmarks.ratios import ratio
    from benchmarks.turn_cost import turn_times

    with tempfile.TemporaryDirectory(prefix="otto-bench-") as folder:
        beside, alone = await turn_times(Path(folder), TURNS)
    return ratio("turn_while_compacting", beside, alone, target=1.1)


async def enter_ratio() -> Ratio:
    """From Enter to the moment at which the chat model is asked."""
    from benchmarks.ratios import ratio
    from benchmarks.stuck_observer import enter_times

    with tempfile.TemporaryDirectory(prefix="otto-bench-") as folder:
        beside, alone = await enter_times(Path(folder), TURNS)
    return ratio("enter_to_request_with_stuck_observer", beside, alone, target=1.1)


if __name__ == "__main__":
    from benchmarks.ratios import tell

    tell(measure, __doc__)
