"""``otto status``: how full the memory is."""

from __future__ import annotations

import asyncio

import click

from otto_tui.commands.flags import json_option
from otto_tui.commands.ids import session_id


@click.command("status")
@click.argument("session", metavar="ID", shell_complete=session_id)
@json_option
@click.pass_context
def command(ctx: click.Context, session: str, as_json: bool) -> None:
    """Print the tiers of session ID, the vectors it holds, its ledger, and how far the ledger's workers are."""
    from otto_tui.prepared import prepare
    from otto_tui.status_lines import show_status
    from otto_tui.terminal import say_notices

    prepared = prepare(ctx)
    say_notices(prepared.notices)
    asyncio.run(show_status(prepared.options, session, as_json=as_json))
