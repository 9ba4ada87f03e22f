"""How large the transcript of a tool-heavy turn gets, and how much of it a vendor's prefix cache keeps.

    python -m benchmarks.context_tier [--json] [--calls N] [--size BYTES]

One turn calls ``read_file`` so many times, on files of 20 KB each, over real HTTP: the model is a vendor on loopback,
reached through litellm. It is done with eviction and without. What is counted is what the vendor received.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from sessions.library import Library
from sessions.loop_status import LoopStatus
from sessions.options import KEEP_VERBATIM, LOOP_COMPACT_AT, ToolSettings
from tests.vendors import Asked, LoopbackVendor, Reply, ToolUse

CALLS = 120
CHECKPOINTS = (10, 50, 120)
FILE_SIZE = 20_000
LINE = 50
"""Characters, its end included."""

NEVER = 10**9
"""Characters at which nothing is ever cut."""


@dataclass(frozen=True, slots=True)
class Size:
    """The request that follows so many calls."""

    calls: int
    printed: int
    """Characters that the tools have printed by then."""
    bytes: int
    largest: int
    """Bytes of the largest request up to there."""


@dataclass(frozen=True, slots=True)
class Run:
    """One turn, as the vendor saw it."""

    eviction: bool
    sizes: tuple[Size, ...]
    requests: int
    breaks: int
    """Requests in which a message of the one before was another."""
    predicted: int
    """What the chunky rule says for results of these sizes."""
    counted: int
    """What the session itself says."""
    identical: float
    """The share of a request that is byte by byte the beginning of the one before: the median over all requests."""
    kept: float
    """The same over all bytes that were sent."""


async def run(home: Path, calls: int, size: int, *, eviction: bool) -> Run:
    """One turn of so many calls, each of which reads a file of ``size`` bytes."""
    folder = home / "files"
    folder.mkdir()
    for number in range(calls):
        (folder / f"{number}.txt").write_text(_text(number, size))

    def answer(asked: Asked) -> Reply:
        made = sum(said.role == "tool" for said in asked.messages)
        return Reply(tools=(ToolUse("read_file", {"path": f"{made}.txt"}),)) if made < calls else Reply("All is read.")

    settings = ToolSettings(max_calls=calls + 1, loop_compact_at=LOOP_COMPACT_AT if eviction else NEVER)
    with LoopbackVendor("openai") as vendor:
        vendor.reply_with(answer)
        options = vendor.options(home / "otto", embedding="none", scale_to_window=False, tools=settings)
        session = await Library(options).new(str(folder))
        try:
            done = await session.send("Read all of the files.")
            assert done.error is None, done.error
            status = session.loop()
        finally:
            await session.close()
        return _measured([request.raw for request in vendor.chats], status, eviction)


def _measured(sent: Sequence[bytes], status: LoopStatus, eviction: bool) -> Run:
    lengths = [len(body) for body in sent]
    printed = [call.size for call in status.made]
    assert len(printed) == len(sent) - 1
    same = [_common_beginning(before, body) for before, body in pairwise(sent)]
    messages: list[list[Any]] = [json.loads(body)["messages"] for body in sent]
    points = sorted({min(calls, len(printed)) for calls in CHECKPOINTS})
    return Run(
        eviction=eviction,
        sizes=tuple(Size(n, sum(printed[:n]), lengths[n], max(lengths[: n + 1])) for n in points),
        requests=len(sent),
        breaks=sum(now[: len(before)] != before for before, now in pairwise(messages)),
        predicted=predicted_cuts(printed, LOOP_COMPACT_AT if eviction else NEVER, KEEP_VERBATIM),
        counted=status.prefix_breaks,
        identical=median(part / length for part, length in zip(same, lengths[1:], strict=True)),
        kept=sum(same) / sum(lengths[1:]),
    )


def _common_beginning(one: bytes, other: bytes) -> int:
    """Bytes in which both begin alike."""
    alike, differing = 0, min(len(one), len(other)) + 1
    while differing - alike > 1:
        middle = (alike + differing) // 2
        if one[alike:middle] == other[alike:middle]:
            alike = middle
        else:
            differing = middle
    return alike


def predicted_cuts(printed: Sequence[int], compact_at: int, keep: int) -> int:
    """How often the chunky rule cuts: when what was printed since the last cut and what it kept pass the threshold."""
    cuts = 0
    standing: list[int] = []
    for size in printed:
        standing.append(size)
        if sum(standing) > compact_at:
            cuts += 1
            standing = standing[-keep:]
    return cuts


def _text(number: int, size: int) -> str:
    lines = (f"{number}:{line} the gauge reads {number * line}".ljust(LINE - 1, ".") for line in range(size // LINE))
    return "".join(f"{line}\n" for line in lines)


def table(runs: Sequence[Run]) -> str:
    lines = [
        "| eviction | calls | printed | request after them | largest request |",
        "|---|--:|--:|--:|--:|",
    ]
    for one in runs:
        lines += [
            f"| {'on' if one.eviction else 'off'} | {size.calls} | {size.printed / 1000:,.0f} KB"
            f" | {size.bytes / 1000:,.0f} KB | {size.largest / 1000:,.0f} KB |"
            for size in one.sizes
        ]
    lines += [
        "",
        "| eviction | requests | prefix breaks | by the chunky rule | identical beginning, median | of all bytes |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {'on' if one.eviction else 'off'} | {one.requests} | {one.breaks} | {one.predicted}"
        f" | {one.identical:.1%} | {one.kept:.1%} |"
        for one in runs
    ]
    return "\n".join(lines)


async def both(calls: int, size: int) -> list[Run]:
    runs = []
    for eviction in (True, False):
        with tempfile.TemporaryDirectory(prefix="otto-context-tier-") as home:
            runs.append(await run(Path(home), calls, size, eviction=eviction))
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--calls", type=int, default=CALLS, help="tool calls in the turn (120)")
    parser.add_argument("--size", type=int, default=FILE_SIZE, help="bytes of each file (20000)")
    given = parser.parse_args()
    runs = asyncio.run(both(given.calls, given.size))
    print(json.dumps([asdict(one) for one in runs], indent=2) if given.json else table(runs))


if __name__ == "__main__":
    main()
