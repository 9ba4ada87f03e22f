"""What is loaded before the first screen is painted: only what that screen needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.otto_tui.processes import PATIENCE, clean_environ

LATER = (
    "litellm",
    "openai",
    "httpx",
    "fastembed",
    "onnxruntime",
    "numpy",
    "tiktoken",
    "sqlite_utils",
    "pydantic",
    "markdown_it",
    "pygments",
    "sqlite3",
)

PROBE = """
import json, sys
import click
from otto_tui.app import OttoApp
from otto_tui.prepared import prepare
from otto_tui.start_screen import make_app

def first_paint_done(app):
    print(json.dumps([str(app.screen.query_one("#prompt").placeholder), sorted(sys.modules)]))
    app.exit()

OttoApp._begin = first_paint_done
make_app(prepare(click.Context(click.Command("otto"))), None).run(headless=True, size=(120, 40))
"""


def test_nothing_is_loaded_that_the_first_screen_does_not_need(tmp_path: Path) -> None:
    environ = clean_environ(tmp_path)
    del environ["OTTO_EMBEDDING_MODEL"]
    done = subprocess.run([sys.executable, "-c", PROBE], env=environ, capture_output=True, check=True, timeout=PATIENCE)
    placeholder, loaded = json.loads(done.stdout)
    assert placeholder == "Write to the model"
    assert [name for name in LATER if name in loaded] == []
