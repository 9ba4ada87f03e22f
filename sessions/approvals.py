"""Asking the person before something runs: what is asked, and what they may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

Decision = Literal["once", "always", "never"]
"""Run it this time, run everything that begins with its prefix from now on, or do not run it."""


@dataclass(frozen=True, slots=True)
class Approval:
    """One question: may this run?"""

    id: str
    """Give it to ``Session.decide``. Unique in a session."""
    tool: str
    """The tool that the model called."""
    command: str
    """What would run, exactly. It is text from outside: show it with ``displayable``."""
    prefix: str
    """What "always" would allow, such as ``git status``."""
    folder: str
    """Where it would run."""


Ask = Callable[[Approval], Awaitable[Decision]]
"""Puts the question before the person and waits for the answer. Cancelling it takes the question back."""
