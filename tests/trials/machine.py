"""A machine on which a person uses Otto: a home, a vendor on loopback, terminal windows and commands."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.otto_tui.processes import clean_environ, otto
from tests.trials.terminal import Terminal
from tests.vendors import LoopbackVendor


class Machine:
    """Every window and command has the same home and the same vendor."""

    def __init__(self, home: Path, vendor: LoopbackVendor) -> None:
        self.home = home
        self.vendor = vendor

    def environ(self, **more: str) -> dict[str, str]:
        return clean_environ(self.home, **{**self.vendor.environ, "OTTO_MODEL__CHAT": self.vendor.model, **more})

    def window(self, *args: str, **environ: str) -> Terminal:
        """``otto ARGS`` in a terminal window."""
        return Terminal(args, self.environ(**environ))

    def otto(self, *args: str, stdin: bytes = b"", code: int = 0) -> str:
        """What ``otto ARGS`` prints into a pipe."""
        done = otto(*args, home=self.home, stdin=stdin, environ=self.environ(LC_ALL="C.UTF-8"))
        assert done.returncode == code, done.stdout + done.stderr
        assert b"Traceback" not in done.stdout + done.stderr
        return done.stdout.decode()

    def json(self, *args: str) -> Any:
        return json.loads(self.otto(*args, "--json"))

    def tape(self) -> Path:
        """The one tape there is."""
        (tape,) = (self.home / "memory").glob("*.db")
        return tape

    def drafted(self) -> str:
        """What of a reply that still comes in is on disk."""
        with sqlite3.connect(f"{self.tape().as_uri()}?mode=ro", uri=True) as tape:
            return "".join(text for (text,) in tape.execute("SELECT text FROM drafts"))
