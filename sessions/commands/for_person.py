"""``!command``: what the person types runs at once, and what it prints stands on the tape."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from memory.text import storable
from memory.values import NewEvent
from sessions.commands.environment import person_environment
from sessions.commands.shell import run_in_shell
from sessions.commands.telling import summary_of, told
from sessions.options import ToolSettings

SHELL = "shell"
"""The source of such events."""


async def run_for_person(
    command: str,
    workspace: Path,
    settings: ToolSettings,
    *,
    environ: Mapping[str, str] | None = None,
    key_variables: Collection[str] = (),
    stop: asyncio.Event | None = None,
) -> NewEvent:
    """Run ``command`` in ``workspace``; the event to put on the tape, also where it failed or was stopped.

    Set ``stop`` to end it and keep what it had printed; cancelling ends it and keeps nothing. ``environ`` is the
    person's environment (the process's own when None), which the command gets without ``key_variables`` and the like.

    Raises:
        CommandFailed: it cannot be started.
    """
    environment = person_environment(os.environ if environ is None else environ, key_variables)
    timeout = settings.command_timeout
    ran = await run_in_shell(command, workspace, environment, timeout=timeout, cap=settings.output_cap, stop=stop)
    return NewEvent(
        text=told(ran, timeout) or "[no output]",
        role="tool",
        kind="tool",
        source=SHELL,
        meta={
            "by": "person",
            "command": storable(command),
            "exit": ran.exit,
            "summary": summary_of(command, ran, timeout),
            "ok": ran.ending == "exited" and ran.exit == 0,
        },
    )
