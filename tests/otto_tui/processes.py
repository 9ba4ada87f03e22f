"""Running Otto as a person does, with a home of its own and no keys: as a process, or inside this one (quicker)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from otto_tui.cli import cli

PATIENCE = 120.0
"""Seconds before a process counts as hung."""


def clean_environ(home: Path, **more: str) -> dict[str, str]:
    """The environment of this process without keys, servers and settings, and with a home for Otto."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("OTTO_", "OLLAMA_"))
        and "_API_" not in name.upper()
        # A window has the size that its terminal says.
        and name not in ("COLUMNS", "LINES")
    }
    # Nobody listens on port 1, so that an Ollama on the machine of whoever runs this is not found.
    return kept | {"OTTO_HOME": str(home), "OLLAMA_HOST": "127.0.0.1:1", "OTTO_EMBEDDING_MODEL": "none"} | more


def here(
    *args: str, home: Path, stdin: bytes = b"", environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """``otto ARGS`` inside this process, as if it were one."""
    wanted = clean_environ(home, **(environ or {}))
    changes = {name: None for name in os.environ if name not in wanted} | wanted
    done = CliRunner().invoke(cli, list(args), input=stdin, env=changes, prog_name="otto")
    return subprocess.CompletedProcess(args, done.exit_code, done.stdout_bytes, done.stderr_bytes)


def otto(
    *args: str,
    home: Path,
    stdin: bytes | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """``otto ARGS`` to its end. Without ``stdin`` there is nothing to read."""
    return subprocess.run(
        [sys.executable, "-m", "otto_tui", *args],
        input=stdin if stdin is not None else b"",
        env=clean_environ(home, **(environ or {})),
        capture_output=True,
        timeout=PATIENCE,
        cwd=cwd,
        check=False,
    )
