"""``otto recall``: find the exact words that have left what the model reads."""

from __future__ import annotations

import asyncio

import click

from otto_tui.commands.flags import json_option
from otto_tui.commands.ids import session_id


@click.command("recall")
@click.argument("session", metavar="ID", shell_complete=session_id)
@click.argument("question", nargs=-1)
@click.option("--id", "hex_id", metavar="HEX", help="The exact words behind an event, a piece, a bullet or a record.")
@json_option
@click.pass_context
def command(ctx: click.Context, session: str, question: tuple[str, ...], hex_id: str | None, as_json: bool) -> None:
    """Ask the memory of session ID a QUESTION, without any model.

    What still stands word for word in the model's view is not repeated.
    """
    from otto_tui.prepared import prepare
    from otto_tui.recall_lines import recall_by_id, recall_by_question
    from otto_tui.terminal import say_notices

    asked = " ".join(question).strip()
    if bool(asked) == (hex_id is not None):
        raise click.UsageError("Give either a question or --id.")
    prepared = prepare(ctx)
    say_notices(prepared.notices)
    if hex_id is not None:
        asyncio.run(recall_by_id(prepared.options, session, hex_id, as_json=as_json))
    else:
        asyncio.run(recall_by_question(prepared.options, session, asked, as_json=as_json))
