"""What a command printed: its two ends within a limit, as text that commands no terminal."""

from __future__ import annotations

import re

from memory.text import storable
from sessions.workspace.sizes import counted, size_text


class CappedOutput:
    """Keeps the beginning and the end of what comes, and counts the rest, in memory of some ``cap`` bytes."""

    def __init__(self, cap: int) -> None:
        """``cap`` is in bytes, half for each end."""
        self._most_head = (cap + 1) // 2
        self._most_tail = cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0
        """Bytes that came."""

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._most_head - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        # Cutting at twice the limit moves each byte once at most.
        if len(self._tail) > 2 * self._most_tail:
            del self._tail[: len(self._tail) - self._most_tail]

    @property
    def left_out(self) -> int:
        """Bytes between the two ends."""
        return self.size - len(self._head) - min(len(self._tail), self._most_tail)

    def text(self) -> str:
        """The output as text; in the middle of a cut one, a line that says how much is left out."""
        tail = bytes(self._tail[max(0, len(self._tail) - self._most_tail) :])
        if not self.left_out:
            return readable(bytes(self._head) + tail)
        if _binary(bytes(self._head)):
            return _binary_line(self.size)
        gap = f"[{counted(self.left_out, 'byte')} left out here: the output is {size_text(self.size)} long]"
        return f"{readable(bytes(self._head)).rstrip()}\n{gap}\n{readable(tail).lstrip()}"


def readable(data: bytes) -> str:
    """Output as text: what a terminal would obey is gone, and of lines written over each other the last remains.

    Binary output becomes one line that says so.
    """
    if _binary(data):
        return _binary_line(len(data))
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    text = _SEQUENCES.sub("", text)
    text = _OVERSTRUCK.sub("", text)
    if "\r" in text:
        text = "\n".join(_last_written(line) for line in text.split("\n"))
    return storable(_OTHER_CONTROLS.sub(_picture, text))


# Escape sequences, in the order in which one may hold the beginning of another: strings that end in BEL or ST (titles,
# links, clipboard), sequences of CSI, and the short ones. One that never ends goes as far as its line.
_SEQUENCES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)

# How old programs print bold and underlined.
_OVERSTRUCK = re.compile(r"[^\n]\x08")

_OTHER_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_BINARY_SHARE = 0.1


def _last_written(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def _picture(control: re.Match[str]) -> str:
    code = ord(control.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "�"


def _binary(data: bytes) -> bool:
    """Whether it is no text: NULs, or much that is neither UTF-8 nor a line of a terminal."""
    sample = data[:8_000]
    if not sample:
        return False
    if sample.count(0) > 2:
        return True
    odd = sample.decode("utf-8", "replace").count("�")
    return odd > 20 and odd / len(sample) > _BINARY_SHARE


def _binary_line(size: int) -> str:
    return f"[binary output, {size_text(size)}, not shown]"
