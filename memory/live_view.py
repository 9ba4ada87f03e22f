"""What a prompt reads of the tiers, cut so that it never exceeds its budget (DESIGN, invariant 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.render import left_out_line
from memory.tokens import count_tokens
from memory.values import Bullet, Item, View


def view_of(bullets: Sequence[Bullet], overflow: Sequence[Item], recent: Sequence[Item], y_budget: int) -> View:
    """Bullets, Y's raw overflow, X. Where Y is over its budget, raw items that wait for a compaction are left out."""
    kept, left_out = _fitting(bullets, overflow, y_budget)
    tokens = total_tokens(bullets) + total_tokens(kept) + total_tokens(recent)
    if left_out:
        tokens += count_tokens(left_out_line(len(left_out)))
    return View(tuple(bullets), tuple(kept), tuple(recent), tuple(left_out), tokens)


def total_tokens(parts: Iterable[Item] | Iterable[Bullet]) -> int:
    return sum(part.tokens for part in parts)


def _fitting(
    bullets: Sequence[Bullet], overflow: Sequence[Item], y_budget: int
) -> tuple[Sequence[Item], Sequence[Item]]:
    """The raw items that fit beside the bullets, and the ones that do not: the oldest, the person's own last."""
    excess = total_tokens(bullets) + total_tokens(overflow) - y_budget
    if excess <= 0:
        return overflow, ()
    excess += count_tokens(left_out_line(len(overflow)))
    left_out: set[int] = set()
    for item in sorted(overflow, key=lambda item: (item.event.protected, item.event.seq)):
        if excess <= 0:
            break
        left_out.add(item.event.seq)
        excess -= item.tokens
    kept = [item for item in overflow if item.event.seq not in left_out]
    return kept, [item for item in overflow if item.event.seq in left_out]
