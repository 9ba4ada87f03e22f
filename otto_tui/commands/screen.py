"""``otto`` and ``otto tui``: the screen."""

from __future__ import annotations

from typing import Any

import click

from otto_tui.commands.flags import conversation_options
from otto_tui.commands.ids import session_id


@click.command("tui")
@click.option(
    "-c",
    "--resume",
    "resume",
    is_flag=False,
    flag_value="last",
    metavar="[ID]",
    shell_complete=session_id,
    help="Go on with a session: its id, the beginning of it, or nothing for the last one.",
)
@conversation_options
@click.option("--theme", metavar="NAME", help="The colours: textual-light, nord, ansi-dark, ...")
@click.pass_context
def command(ctx: click.Context, /, resume: str | None, **flags: Any) -> None:
    """Open the screen, with a new session or an old one."""
    open_screen(ctx, resume)


def open_screen(ctx: click.Context, resume: str | None) -> None:
    """Run the app until the person leaves it."""
    from otto_tui.prepared import prepare
    from otto_tui.start_screen import run

    run(prepare(ctx, ask_servers=False), resume)
