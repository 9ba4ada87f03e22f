"""``otto sessions``: list, search, and everything that can be done with a whole session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from otto_tui.commands.flags import json_option
from otto_tui.commands.ids import session_id, session_id_or_all


@click.command("sessions")
@click.argument("search", nargs=-1)
@click.option("--export", "export_id", metavar="ID", shell_complete=session_id, help="Write a session to a file.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "markdown"]),
    default="json",
    show_default=True,
    help="Of the export: one that can be imported, or one to read.",
)
@click.option(
    "-o", "--output", metavar="PATH", help="Where the export goes: a file, a folder, or - for standard output."
)
@click.option("--tape", is_flag=True, help="Put the whole record into the JSON export.")
@click.option("--overwrite", is_flag=True, help="Let the export replace a file.")
@click.option(
    "--import",
    "import_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Bring in a session from an export; nothing is overwritten.",
)
@click.option(
    "--reembed",
    "reembed_id",
    metavar="ID|all",
    shell_complete=session_id_or_all,
    help="Make the vectors anew with the embedding model of now.",
)
@click.option(
    "--rename", metavar="ID TITLE", nargs=2, default=None, shell_complete=session_id, help="Give a session a title."
)
@click.option("--delete", "delete_id", metavar="ID", shell_complete=session_id, help="Move a session to the trash.")
@click.option("--undo", is_flag=True, help="Bring back the session that was deleted last.")
@click.option("--fork", "fork_id", metavar="ID", shell_complete=session_id, help="Make a new session from an old one.")
@click.option("--at", "at_seq", type=click.IntRange(1), metavar="SEQ", help="The last event that the fork has.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    search: tuple[str, ...],
    export_id: str | None,
    form: str,
    output: str | None,
    tape: bool,
    overwrite: bool,
    import_path: Path | None,
    reembed_id: str | None,
    rename: tuple[str, str] | None,
    delete_id: str | None,
    undo: bool,
    fork_id: str | None,
    at_seq: int | None,
    as_json: bool,
) -> None:
    """List the sessions, or those whose title or words SEARCH finds; or do one thing with one of them."""
    from otto_tui import session_actions as actions
    from otto_tui.prepared import prepare
    from otto_tui.terminal import say_notices

    asked = {
        "--export": export_id,
        "--import": import_path,
        "--reembed": reembed_id,
        "--rename": rename,
        "--delete": delete_id,
        "--undo": undo or None,
        "--fork": fork_id,
        "SEARCH": search or None,
    }
    _one_thing_at_a_time([name for name, value in asked.items() if value is not None])
    _with_its_own(export_id is not None, "--export", output=output, tape=tape or None, overwrite=overwrite or None)
    if (fork_id is None) != (at_seq is None):
        raise click.UsageError("--fork ID and --at SEQ go together.")
    if tape and form != "json":
        raise click.UsageError("--tape goes with the JSON export only.")
    prepared = prepare(ctx)
    say_notices(prepared.notices)
    run = actions.SessionActions(prepared.options, as_json=as_json)
    if export_id is not None:
        work = run.export(export_id, output, form=form, tape=tape, overwrite=overwrite)
    elif import_path is not None:
        work = run.import_file(import_path)
    elif reembed_id is not None:
        work = run.reembed(reembed_id)
    elif rename is not None:
        work = run.rename(*rename)
    elif delete_id is not None:
        work = run.delete(delete_id)
    elif undo:
        work = run.undo()
    elif fork_id is not None and at_seq is not None:
        work = run.fork(fork_id, at_seq)
    else:
        work = run.list(" ".join(search))
    asyncio.run(work)


def _one_thing_at_a_time(asked: list[str]) -> None:
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} do not go together.")


def _with_its_own(there: bool, name: str, **options: object) -> None:
    """Refuse options of an action that was not asked for."""
    for option, value in options.items():
        if value is not None and not there:
            raise click.UsageError(f"--{option} goes with {name} only.")
