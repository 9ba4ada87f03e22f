"""What is known already, as a worker's prompt tells it: within a budget, however large the memory has become."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory.ledger_fold import LedgerState
from memory.observations import RELEVANCES, Observation, observation_line, reflection_line
from memory.tokens import count_tokens

CONCLUSIONS = "## Conclusions so far"
OBSERVATIONS = "## Observations so far"
NOTHING = "Nothing is remembered yet."

CONCLUSIONS_SHARE = 0.5
"""Of the budget, what conclusions may take where observations need the rest."""

_OVERHEAD = 40
"""Tokens of the two headings and the lines that say what is left out."""

_Priced = tuple[str, int]
"""A line and what it costs, counted anew: a record that came from elsewhere may claim any cost."""


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """Lines for a prompt."""

    text: str
    observations: tuple[str, ...]
    """Ids of the observations among them, in the order of the ledger."""
    tokens: int


def known_memory(
    state: LedgerState, max_tokens: int, line_of: Callable[[Observation], str] = observation_line
) -> KnownMemory:
    """All conclusions and live observations, or of a larger memory the newest conclusions and what matters most."""
    room = max_tokens - _OVERHEAD
    conclusions = _priced(reflection_line(made) for made in state.reflections.values())
    observations = list(state.observations.values())
    lines = _priced(line_of(made) for made in observations)
    for_observations = sum(cost for _, cost in lines)
    shown = _newest(conclusions, max(int(room * CONCLUSIONS_SHARE), room - for_observations))
    room -= sum(cost for _, cost in shown)
    chosen = _weightiest(observations, lines, room)
    parts = []
    if shown:
        parts.append(_section(CONCLUSIONS, [line for line, _ in shown], len(conclusions) - len(shown)))
    if chosen:
        parts.append(_section(OBSERVATIONS, [lines[place][0] for place in chosen], len(observations) - len(chosen)))
    text = "\n\n".join(parts) or NOTHING
    return KnownMemory(text, tuple(observations[place].id for place in chosen), count_tokens(text))


def _priced(lines: Iterable[str]) -> list[_Priced]:
    return [(line, count_tokens(line) + 1) for line in lines]


def _newest(lines: Sequence[_Priced], room: int) -> list[_Priced]:
    kept: list[_Priced] = []
    for line, cost in reversed(lines):
        if cost > room:
            break
        kept.append((line, cost))
        room -= cost
    return kept[::-1]


def _weightiest(observations: Sequence[Observation], lines: Sequence[_Priced], room: int) -> list[int]:
    """The places of as many as fit, the most relevant first and of those the newest; in the order of the ledger."""
    best_first = sorted(
        range(len(observations)),
        key=lambda place: (RELEVANCES.index(observations[place].relevance), place),
        reverse=True,
    )
    kept: list[int] = []
    for place in best_first:
        if lines[place][1] <= room:
            kept.append(place)
            room -= lines[place][1]
    return sorted(kept)


def _section(heading: str, lines: Sequence[str], left_out: int) -> str:
    more = [f"({left_out} more are not shown here.)"] if left_out else []
    return "\n".join([heading, *lines, *more])
