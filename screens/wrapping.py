"""Text cut into lines that fit a width, fast enough for a million characters."""

from __future__ import annotations

from rich.cells import cell_len

TAB = "    "


def wrapped(text: str, width: int) -> list[str]:
    """``text`` as lines of at most ``width`` cells: broken between words, or within one that is longer than a line.

    Give it text that has passed ``displayable``. An empty text is one empty line.
    """
    width = max(width, 2)
    lines: list[str] = []
    for line in text.expandtabs(len(TAB)).split("\n"):
        if len(line) <= width and (line.isascii() or cell_len(line) <= width):
            lines.append(line)
        else:
            _wrap_into(lines, line, width)
    return lines


def shortened(text: str, width: int) -> str:
    """``text``, which is one line, cut to at most ``width`` cells; ``…`` ends one that was cut."""
    if len(text) <= width and (text.isascii() or cell_len(text) <= width):
        return text
    if width < 1:
        return ""
    kept = text[: _fitting(text, 0, width - 1)]
    return (kept.rstrip() if cell_len(kept) < width else "") + "…"


def _wrap_into(lines: list[str], line: str, width: int) -> None:
    start, end = 0, len(line)
    while start < end:
        stop = _fitting(line, start, width)
        if stop < end and line[stop] == " ":
            lines.append(line[start:stop])
            start = stop + 1
            continue
        if stop < end:
            space = line.rfind(" ", start, stop)
            if space > start and not line[start:space].isspace():
                stop = space + 1
        lines.append(line[start:stop].rstrip(" ") if stop < end else line[start:stop])
        start = stop


def _fitting(line: str, start: int, width: int) -> int:
    """How far a line of ``width`` cells reaches; past ``start`` always, so that every loop ends."""
    stop = min(start + width, len(line))
    piece = line[start:stop]
    if piece.isascii():
        return max(stop, start + 1) if start < len(line) else stop
    cells = cell_len(piece)
    while cells > width and stop > start + 1:
        stop -= max((cells - width) // 2, 1)
        cells = cell_len(line[start:stop])
    while cells < width and stop < len(line) and cells + cell_len(line[stop]) <= width:
        cells += cell_len(line[stop])
        stop += 1
    return max(stop, start + 1)
