"""What is loaded when: a person who asks for the version waits for no library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.otto_tui.processes import clean_environ

HEAVY = ("textual", "rich", "litellm", "openai", "sqlite_utils", "pydantic", "pydantic_settings", "fastembed", "numpy")

PROBE = """
import json, sys
from otto_tui.cli import main
sys.argv = ["otto", *json.loads(sys.argv[1])]
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def modules_after(home: Path, *args: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(args)],
        env=clean_environ(home),
        capture_output=True,
        check=False,
        timeout=60,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "args",
    [
        ("--version",),
        ("--help",),
        ("chat", "--help"),
        ("sessions", "--help"),
        ("completion", "bash"),
        ("nonsense",),
        ("eval-compaction", "--help"),
    ],
)
def test_nothing_heavy_is_loaded(tmp_path: Path, args: tuple[str, ...]) -> None:
    loaded = modules_after(tmp_path, *args)
    assert "click" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("args", [("--version",), ("chat", "--help")])
def test_no_command_loads_another_commands_file(tmp_path: Path, args: tuple[str, ...]) -> None:
    loaded = {name for name in modules_after(tmp_path, *args) if name.startswith("otto_tui.commands.")}
    assert "otto_tui.commands.sessions" not in loaded
    assert ("otto_tui.commands.chat" in loaded) is (args[0] == "chat")


def test_without_settings_nothing_is_loaded_to_check_them(tmp_path: Path) -> None:
    probe = (
        "import os, sys\nfrom pathlib import Path\nfrom otto_tui.config import load\n"
        "load(Path.cwd(), os.environ, {'memory.x_budget': 5})\nprint('pydantic' in sys.modules)"
    )
    for setting, loads in ({}, "False"), ({"OTTO_MEMORY__X_BUDGET": "50"}, "True"):
        environ = clean_environ(tmp_path, **setting)
        del environ["OTTO_EMBEDDING_MODEL"]
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n{probe}"],
            env=environ,
            capture_output=True,
            check=True,
            timeout=60,
            cwd=tmp_path,
        )
        assert done.stdout.decode().strip() == loads
