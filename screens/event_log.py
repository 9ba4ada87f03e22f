"""What happened to the memory, newest first: demotions and compactions, each with its numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime

from memory.values import Compaction, Demotion
from screens.passage import Block
from screens.wording import counted, grouped, lasted, moment_of
from sessions.display import displayable
from sessions.events import Compacting

KEPT = 500
"""Entries that the log holds; the oldest go first, and the tape keeps every compaction."""


class EventLog:
    """The entries, ready to be read. Compactions that were made before it was opened have no clock time."""

    def __init__(self) -> None:
        self._entries: deque[tuple[Block, ...]] = deque(maxlen=KEPT)
        self._running: tuple[Block, ...] = ()
        self._generations: set[int] = set()

    def load(self, history: Iterable[Compaction]) -> None:
        """Put the session's earlier compactions below what has been logged since."""
        unknown = [past for past in history if past.generation not in self._generations]
        newer = list(self._entries)
        self._entries = deque(maxlen=KEPT)
        for past in unknown:
            self._generations.add(past.generation)
            self._entries.append(compaction_blocks(past))
        self._entries.extend(newer)

    def demoted(self, demotion: Demotion, at: datetime) -> None:
        self._entries.append(demotion_blocks(demotion, at))

    def compacting(self, begun: Compacting) -> None:
        text = f"Compacting now: {counted(begun.items, 'item')}, by {_name(begun.made_by)}"
        self._running = (Block(text, "y", heading=True), Block(""))

    def compacted(self, compaction: Compaction, at: datetime) -> None:
        self._running = ()
        if compaction.generation not in self._generations:
            self._generations.add(compaction.generation)
            self._entries.append(compaction_blocks(compaction, at))

    def blocks(self, *, compacting: bool) -> Sequence[Block]:
        """The whole log. ``compacting`` is what the memory says now: a compaction that gives up leaves no event."""
        running = self._running if compacting else ()
        return [*running, *(block for entry in reversed(self._entries) for block in entry)]


def demotion_blocks(demotion: Demotion, at: datetime) -> tuple[Block, ...]:
    moved = f"{counted(len(demotion.seqs), 'event')}, {grouped(demotion.tokens)} tokens"
    return (
        Block(f"{moment_of(at.isoformat(), at)}  X to Y", "x", heading=True),
        Block(f"{moved}, {_range(demotion.seqs)}", indent=2),
        Block(""),
    )


def compaction_blocks(done: Compaction, at: datetime | None = None) -> tuple[Block, ...]:
    when = f"{moment_of(at.isoformat(), at)}  " if at else ""
    blocks = [
        Block(f"{when}Compaction, generation {done.generation}", "y", heading=True),
        Block(f"{_from_to(done)}, {grouped(done.uncited)} uncited", indent=2),
        Block(f"Y {grouped(done.tokens_before)} to {grouped(done.tokens_after)} tokens{_saved(done)}", indent=2),
        Block(f"{lasted(done.seconds)} by {_name(done.made_by)}{_calls(done)}", "muted", indent=2),
    ]
    if done.failure:
        blocks.append(Block(displayable(done.failure), "warning", indent=2, label="! "))
    return (*blocks, Block(""))


def _from_to(done: Compaction) -> str:
    return f"{counted(done.items_in, 'item')} to {counted(done.bullets_out, 'bullet')}"


def _calls(done: Compaction) -> str:
    """Said where it is not the usual one call."""
    return "" if done.model_calls == 1 else f", {counted(done.model_calls, 'call')}"


def _saved(done: Compaction) -> str:
    if not done.tokens_before:
        return ""
    change = (done.tokens_after - done.tokens_before) / done.tokens_before
    return f" ({change:+.0%})".replace("-", "−")


def _range(seqs: tuple[int, ...]) -> str:
    if not seqs:
        return "none"
    return f"no. {seqs[0]}" if len(seqs) == 1 else f"no. {seqs[0]} to {seqs[-1]}"


def _name(model: str) -> str:
    return displayable(model, keep_newlines=False)
