"""A bar on standard error while a command that takes long is at work; nothing where no terminal would show it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from otto_tui.terminal import is_terminal

Progress = Callable[[str, int, int], None]
"""Told what is being done, and how much of how much is; 0 where nobody knows of how much."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar that shows one thing at a time, and is gone afterwards."""
    if not is_terminal(sys.stderr):
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        shown = ""

        def tell(label: str, done: int, total: int) -> None:
            nonlocal shown
            if label != shown:
                bar.reset(task, description=escape(label), total=total or None)
                shown = label
            bar.update(task, completed=done, total=total or None)

        yield tell
