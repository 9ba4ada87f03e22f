"""The tables of README.md, made from the commands and settings themselves.

``python -m tests.otto_tui.readme_tables`` prints them, to be put there when a test says that they are out of date.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

import click

from otto_tui import settings
from otto_tui.cli import COMMANDS, cli

BY_NAME: dict[str, tuple[type, str]] = {
    "providers": (settings.ProviderSettings, "providers.NAME"),
    "mcp": (settings.McpServerSettings, "mcp.servers.NAME"),
}
"""Sections that hold others under names of the person's own."""


def option_tables() -> dict[str, str]:
    """A table of the options of ``otto`` and of each command that has some, by name."""
    context = click.Context(cli, info_name="otto")
    tables = {"otto": _option_table(cli, context)}
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        table = _option_table(command, click.Context(command, info_name=name, parent=context))
        if table:
            tables[name] = table
    return tables


def settings_table() -> str:
    """Every setting: its key, its variable, its default, and what it does."""
    lines = ["| setting | in the environment | default | |", "|---|---|---|---|"]
    for section in fields(settings.Settings):
        one, prefix = BY_NAME.get(section.name, (None, section.name))
        one = one or type(getattr(settings.Settings(), section.name))
        for setting, says in zip(fields(one), _attribute_docs(one), strict=True):
            path = f"{prefix}.{setting.name}"
            variable = "OTTO_" + path.replace(".", "__").upper()
            lines.append(f"| `{path}` | `{variable}` | {_default(setting.default)} | {says} |")
    return "\n".join(lines)


def _option_table(command: click.Command, context: click.Context) -> str:
    rows = [_row(option, context) for option in command.params if isinstance(option, click.Option)]
    return "\n".join(["| option | |", "|---|---|", *rows]) if rows else ""


def _row(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None
    names, says = (text.replace("|", "\\|") for text in record)
    return f"| `{names}` | {says.split('  [')[0]} |"


def _default(value: Any) -> str:
    if value is None or value is MISSING or value in ("", ()):
        return "unset"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def _attribute_docs(cls: type) -> Iterator[str]:
    """The string below each field, on one line."""
    (body,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(body, ast.ClassDef)
    for statement, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign):
            assert isinstance(after, ast.Expr), f"{ast.unparse(statement)} has no docstring"
            assert isinstance(after.value, ast.Constant)
            yield " ".join(str(after.value.value).split())


if __name__ == "__main__":
    for name, table in option_tables().items():
        print(f"\n#### {name}\n\n{table}")
    print(f"\n{settings_table()}")
