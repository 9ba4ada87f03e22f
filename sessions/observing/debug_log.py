"""What the workers do, one JSON object a line, in a file for each session. Off unless asked for.

It holds sizes, times and decisions; what was said only where that is asked for too; never a key. Whatever goes wrong
with it changes nothing for the memory.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory.errors import OttoError
from sessions.model_errors import without_secrets
from sessions.options import Options
from sessions.private_files import FILE_MODE, make_folder, reason

MOST_BYTES = 10 * 1024 * 1024
"""Of a file; then it becomes the one backup and a new one begins."""

LONGEST_NAME = 128
"""Characters of a session's id in the file's name."""

SHORTEST_SECRET = 6
"""Characters. The value of a variable such as API_KEY that is shorter says nothing."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


def log_file(home: Path, session: str) -> Path:
    """Where the log of a session is."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", session)[:LONGEST_NAME] or "session"
    return home / "logs" / f"{name}.ndjson"


class DebugLog:
    """One session's log. Its methods may be called on any one thread at a time."""

    def __init__(self, options: Options, session: str) -> None:
        self.path = log_file(options.home, session)
        self._with_text = options.ledger.debug_log_text
        self._now = options.now
        self._secrets = _secrets_of(options)
        self._broken = False

    def write(self, what: str, *, text: Mapping[str, str] | None = None, **sizes: Any) -> str | None:
        """Add a line. ``text`` is left out unless the log is to hold what was said.

        Returns a sentence the first time that it cannot be written; nothing more is written then.
        """
        if self._broken:
            return None
        line: dict[str, Any] = {"t": self._now().isoformat(), "what": what, **sizes}
        if self._with_text and text is not None:
            line |= text
        try:
            self._append(json.dumps(self._without_keys(line), ensure_ascii=False) + "\n")
        except (OttoError, OSError) as error:
            self._broken = True
            why = reason(error) if isinstance(error, OSError) else str(error)
            return f"The debug log {self.path} cannot be written ({why}), so nothing more is written to it."
        return None

    def _append(self, line: str) -> None:
        make_folder(self.path.parent)
        data = line.encode("utf-8", "backslashreplace")
        if self.path.exists() and self.path.stat().st_size + len(data) > MOST_BYTES:
            self.path.replace(self.path.with_name(self.path.name + ".1"))
        with os.fdopen(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, FILE_MODE), "ab") as file:
            file.write(data)

    def _without_keys(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._without_keys(inner) for key, inner in value.items()}
        if not isinstance(value, str):
            return value
        for secret in self._secrets:
            value = value.replace(secret, "***")
        return without_secrets(value)


def _secrets_of(options: Options) -> list[str]:
    """The values of all variables that hold a key, longest first."""
    named = {provider.api_key_env for provider in options.providers.values()}
    found = {value for name, value in options.environ.items() if name in named or _SECRET_NAME.search(name)}
    return sorted((value for value in found if len(value) >= SHORTEST_SECRET), key=len, reverse=True)
