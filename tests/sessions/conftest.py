"""Fixtures for the tests of sessions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vendors import LoopbackVendor

VENDORS = ("openai", "anthropic", "gemini", "ollama")


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> Iterator[LoopbackVendor]:
    """Each vendor in turn, on loopback."""
    with LoopbackVendor(request.param) as running:
        yield running
