"""How many tokens X and Y may hold, and how much a recall returns (seed 000, "Budget"; DESIGN, "The live view")."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.store import MemoryStore

X_BUDGET = 24_000
Y_BUDGET = 80_000
MIN_X_BUDGET = 50
MIN_Y_BUDGET = 100

MAX_CHUNKS = 100
"""So many hits that the budget is what ends a wide recall; with the seed's 20 a question with several answers loses
some."""

WINDOW = 2
"""Neighbours on either side that come along with a hit."""

TOKEN_BUDGET = 3_000
"""Of all that one recall returns."""


def check_budgets(x_budget: int, y_budget: int) -> None:
    """Raises ValueError where a budget is below ``MIN_X_BUDGET`` or ``MIN_Y_BUDGET``."""
    if x_budget < MIN_X_BUDGET or y_budget < MIN_Y_BUDGET:
        raise ValueError(
            f"budgets are too small: X needs at least {MIN_X_BUDGET} tokens and Y at least {MIN_Y_BUDGET}"
            f" (given {x_budget} and {y_budget})"
        )


def budgets_key(kind: str) -> str:
    """The fact in which a store keeps the budgets of a queue: X and Y, in tokens."""
    return f"budgets:{kind}"


def note_budgets(store: MemoryStore, kind: str, x_budget: int, y_budget: int) -> None:
    """Keep the budgets with the tiers that were cut to them, for ``verify``."""
    budgets = f"{x_budget} {y_budget}"
    if store.get_meta(budgets_key(kind)) != budgets:
        store.set_meta(budgets_key(kind), budgets)


def noted_budgets(store: MemoryStore, kind: str) -> tuple[int, int]:
    """The budgets to which a store's tiers were cut last; the defaults where it does not say."""
    noted = store.get_meta(budgets_key(kind))
    x_budget, y_budget = map(int, noted.split()) if noted else (X_BUDGET, Y_BUDGET)
    return x_budget, y_budget
