"""``otto eval-memory``: does recall find what an answer rests on? Measured on LoCoMo's conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from otto_tui.commands.flags import budget_options, json_option


@click.command("eval-memory")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="LoCoMo's file, or a folder with its conversations; fetched once where it is left out.",
)
@click.option(
    "--conversation", "conversations", metavar="N", multiple=True, help="Only this one, such as 26; may be repeated."
)
@click.option("--held-out", metavar="N", multiple=True, help="Tell this one's figures apart; may be repeated.")
@click.option("--turns", type=click.IntRange(1, 1_000_000), metavar="N", help="Only the first N turns of each.")
@budget_options
@click.option("--offline/--live", default=True, help="Compact with no model, or with the one of your settings.")
@click.option("--arm", "arms", metavar="NAME", multiple=True, help="A way of ranking, or all; may be repeated.")
@click.option(
    "--embedder",
    "embedders",
    metavar="NAME",
    multiple=True,
    help="default, box, none, a folder with weights, or a model as in the settings; may be repeated.",
)
@click.option(
    "--budget",
    "budgets",
    type=click.IntRange(1, 1_000_000),
    metavar="TOKENS",
    multiple=True,
    help="How much recall may return (600, 1500 and 3000); may be repeated.",
)
@click.option("--seed-tables", is_flag=True, help="Also what more or fewer pieces and neighbours bring.")
@click.option("--summarizers", is_flag=True, help="Also what is found behind summarisers that cite badly.")
@click.option("--show-items", type=click.Choice(["failures", "all"]), help="Also the evidence beside what came back.")
@click.option(
    "--keep-store",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep the replayed conversations there; next time they are only scored.",
)
@json_option
@click.pass_context
def command(ctx: click.Context, /, offline: bool, as_json: bool, **given: Any) -> None:
    """Replay LoCoMo's long conversations, ask its questions, and count how much of the evidence recall returns.

    Recall finds what compaction has taken out of the view, and none of these conversations fills Otto's own budgets.
    Give small ones, such as --x-budget 200 --y-budget 400.
    """
    from otto_tui.memory_evaluation import Request, measure
    from otto_tui.prepared import prepare
    from otto_tui.terminal import say, say_json, say_notices

    prepared = prepare(ctx, ask_servers=not offline)
    say_notices(prepared.notices)
    request = Request(
        data=given["data"],
        conversations=given["conversations"],
        held_out=given["held_out"],
        turns=given["turns"],
        live=not offline,
        arms=given["arms"],
        embedders=given["embedders"] or ("default",),
        budgets=given["budgets"],
        seed_tables=given["seed_tables"],
        summarizers=given["summarizers"],
        show_items=given["show_items"],
        keep_store=given["keep_store"],
    )
    printed = measure(prepared.options, request)
    if as_json:
        say_json(printed.as_json())
    else:
        say(printed.as_text())
