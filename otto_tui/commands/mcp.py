"""``otto mcp``: which MCP servers are set up, and what they offer."""

from __future__ import annotations

import asyncio

import click

from otto_tui.commands.flags import json_option


@click.command("mcp")
@click.argument("name", required=False)
@json_option
@click.pass_context
def command(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Connect to each MCP server of the settings, or to server NAME, and list its tools.

    Exit 1 when one of them cannot be used.
    """
    from otto_tui.mcp_lines import look_at_servers, server_lines, server_shape
    from otto_tui.prepared import prepare
    from otto_tui.terminal import say, say_json, say_notices

    prepared = prepare(ctx, ask_servers=False)
    say_notices(prepared.notices)
    servers = asyncio.run(look_at_servers(prepared.options, prepared.workspace, name))
    if as_json:
        say_json([server_shape(looked) for looked in servers])
    else:
        for line in server_lines(servers, detailed=name is not None):
            say(line)
    ctx.exit(1 if any(looked.status.state == "failed" for looked in servers) else 0)
