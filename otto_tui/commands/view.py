"""``otto view``: what the model reads."""

from __future__ import annotations

import asyncio

import click

from otto_tui.commands.flags import json_option
from otto_tui.commands.ids import session_id


@click.command("view")
@click.argument("session", metavar="ID", shell_complete=session_id)
@click.option("--full", "shown", flag_value="full", help="What the ledger holds now, shown to the model or not.")
@click.option("--diff", "shown", flag_value="diff", help="That, with + before what the view lacks and - the reverse.")
@json_option
@click.pass_context
def command(ctx: click.Context, session: str, shown: str | None, as_json: bool) -> None:
    """Print exactly what the next request of session ID would carry, message by message.

    With --full or --diff, print the records of its ledger instead.
    """
    from otto_tui.prepared import prepare
    from otto_tui.terminal import say_notices
    from otto_tui.view_lines import show_records, show_view

    prepared = prepare(ctx)
    say_notices(prepared.notices)
    if shown is None:
        asyncio.run(show_view(prepared.options, session, as_json=as_json))
    else:
        asyncio.run(show_records(prepared.options, session, diff=shown == "diff", as_json=as_json))
