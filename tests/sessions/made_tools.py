"""Tools that do what a test says, and a session that has them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions.chat_model import ToolCall, ToolSpec
from sessions.session import Session
from sessions.toolbox import CallContext, ToolAnswer

Answering = Callable[[Mapping[str, Any], CallContext], Awaitable[ToolAnswer]]


@dataclass
class MadeTool:
    """Answers with ``answering``, or with a text of its own name."""

    name: str
    answering: Answering | None = None
    group: str = "workspace"
    calls: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def spec(self) -> ToolSpec:
        parameters = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        return {
            "type": "function",
            "function": {"name": self.name, "description": f"Made: {self.name}.", "parameters": parameters},
        }

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        self.calls.append(arguments)
        if self.answering is not None:
            return await self.answering(arguments, context)
        return ToolAnswer(f"{self.name} says {arguments['n']}", f"{self.name} {arguments['n']}")


def printing(text: Callable[[int], str], name: str = "print_it") -> MadeTool:
    """A tool that prints what ``text`` makes of its number."""

    async def answering(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        return ToolAnswer(text(arguments["n"]), f"printed number {arguments['n']}")

    return MadeTool(name, answering)


def called(name: str, n: int, id: str | None = None) -> ToolCall:
    return ToolCall(f"call-{name}-{n}" if id is None else id, name, json.dumps({"n": n}))


def give(session: Session, *tools: MadeTool) -> None:
    """Let the session have these tools in the place of those that read its folder."""
    session._use.tools._in_folder = tools
