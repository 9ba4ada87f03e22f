"""A tool of the workspace: its description, and blocking work that answers it in a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sessions.chat_model import ToolSpec
from sessions.toolbox import CallContext, ToolAnswer
from sessions.workspace.threads import Stop, in_thread

WORKSPACE = "workspace"
"""The group of these tools."""


@dataclass(frozen=True, slots=True)
class WorkspaceTool:
    """Satisfies ``Tool``."""

    spec: ToolSpec
    answer: Callable[[Mapping[str, Any], Stop], ToolAnswer]
    """Runs in a thread. Raises ``ToolRefused``."""
    group: str = WORKSPACE

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        return await in_thread(lambda stop: self.answer(arguments, stop))


def function_spec(name: str, description: str, required: tuple[str, ...], **properties: Mapping[str, Any]) -> ToolSpec:
    """A tool in OpenAI's function format that takes an object with these properties and no others."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {key: dict(value) for key, value in properties.items()},
                "required": list(required),
                "additionalProperties": False,
            },
        },
    }
