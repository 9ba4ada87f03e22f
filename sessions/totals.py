"""What a session has used so far: tokens, and dollars where every price is known."""

from __future__ import annotations

from dataclasses import dataclass

from memory.store import MemoryStore
from sessions.events import TurnDone


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all replies of a session."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None as soon as one reply has no known price."""

    def plus(self, done: TurnDone) -> Totals:
        """With one more reply."""
        known = self.cost is not None and done.cost is not None
        return Totals(
            self.prompt_tokens + (done.prompt_tokens or 0),
            self.completion_tokens + (done.completion_tokens or 0),
            (self.cost or 0.0) + (done.cost or 0.0) if known else None,
        )


def totals_of(store: MemoryStore) -> Totals:
    """The totals that the tape's replies come to."""
    usage = store.usage()
    return Totals(usage.prompt_tokens, usage.completion_tokens, usage.cost)
