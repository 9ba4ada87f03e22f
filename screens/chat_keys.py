"""The chat's keys, made from the list of commands."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding

from screens.commands import COMMANDS


def bindings() -> Iterator[Binding]:
    """A binding for each command that has keys. They work wherever the focus is on the chat screen."""
    for command in COMMANDS:
        if command.keys:
            yield Binding(
                command.keys,
                f"command('{command.name}')",
                command.footer or command.title,
                show=bool(command.footer),
                priority=True,
                id=f"chat.{command.name}",
            )
