"""How an event stands raw in a tier: whole, as an excerpt where it is larger than X, or a tool's as its one line."""

from __future__ import annotations

from memory.excerpt import both_ends
from memory.render import held_text
from memory.tokens import count_tokens
from memory.tool_events import STUB, is_of_model, stands_whole
from memory.values import Event, Item, Span, Tier

HELD_SHARE = 0.5
"""Of X's budget, what an excerpt of an event larger than X may hold."""


def new_item(event: Event, turn: int, x_budget: int) -> Item:
    """``event`` as it comes into X."""
    if is_of_model(event):
        return item_of(event, "x", turn, None if stands_whole(event, x_budget) else STUB)
    tokens = count_tokens(event.text)
    if tokens <= x_budget:
        return Item(event, "x", turn, tokens)
    return item_of(event, "x", turn, both_ends(event.text, int(x_budget * HELD_SHARE)))


def item_of(event: Event, tier: Tier, turn: int, spans: tuple[Span, ...] | None) -> Item:
    """``event`` as it stands with these ``spans`` of it in the view."""
    return Item(event, tier, turn, count_tokens(held_text(event, spans)), spans)
