"""Fixtures for the tests of sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sessions.library import Library
from sessions.options import Options
from sessions.session import Session
from tests.sessions.scripted_model import ScriptedModel
from tests.vendors import LoopbackVendor

VENDORS = ("openai", "anthropic", "gemini", "ollama")


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> Iterator[LoopbackVendor]:
    """Each vendor in turn, on loopback."""
    with LoopbackVendor(request.param) as running:
        yield running


@pytest.fixture
def options(tmp_path: Path) -> Options:
    """Small budgets and no embedder."""
    return Options(home=tmp_path / "otto", chat="test/scripted", x_budget=200, y_budget=400, embedding="none")


@pytest.fixture
def model() -> ScriptedModel:
    """The model that answers in ``session``."""
    return ScriptedModel()


@pytest.fixture
def library(options: Options, model: ScriptedModel) -> Library:
    return Library(options, open_model=model.opened)


@pytest.fixture
async def session(library: Library) -> AsyncIterator[Session]:
    """A session in which nothing has been said yet."""
    opened = await library.new("/work/garden")
    yield opened
    await opened.close()
