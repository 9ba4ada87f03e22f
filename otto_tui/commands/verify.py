"""``otto verify``: does everything hold that must always hold?"""

from __future__ import annotations

import asyncio

import click

from otto_tui.commands.flags import json_option
from otto_tui.commands.ids import session_id_or_all


@click.command("verify")
@click.argument("session", metavar="ID|all", shell_complete=session_id_or_all)
@json_option
@click.pass_context
def command(ctx: click.Context, session: str, as_json: bool) -> None:
    """Check every promise of the memory on the real file of a session, or of all.

    Exit 1, with the exact rows, where one is broken.
    """
    from otto_tui.prepared import prepare
    from otto_tui.terminal import say_notices
    from otto_tui.verify_lines import verify_all, verify_one

    prepared = prepare(ctx)
    say_notices(prepared.notices)
    if session == "all":
        sound = asyncio.run(verify_all(prepared.options, as_json=as_json))
    else:
        sound = asyncio.run(verify_one(prepared.options, session, as_json=as_json))
    ctx.exit(0 if sound else 1)
