"""The prompts that were sent before, newest last, across sessions."""

from __future__ import annotations

import json
import os
from pathlib import Path

from screens.draft import Draft

FILE_NAME = "history.jsonl"
KEPT = 1_000
"""Prompts that are read back from the file."""
LONGEST_KEPT = 32_768
"""Characters; a longer prompt is remembered until Otto closes, and not written to the file."""


class PromptHistory:
    """Walks back and forth through earlier prompts; the one being written waits at the end."""

    def __init__(self) -> None:
        self._sent: list[Draft] = []
        self._unsent = Draft("")
        self._at: int | None = None

    def load(self, earlier: list[str]) -> None:
        """Put prompts from an earlier run before those of this one."""
        self._sent[:0] = [Draft(text) for text in earlier]
        if self._at is not None:
            self._at += len(earlier)

    def add(self, draft: Draft) -> None:
        """Remember a prompt. The same prompt twice in a row is one."""
        if not draft.blank and (not self._sent or self._sent[-1] != draft):
            self._sent.append(draft)
        self._at = None

    def older(self, current: Draft) -> Draft | None:
        """The prompt before the one that shows; None at the oldest."""
        if self._at is None:
            if not self._sent:
                return None
            self._unsent = current
            self._at = len(self._sent)
        if self._at == 0:
            return None
        self._at -= 1
        return self._sent[self._at]

    def newer(self) -> Draft | None:
        """The prompt after the one that shows, at last the unsent one; None when that is shown already."""
        if self._at is None:
            return None
        self._at += 1
        if self._at < len(self._sent):
            return self._sent[self._at]
        self._at = None
        return self._unsent


def read_history(home: Path) -> list[str]:
    """The newest prompts of the file, oldest first; lines that cannot be read are passed over.

    Raises OSError when there is a file and it cannot be read.
    """
    path = home / FILE_NAME
    if not path.exists():
        return []
    prompts = []
    for line in path.read_text("utf-8", errors="replace").splitlines()[-KEPT:]:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("text"), str):
            prompts.append(entry["text"])
    return prompts


def write_history(home: Path, text: str, time: str) -> None:
    """Add one prompt to the file, readable by its owner only. Raises OSError."""
    if len(text) > LONGEST_KEPT:
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = json.dumps({"t": time, "text": text}) + "\n"
    descriptor = os.open(home / FILE_NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(line)
