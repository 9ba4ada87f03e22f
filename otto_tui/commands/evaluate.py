"""``otto eval-compaction``: does compaction keep what the person laid down?"""

from __future__ import annotations

import click

from otto_tui.commands.flags import budget_options, json_option


@click.command("eval-compaction")
@click.option(
    "--turns",
    type=click.IntRange(1, 100_000),
    multiple=True,
    metavar="N",
    help="Length of a conversation; may be repeated.",
)
@budget_options
@json_option
def command(turns: tuple[int, ...], x_budget: int | None, y_budget: int | None, as_json: bool) -> None:
    """Plant eight constraints in a conversation, compact it under each policy, and count which survive.

    It calls no model: a deterministic summariser stands in, so that the policy is measured.
    """
    from memory.compaction_bench import TURNS, X_BUDGET, Y_BUDGET, evaluate, format_table
    from memory.errors import OttoError
    from otto_tui.terminal import say, say_json

    try:
        rows = evaluate(turns=turns or TURNS, x_budget=x_budget or X_BUDGET, y_budget=y_budget or Y_BUDGET)
    except ValueError as error:
        raise OttoError(str(error)) from error
    if as_json:
        say_json([row.as_json() for row in rows])
    else:
        say(format_table(rows))
