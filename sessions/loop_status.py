"""How the agent loop of a turn stands, for the inspector, ``otto chat`` and tests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoopCall:
    """One call of the loop, as a list shows it."""

    call: str
    """The call's id."""
    name: str
    summary: str = ""
    """One line: what came of it. Empty while it runs."""
    size: int = 0
    """Characters of its output."""
    ended: bool = True
    ok: bool = True
    evicted: bool = False
    """The running transcript has only its one line; the tape has the whole."""
    event: str = ""
    """The id of the result's event, once it is on the tape."""


@dataclass(frozen=True, slots=True)
class LoopStatus:
    """One turn's loop, running or ended. All sizes are in characters."""

    running: bool = False
    calls: int = 0
    max_calls: int = 0
    """The ceiling; beyond it the model must answer without tools."""
    requests: int = 0
    """Requests to the chat model."""
    printed: int = 0
    """What all tools printed in this turn."""
    standing: int = 0
    """Of that, what stands word for word in the transcript now."""
    evicted: int = 0
    """Results that were rewritten to their one line."""
    cuts: int = 0
    """How often the oldest results were rewritten."""
    chars_before: int = 0
    """The running transcript as it would be had nothing been rewritten."""
    chars_after: int = 0
    """The running transcript as the next request carries it."""
    prefix_breaks: int = 0
    """Requests whose beginning was not the whole of the request before: what a vendor's prefix cache lost."""
    compact_at: int = 0
    """Characters of tool output at which the next cut comes."""
    made: tuple[LoopCall, ...] = ()
    """Every call of the turn, in the order in which they were made."""
