"""Session ids on the command line, completed by the shell."""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem

TITLE_LENGTH = 50


def session_id(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The sessions whose id begins with what was typed, last used first, with their titles."""
    from memory.errors import OttoError
    from otto_tui.paths import home_folder
    from sessions.display import one_line
    from sessions.index import SessionIndex

    try:
        rows = SessionIndex(home_folder(os.environ)).rows()
    except OttoError:
        # A shell that completes has nowhere to show a sentence.
        return []
    return [
        CompletionItem(row.id, help=one_line(row.title, TITLE_LENGTH)) for row in rows if row.id.startswith(incomplete)
    ]


def session_id_or_all(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """As ``session_id``, and ``all``."""
    every = [CompletionItem("all", help="every session")] if "all".startswith(incomplete) else []
    return every + session_id(ctx, param, incomplete)
