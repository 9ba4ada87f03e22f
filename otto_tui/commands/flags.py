"""Options that several commands share, and the settings that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from memory.budgets import MIN_X_BUDGET, MIN_Y_BUDGET
from otto_tui.limits import LARGEST_BUDGET

SETTING_OF_FLAG = {
    "x_budget": "memory.x_budget",
    "y_budget": "memory.y_budget",
    "model": "model.chat",
    "api_base": "model.api_base",
    "system_prompt": "model.system_prompt",
    "theme": "ui.theme",
    "allow_commands": "tools.run_command",
}

_Command = TypeVar("_Command", bound=Callable[..., Any])


def budget_options(command: _Command) -> _Command:
    """``--x-budget`` and ``--y-budget``."""
    command = click.option(
        "--y-budget",
        type=click.IntRange(MIN_Y_BUDGET, LARGEST_BUDGET),
        metavar="TOKENS",
        help="What is held of older turns; at least 100.",
    )(command)
    return click.option(
        "--x-budget",
        type=click.IntRange(MIN_X_BUDGET, LARGEST_BUDGET),
        metavar="TOKENS",
        help="What is held word for word of the newest turns; at least 50.",
    )(command)


def model_options(command: _Command) -> _Command:
    """``--model`` and ``--api-base``."""
    command = click.option("--api-base", metavar="URL", help="Talk with the OpenAI-compatible server at this address.")(
        command
    )
    return click.option("-m", "--model", metavar="MODEL", help="Who answers: openai/NAME, ollama/NAME, offline, ...")(
        command
    )


def conversation_options(command: _Command) -> _Command:
    """Everything about a conversation that goes for the screen and the plain chat alike."""
    command = click.option(
        "--allow-commands",
        is_flag=True,
        default=None,
        help="Let the model run shell commands. You are asked before each one.",
    )(command)
    return model_options(budget_options(command))


def json_option(command: _Command) -> _Command:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def given_flags(ctx: click.Context) -> dict[str, Any]:
    """The settings that were typed, by dotted name; those of the command win over those before it."""
    chain = [ctx]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return {
        setting: link.params[flag]
        for link in reversed(chain)
        for flag, setting in SETTING_OF_FLAG.items()
        if link.params.get(flag) is not None
    }
