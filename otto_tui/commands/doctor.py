"""``otto doctor``: is everything there?"""

from __future__ import annotations

import asyncio

import click

from otto_tui.commands.flags import json_option

MARKS = {"ok": "ok    ", "note": "note  ", "broken": "BROKEN"}


@click.command("doctor")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Look at versions, keys (by name only), servers, the embedder, paths and the terminal.

    Exit 1 when something is broken.
    """
    from otto_tui.doctor import examine, findings_shape, is_well
    from otto_tui.prepared import prepare
    from otto_tui.terminal import say, say_json

    findings = asyncio.run(examine(prepare(ctx)))
    if as_json:
        say_json(findings_shape(findings))
    else:
        width = max(len(f"{finding.about} {finding.name}") for finding in findings)
        for finding in findings:
            label = f"{finding.about} {finding.name}".ljust(width)
            say(f"{MARKS[finding.state]}  {label}  {finding.text}")
    ctx.exit(0 if is_well(findings) else 1)
