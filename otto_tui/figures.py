"""Tables of figures as text: a title, words to the left, numbers to the right."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence

NARROWEST = 160
"""Columns that a table may take where no terminal says how wide it is, or a narrow one would break its figures."""


def figures(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """One table. A column in which every cell begins with a digit is one of numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column, name in enumerate(head):
        numbers = all(row[column][:1].isdigit() for row in rows) and "category" not in name
        table.add_column(
            Text(name), justify="right" if numbers else "left", overflow="fold", no_wrap=numbers, min_width=len(name)
        )
    for row in rows:
        table.add_row(*map(Text, row))
    written = io.StringIO()
    width = max(NARROWEST, shutil.get_terminal_size().columns)
    Console(file=written, width=width, color_system=None).print(table, markup=False)
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    return "\n".join([title, *filter(None, lines)])


def percent(share: float) -> str:
    """``97.3%``."""
    return f"{100 * share:.1f}%"
