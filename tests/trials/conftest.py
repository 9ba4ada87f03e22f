"""What every trial begins with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trials.machine import Machine
from tests.vendors import LoopbackVendor


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with LoopbackVendor("openai") as vendor:
        yield Machine(tmp_path / "home", vendor)
