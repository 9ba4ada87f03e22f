"""``run_command``: a shell command of the model's, which runs only if the person lets it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any

from memory.errors import OttoError
from memory.ids import new_event_id
from sessions.approvals import Approval, Decision
from sessions.chat_model import ToolSpec
from sessions.commands.allowed import AllowedCommands
from sessions.commands.environment import model_environment
from sessions.commands.prefixes import prefix_of, stays_inside
from sessions.commands.shell import CommandFailed, Ran, run_in_shell
from sessions.commands.telling import summary_of, told
from sessions.display import displayable
from sessions.events import Notice
from sessions.options import ToolSettings
from sessions.toolbox import CallContext, ToolAnswer, ToolRefused
from sessions.workspace.tool import function_spec

RUN_COMMAND = "run_command"

LONGEST_COMMAND = 10_000
"""Characters: a person must be able to read what they agree to."""


class RunCommand:
    """Satisfies ``Tool``. One for a session, since it remembers what the person never wants to be asked again."""

    group = "command"

    def __init__(
        self,
        root: Path,
        settings: ToolSettings,
        allowed: AllowedCommands,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """``environ`` is the person's environment, the process's own when None; a command gets little of it."""
        self._root = root
        self._settings = settings
        self._allowed = allowed
        self._environment = model_environment(os.environ if environ is None else environ)
        self._refused: set[str] = set()
        self._waiting: dict[str, set[asyncio.Future[Decision]]] = {}
        """Questions that are open, by what "always" or "never" would settle."""

    @property
    def spec(self) -> ToolSpec:
        return function_spec(
            RUN_COMMAND,
            "Run a shell command in the workspace and read what it prints. The person is asked first and may refuse. It"
            f" gets no input and no secrets of the environment, and is stopped after {self._settings.command_timeout:g}"
            " seconds. Prefer one simple command to several in one line, and the workspace's own tools for reading.",
            ("command",),
            command={"type": "string", "description": "The command, as one would type it."},
        )

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        command = str(arguments["command"]).strip()
        _require_readable(command)
        await self._require_leave(command, context)
        timeout = self._settings.command_timeout

        def answer(ran: Ran) -> ToolAnswer:
            well = ran.ending == "exited" and ran.exit == 0
            return ToolAnswer(told(ran, timeout), summary_of(command, ran, timeout), ok=well)

        try:
            ran = await run_in_shell(
                command,
                self._root,
                self._environment,
                timeout=timeout,
                cap=self._settings.output_cap,
                keep=lambda ran: context.keep(answer(ran)),
            )
        except CommandFailed as error:
            raise ToolRefused(str(error)) from error
        return answer(ran)

    async def _require_leave(self, command: str, context: CallContext) -> None:
        """Raises ``ToolRefused`` unless a rule or the person lets the command run."""
        prefix = prefix_of(command)
        while not await self._is_settled(command, prefix, context):
            if context.ask is None:
                raise ToolRefused(
                    "Nobody is here to be asked, so the command was not run. Go on without it, or tell the person what"
                    " to run."
                )
            question = Approval(new_event_id(), RUN_COMMAND, command, prefix or "", str(self._root))
            decision = await self._decision(context.ask(question), prefix or command)
            if decision is not None:
                await self._obey(decision, command, prefix, context)
                return

    async def _is_settled(self, command: str, prefix: str | None, context: CallContext) -> bool:
        """Whether the command may run without a question. Raises ``ToolRefused`` where it never may."""
        if (prefix or command) in self._refused:
            raise ToolRefused(_never(prefix))
        return prefix is not None and await self._is_allowed(command, prefix, context)

    async def _decision(self, asking: Awaitable[Decision], key: str) -> Decision | None:
        """What the person says; None where another answer about the same has settled it, and the question is gone."""
        question = asyncio.ensure_future(asking)
        waiting = self._waiting.setdefault(key, set())
        waiting.add(question)
        try:
            await asyncio.wait([question])
        finally:
            waiting.discard(question)
            question.cancel()
        return None if question.cancelled() else question.result()

    async def _is_allowed(self, command: str, prefix: str, context: CallContext) -> bool:
        allowed = await asyncio.to_thread(self._allowed.read)
        if allowed.notice is not None:
            context.emit(Notice(allowed.notice))
        return prefix in allowed.prefixes and await asyncio.to_thread(stays_inside, command, self._root)

    async def _obey(self, decision: Decision, command: str, prefix: str | None, context: CallContext) -> None:
        if decision == "never":
            self._refused.add(prefix or command)
        if decision == "always" and prefix is not None:
            try:
                notice = await asyncio.to_thread(self._allowed.add, prefix)
            except OttoError as error:
                notice = str(error)
            if notice is not None:
                context.emit(Notice(notice))
        if decision != "once":
            for question in self._waiting.pop(prefix or command, ()):
                question.cancel()
        if decision == "never":
            raise ToolRefused(_never(prefix))


def _require_readable(command: str) -> None:
    """A person can only agree to what they see. Raises ``ToolRefused``."""
    if not command:
        raise ToolRefused("The command is empty.")
    if len(command) > LONGEST_COMMAND:
        raise ToolRefused(f"The command is longer than {LONGEST_COMMAND:,} characters, too long for anybody to check.")
    if displayable(command) != command:
        raise ToolRefused("The command holds control characters or characters that nobody can see. Write it without.")


def _never(prefix: str | None) -> str:
    what = f"commands that begin with {prefix}" if prefix else "this command"
    return f"The person does not want {what} to run. Do not ask again in this session; go on without."
