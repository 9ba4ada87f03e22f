"""``otto chat``: talk in plain lines, for pipes, dumb terminals and screen readers."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from otto_tui.commands.flags import conversation_options, json_option
from otto_tui.commands.ids import session_id


@click.command("chat")
@click.argument("prompt", nargs=-1)
@click.option("--session", "session", metavar="ID", shell_complete=session_id, help="Go on with this session, or last.")
@conversation_options
@click.option("--system", "system_prompt", metavar="TEXT", help="What the model is told first.")
@click.option("--raw", is_flag=True, help="In a pipe, pass the model's control characters on as they are.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, prompt: tuple[str, ...], session: str | None, raw: bool, as_json: bool, **flags: Any
) -> None:
    """Send PROMPT, print the reply as it comes, and end. What is piped in goes with it.

    \b
        git diff | otto chat "review this"

    At a terminal and without a PROMPT it is a conversation: a line is sent with Enter, a line that ends in a
    backslash goes on in the next, an empty line tries a failed turn again, Ctrl-D ends. Ctrl-C stops a reply and ends;
    what had come is kept. A line such as !git diff runs that command, and the model reads what it printed. A file named
    as @notes.txt goes along with the words.
    """
    from otto_tui.chat_loop import Chat
    from otto_tui.chat_output import ChatOutput, JsonOutput, PlainOutput
    from otto_tui.prepared import prepare
    from otto_tui.prompt_input import one_shot_prompt, whole_text
    from otto_tui.terminal import say_notices

    text, wrong = one_shot_prompt(prompt)
    prepared = prepare(ctx)
    say_notices([*prepared.notices, *([wrong] if wrong else [])])
    output: ChatOutput = JsonOutput() if as_json else PlainOutput(raw=raw, talkative=text is None)
    chat = Chat(prepared, output, session_id=session, labels=not as_json)
    code = asyncio.run(chat.talk() if text is None else chat.ask(text, whole_text(" ".join(prompt))))
    ctx.exit(code)
