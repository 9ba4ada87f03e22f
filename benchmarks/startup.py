"""What starting costs: the first paint against a bare Textual app's, a long session's opening against a short one's.

python benchmarks/startup.py [--json]
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

PAINTS = 9
RESUMES = 9

SHORT, LONG = 50, 5_000
"""Turns."""


def measure() -> list[Ratio]:
    """Both, each with its two sides measured in turns."""
    return [first_paint_ratio(), asyncio.run(resume_ratio())]


def first_paint_ratio() -> Ratio:
    """From the first line of Python to the prompt, against one line of text in Textual."""
    from benchmarks.first_paint import BARE, OTTO, first_paint
    from benchmarks.ratios import ratio

    ours: list[float] = []
    theirs: list[float] = []
    # The first of each fills the caches of the disk and of Python.
    for place in range(PAINTS + 1):
        for program, times in ((OTTO, ours), (BARE, theirs)):
            seconds = first_paint(program)
            if place:
                times.append(seconds)
    return ratio("first_paint", ours, theirs, target=2.0)


async def resume_ratio() -> Ratio:
    """From asking for a session to its last turn over an editable prompt."""
    from benchmarks.app_timing import resume, running
    from benchmarks.long_sessions import make_session
    from benchmarks.ratios import ratio

    with tempfile.TemporaryDirectory(prefix="otto-bench-") as folder:
        home = Path(folder)
        short, long = make_session(home, SHORT), make_session(home, LONG)
        times: dict[str, list[float]] = {long: [], short: []}
        async with running(home) as (app, _):
            assert app.conversations is not None
            for place in range(RESUMES + 1):
                for id in times:
                    seconds = await resume(app, id)
                    if place:
                        times[id].append(seconds)
                    await app.chat.show(await app.conversations.new(str(home)))
                    await app.conversations.let_go(id)
                    await asyncio.sleep(0.3)
    return ratio("resume_5000_turns", times[long], times[short], target=3.0)


if __name__ == "__main__":
    from benchmarks.ratios import tell

    tell(measure, __doc__)
