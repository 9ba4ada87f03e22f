"""Pictures of screens go to the top-level ``snapshots/`` and look the same on every machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_textual_snapshot as plugin
from syrupy.location import PyTestLocation
from textual.widgets import Input, TextArea

SNAPSHOTS = Path(__file__).parents[2] / "snapshots"


class TopLevelSVG(plugin.SVGImageExtension):  # type: ignore[misc]
    """One ``.svg`` a picture, in a folder named after the test file."""

    # The plugin sets the name that syrupy read before version 5; without this one the files end in .raw.
    file_extension = "svg"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / Path(test_location.filepath).stem)


plugin.SVGImageExtension = TopLevelSVG


@pytest.fixture(autouse=True)
def _same_looks_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One time zone, colours on, and cursors that do not blink."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.delenv("NO_COLOR", raising=False)
    for variable in [name for name in os.environ if name.startswith("TEXTUAL_") and name != "TEXTUAL_SNAPSHOT_TEMPDIR"]:
        monkeypatch.delenv(variable)
    monkeypatch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda self: None)
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
    yield
    monkeypatch.undo()
    time.tzset()
