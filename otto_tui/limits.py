"""What a budget may be, in tokens: the least that tiers can work with, and more than any model reads."""

from __future__ import annotations

SMALLEST_X_BUDGET = 50
SMALLEST_Y_BUDGET = 100
LARGEST_BUDGET = 100_000_000
