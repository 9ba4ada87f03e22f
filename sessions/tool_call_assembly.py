"""Tool calls, put together from the fragments that a stream brings."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from sessions.chat_model import ToolCall


@dataclass(slots=True)
class _Growing:
    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ToolCallAssembly:
    """Gathers fragments of any number of calls, in whatever order they come."""

    def __init__(self) -> None:
        self._calls: list[_Growing] = []

    def add(self, fragment: Any) -> None:
        """One entry of a delta's ``tool_calls``, as litellm hands it over."""
        function = fragment.function
        call = self._call_for(fragment.index, fragment.id or "")
        call.id = call.id or fragment.id or ""
        if function is not None:
            call.name = call.name or function.name or ""
            call.arguments.append(function.arguments or "")

    def calls(self) -> list[ToolCall]:
        """The calls that have a name, in the order in which they began."""
        return [
            ToolCall(call.id or f"call_{uuid.uuid4().hex[:12]}", call.name, "".join(call.arguments) or "{}")
            for call in self._calls
            if call.name
        ]

    def _call_for(self, index: int | None, id: str) -> _Growing:
        """The call that a fragment belongs to. Some servers give every call the index 0, but an id of its own."""
        at = index or 0
        for call in reversed(self._calls):
            if call.index == at and (not id or not call.id or call.id == id):
                return call
        self._calls.append(_Growing(at))
        return self._calls[-1]
