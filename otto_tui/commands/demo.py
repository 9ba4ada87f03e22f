"""``otto demo``: see the memory at work in the first minute."""

from __future__ import annotations

import click

from otto_tui.commands.flags import budget_options, json_option


@click.command("demo")
@click.option(
    "--speed", type=click.FloatRange(0.01, 10_000), metavar="N", help="Turns a second on the screen (default 3)."
)
@click.option("--headless", is_flag=True, help="Print what happens, as fast as it goes, and check it.")
@budget_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    speed: float | None,
    headless: bool,
    x_budget: int | None,
    y_budget: int | None,
    as_json: bool,
) -> None:
    """Play a long conversation through small budgets: no key, no network, nothing kept.

    On the screen, or with --headless as text that ends with the checks of otto verify (exit 1 where one fails).
    """
    if headless or as_json:
        from otto_tui.demo import run_demo_headless
        from otto_tui.terminal import say, say_json

        report = run_demo_headless(x_budget=x_budget, y_budget=y_budget, say=_silent if as_json else say)
        if as_json:
            say_json(report.as_json())
        ctx.exit(0 if report.ok else 1)

    import os

    from otto_tui.start_screen import require_terminal

    require_terminal(os.environ)

    from otto_tui.demo_app import SPEED, run_demo

    run_demo(speed=speed or SPEED, x_budget=x_budget, y_budget=y_budget)


def _silent(line: str) -> None:
    """For a program that reads JSON, there is no story."""
