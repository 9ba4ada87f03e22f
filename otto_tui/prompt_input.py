"""Where a prompt comes from outside the screen: the command line, a pipe, lines typed at a terminal."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Sequence
from typing import BinaryIO

from memory.errors import OttoError
from otto_tui.terminal import is_terminal, say_aside

LARGEST_PIPE = 64_000_000
"""Bytes of standard input. More than any model reads, and less than any machine has."""

PATIENCE = 3.0
"""Seconds of silence in a pipe before a person is told what is waited for."""


def one_shot_prompt(words: Sequence[str]) -> tuple[str | None, str | None]:
    """The prompt of ``otto chat`` and a sentence on what was wrong with it.

    What was typed comes first, then what was piped in. (None, None) means that a person sits at a terminal and has
    typed nothing: they want to talk.

    Raises:
        OttoError: there is nothing to send, or too much.
    """
    typed = whole_text(" ".join(word for word in words if word != "-")).strip()
    if is_terminal(sys.stdin):
        return (typed or None), None
    piped, notice = _piped_text()
    parts = [part for part in (typed, piped) if part.strip()]
    if not parts:
        raise OttoError('There is nothing to send: type a prompt, as in otto chat "hello", or pipe one in.')
    return "\n\n".join(parts), notice


def whole_text(text: str) -> str:
    """``text`` without the half characters that a broken argument leaves behind."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if _has_halves(text) else text


class TypedLines:
    """Lines that a person types, read without a thread so that a session's work goes on meanwhile. A context manager.

    A line that ends in a backslash goes on in the next one.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._bytes = b""
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._answer: asyncio.Future[str | None] | None = None

    def __enter__(self) -> TypedLines:
        asyncio.get_running_loop().add_reader(self._descriptor, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)

    async def next(self) -> str | None:
        """The next prompt; None at the end of input."""
        lines: list[str] = []
        while (line := await self._lines.get()) is not None:
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])
        # The end has been taken off the queue, but what came before it is a prompt of its own.
        self._lines.put_nowait(None)
        return "\n".join(lines) if any(line.strip() for line in lines) else None

    async def answer(self) -> str | None:
        """The next line that is typed from now on; None at the end of input. What came before waits for ``next``."""
        self._answer = asyncio.get_running_loop().create_future()
        try:
            return await self._answer
        finally:
            self._answer = None

    def _take(self, line: str | None) -> None:
        if self._answer is None or self._answer.done():
            self._lines.put_nowait(line)
            return
        self._answer.set_result(line)
        if line is None:
            # The end of input is an answer, and the end of the prompts as well.
            self._lines.put_nowait(None)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 65_536)
        except OSError:
            # A terminal that is gone reads as its end.
            data = b""
        self._bytes += data
        *lines, self._bytes = self._bytes.split(b"\n")
        if not data:
            lines = [self._bytes] if self._bytes else []
            asyncio.get_running_loop().remove_reader(self._descriptor)
        for line in lines:
            self._take(line.decode("utf-8", "replace").rstrip("\r"))
        if not data:
            self._take(None)


def _piped_text() -> tuple[str, str | None]:
    source: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if source is None:
        return "", None
    _say_what_is_waited_for(source)
    data = source.read(LARGEST_PIPE + 1)
    if len(data) > LARGEST_PIPE:
        raise OttoError(f"Standard input is larger than {LARGEST_PIPE // 1_000_000} MB; send a part of it.")
    text = data.decode("utf-8", "replace").rstrip("\n")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return text, "Standard input is not all UTF-8 text; what is not was replaced."
    return text, None


def _say_what_is_waited_for(source: BinaryIO) -> None:
    """Tell a person whose shell or script left standard input open why nothing happens."""
    try:
        ready, _, _ = select.select([source], [], [], PATIENCE)
    except (OSError, ValueError):
        # Not a real file, so there is nothing to wait for.
        return
    if not ready:
        say_aside("Note: Waiting for the end of what is piped in; where nothing is, add < /dev/null to the command.")


def _has_halves(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
