"""``otto eval-compaction``: does compaction keep what the person laid down, and what does it take?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from otto_tui.commands.flags import budget_options, json_option

if TYPE_CHECKING:
    from memory.compaction_bench import Policy


@click.command("eval-compaction")
@click.option(
    "--turns",
    type=click.IntRange(1, 100_000),
    multiple=True,
    metavar="N",
    help="Length of a conversation; may be repeated.",
)
@click.option(
    "--policy", "names", metavar="NAME", multiple=True, help="Only this one: ledger, auto, ...; may be repeated."
)
@budget_options
@json_option
def command(
    turns: tuple[int, ...], names: tuple[str, ...], x_budget: int | None, y_budget: int | None, as_json: bool
) -> None:
    """Plant eight constraints in a conversation, compact it under each policy, and count which survive.

    It calls no model: deterministic stand-ins take the places of the summariser and of the ledger's workers, so that
    the policy is measured.
    """
    from memory.compaction_bench import TURNS, X_BUDGET, Y_BUDGET, evaluate, format_rows
    from memory.errors import OttoError
    from otto_tui.terminal import say, say_json

    policies = _named(names)
    try:
        rows = evaluate(
            turns=turns or TURNS,
            x_budget=x_budget or X_BUDGET,
            y_budget=y_budget or Y_BUDGET,
            policies=policies,
        )
    except ValueError as error:
        raise OttoError(str(error)) from error
    if as_json:
        say_json([row.as_json() for row in rows])
    else:
        say(format_rows(rows))


def _named(names: tuple[str, ...]) -> list[Policy]:
    """The policies with these names, in the order in which they are measured; all for no names."""
    from memory.compaction_bench import MODES, POLICIES

    known = {policy.name: policy for policy in (*POLICIES, *MODES)}
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of {', '.join(known)}.", param_hint="--policy")
    return [policy for policy in known.values() if not names or policy.name in names]
