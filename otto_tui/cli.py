"""The command ``otto``: which commands there are, each loaded when asked for, and what a failure looks like."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

import click

from memory.errors import OttoError
from otto_tui import __version__
from otto_tui.commands.flags import conversation_options
from otto_tui.commands.ids import session_id
from otto_tui.terminal import drop_standard_output, prepare_streams, say_aside

COMMANDS: Mapping[str, str] = {
    "tui": "screen",
    "chat": "chat",
    "sessions": "sessions",
    "recall": "recall",
    "view": "view",
    "status": "status",
    "verify": "verify",
    "mcp": "mcp",
    "doctor": "doctor",
    "demo": "demo",
    "eval-compaction": "evaluate",
    "eval-memory": "eval_memory",
    "eval-thresholds": "eval_thresholds",
    "completion": "completion",
}
"""Each command and the file in ``otto_tui/commands`` that has it."""

INTERRUPTED = 130


class OttoCommands(click.Group):
    """Loads a command's file when it is asked for, and turns every failure into one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found = import_module(f"otto_tui.commands.{COMMANDS[cmd_name]}").command
        assert isinstance(found, click.Command)
        return found

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        prepare_streams()
        with _in_one_sentence():
            code = super().main(*args, **{**extra, "standalone_mode": False})
            sys.exit(code if isinstance(code, int) else 0)


@click.command(cls=OttoCommands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="otto %(version)s")
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
@click.pass_context
def cli(ctx: click.Context, /, resume: str | None, **flags: Any) -> None:
    """A chat whose memory you can watch. Without a command it opens the screen with a new session.

    `otto COMMAND --help` tells about each command.
    """
    if ctx.invoked_subcommand is None:
        from otto_tui.commands.screen import open_screen

        open_screen(ctx, resume)
    elif resume is not None:
        raise click.UsageError(f"--resume goes without a command, or as: otto tui --resume {resume}")


def main() -> NoReturn:
    """The entry point of the program. Ends the process."""
    cli.main(prog_name="otto")


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    """Exit 2 for wrong usage, 130 for Ctrl-C, 1 with a sentence for all else; quietly when the reader has gone."""
    try:
        yield
    except click.ClickException as error:
        sentence = io.StringIO()
        error.show(file=sentence)
        say_aside(sentence.getvalue().rstrip())
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except OttoError as error:
        say_aside(f"Error: {error}")
        sys.exit(1)
    except BrokenPipeError:
        drop_standard_output()
        sys.exit(1)
    except Exception as error:
        from otto_tui.crash import crash_sentence

        say_aside(f"Error: {crash_sentence(error, os.environ)}")
        sys.exit(1)
