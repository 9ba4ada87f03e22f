"""Running Otto as a person does: a process of its own, a home of its own, no keys."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PATIENCE = 120.0
"""Seconds before a process counts as hung."""


def clean_environ(home: Path, **more: str) -> dict[str, str]:
    """The environment of this process without keys, servers and settings, and with a home for Otto."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("OTTO_", "OLLAMA_")) and "_API_" not in name.upper()
    }
    # Nobody listens on port 1, so that an Ollama on the machine of whoever runs this is not found.
    return kept | {"OTTO_HOME": str(home), "OLLAMA_HOST": "127.0.0.1:1", "OTTO_EMBEDDING_MODEL": "none"} | more


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
