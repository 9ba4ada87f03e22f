"""What ``otto status`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from otto_tui.ledger_shapes import ledger_shape
from otto_tui.prepared import session_of
from otto_tui.shapes import status_shape
from otto_tui.terminal import say, say_json
from screens.ledger_words import status_lines as ledger_lines

if TYPE_CHECKING:
    from memory.values import MemorySnapshot
    from sessions.options import Options


async def show_status(options: Options, session_id: str, *, as_json: bool) -> None:
    """Print how full a session's memory is, and what its ledger holds."""
    async with session_of(options, session_id) as session:
        status = await session.status()
        if as_json:
            say_json(status_shape(session.id, session.title, status.memory) | {"ledger": ledger_shape(status.ledger)})
        else:
            say(f"{session.id}  {session.title}")
            say("\n".join([*_status_lines(status.memory), *ledger_lines(status.ledger)]))


def _status_lines(memory: MemorySnapshot) -> Iterator[str]:
    protected = sum(bullet.protected for bullet in memory.bullets)
    yield f"turns       {memory.turns:,} ({memory.events:,} events, {memory.chunks:,} pieces for search)"
    yield f"generation  {memory.generation}{', a compaction is running' if memory.compacting else ''}"
    yield f"X           {memory.x_tokens:,} of {memory.x_budget:,} tokens, {len(memory.recent)} items word for word"
    yield (
        f"Y           {memory.y_tokens:,} of {memory.y_budget:,} tokens, {len(memory.overflow)} items not yet"
        f" compacted, {len(memory.bullets)} bullets ({protected} in your own words)"
    )
    embedding = memory.embedding
    if embedding.stamp is None:
        yield "vectors     none: recall ranks by keyword and recency"
    else:
        yield f"vectors     {embedding.embedded:,} by {embedding.stamp}, {embedding.waiting:,} waiting"
    if memory.notice:
        yield f"note        {memory.notice}"
