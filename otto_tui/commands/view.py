"""``otto view``: what the model reads."""

from __future__ import annotations

import asyncio

import click

from otto_tui.commands.flags import json_option
from otto_tui.commands.ids import session_id


@click.command("view")
@click.argument("session", metavar="ID", shell_complete=session_id)
@json_option
@click.pass_context
def command(ctx: click.Context, session: str, as_json: bool) -> None:
    """Print exactly what the next request of session ID would carry, message by message."""
    from otto_tui.prepared import prepare
    from otto_tui.terminal import say_notices
    from otto_tui.view_lines import show_view

    prepared = prepare(ctx)
    say_notices(prepared.notices)
    asyncio.run(show_view(prepared.options, session, as_json=as_json))
