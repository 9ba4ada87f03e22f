"""Everything a person can ask Otto to do from the chat: one list for keys, slash commands, palette, footer and help."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """Something that the chat screen does."""

    name: str
    """What stands after the slash."""
    title: str
    """For the command palette."""
    help: str
    """One sentence."""
    keys: str = ""
    """Names of keys as Textual has them, with commas between; the first is the one that is shown."""
    footer: str = ""
    """A word for the footer; empty: not there."""
    argument: str = ""
    """What may follow the name, as usage text."""


COMMANDS = (
    Command("help", "Help", "Every key and command, and how the memory works.", "f1,ctrl+g", "Help"),
    Command("memory", "Memory panel", "Show or hide what the model reads: X, Y, bullets.", "f2,ctrl+t", "Memory"),
    Command(
        "recall", "Recall", "Find exact words that have left the model's view.", "f3,ctrl+f", "Recall", "[QUESTION]"
    ),
    Command("resume", "Sessions", "List, search and open earlier sessions.", "f4,ctrl+o", "Sessions", "[ID]"),
    Command("new", "New session", "Begin a new session; this one is kept.", "ctrl+n", "New"),
    Command("retry", "Retry", "Ask again for a reply that failed or was stopped.", "f5,ctrl+r"),
    Command("model", "Change the model", "Choose who answers from now on.", "f8,ctrl+l", "Model", "[NAME]"),
    Command("tools", "Tools", "List the model's tools and MCP servers, and switch them on or off.", "f12"),
    Command("compact", "Compact now", "Turn older turns into bullets without waiting for Y to fill.", "f7"),
    Command("copy", "Copy the last reply", "Send the last reply to the clipboard.", "f6"),
    Command("export", "Export", "Write this session to a file: .json, or .md to read.", "f9,ctrl+s", "", "[PATH]"),
    Command("theme", "Light or dark", "Switch between the dark and the light theme.", "f10"),
    Command("fork", "Fork", "Go on from here in a copy of this session.", "", "", "[SEQ]"),
    Command("rename", "Rename", "Give this session another title.", "", "", "TITLE"),
    Command("status", "Status", "Turns, tokens, generation, cost and ledger of this session."),
    Command(
        "view", "What the model reads", "Show what the next request carries, or the ledger.", "", "", "[full|diff]"
    ),
    Command("quit", "Quit", "Close Otto. Everything is on disk already.", "ctrl+q"),
)

_SLASH = re.compile(r"/([a-z]*)(?:\s+(.*))?", re.DOTALL)


class UnknownCommand(Exception):
    """The text begins like a command, and there is no such command. ``str()`` is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that was typed, and what was typed after it."""

    command: Command
    argument: str


def named(name: str) -> Command | None:
    return next((command for command in COMMANDS if command.name == name), None)


def asked_for(text: str) -> Asked | None:
    """The command that a prompt asks for; None when the prompt is for the model. Raises UnknownCommand.

    Only a lone word after the slash is a command, so a path such as ``/etc/hosts`` goes to the model.
    """
    match = _SLASH.fullmatch(text.rstrip())
    if match is None:
        return None
    command = named(match[1])
    if command is None:
        raise UnknownCommand(
            f"There is no command /{match[1]}. Type / for the list, or begin with a space to send it to the model."
        )
    return Asked(command, (match[2] or "").strip())


def suggested(text: str) -> list[Command]:
    """The commands that the text of a prompt may become."""
    if not re.fullmatch(r"/[a-z]*", text):
        return []
    return [command for command in COMMANDS if command.name.startswith(text[1:])]
