"""``otto completion``: the lines that teach a shell to complete Otto's commands."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands, options and session ids.

    \b
    bash: put in ~/.bashrc   eval "$(otto completion bash)"
    zsh:  put in ~/.zshrc    eval "$(otto completion zsh)"
    fish: run once           otto completion fish > ~/.config/fish/completions/otto.fish
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(ctx.find_root().command, {}, "otto", "_OTTO_COMPLETE").source())
