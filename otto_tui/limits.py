"""Bounds that flags and settings share."""

from __future__ import annotations

LARGEST_BUDGET = 100_000_000
"""Tokens. More than any model reads."""
