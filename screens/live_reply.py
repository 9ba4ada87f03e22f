"""The reply that is coming in, as the screens hold it: its words and its uses of tools, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from sessions.events import Delta, Thinking, ToolCalled, ToolUsed


@dataclass
class LiveText:
    """Words of a reply that come in without a break, in the pieces in which they came."""

    parts: list[str] = field(default_factory=list)

    def since(self, count: int) -> str:
        """What came after the first ``count`` parts."""
        return "".join(self.parts[count:])

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass
class LiveTool:
    """A use of a tool, from the moment it begins."""

    called: ToolCalled
    used: ToolUsed | None = None
    """What came of it; None while it runs."""


class LiveReply:
    """The reply that is coming in. It grows whether or not a screen is looking."""

    def __init__(self, model: str, began: float) -> None:
        self.model = model
        self.began = began
        """On the clock of ``Conversation``; when the request went out."""
        self.blocks: list[LiveText | LiveTool] = []
        """Words and uses of tools, in order."""
        self.thinking = False
        self.grew = asyncio.Event()
        """Set whenever there is more to draw."""

    @property
    def speaking(self) -> bool:
        """Words are coming, as opposed to waiting for the first or for more after a tool."""
        return bool(self.blocks) and isinstance(self.blocks[-1], LiveText)

    @property
    def running(self) -> list[LiveTool]:
        """The tools that are at work."""
        return [part for part in self._tools() if part.used is None]

    @property
    def calls(self) -> set[str]:
        """The ids of all its calls so far."""
        return {part.called.call for part in self._tools()}

    def take(self, event: Delta | Thinking | ToolCalled | ToolUsed) -> None:
        if isinstance(event, Thinking):
            self.thinking = True
            return
        self.thinking = False
        if isinstance(event, ToolCalled):
            self.blocks.append(LiveTool(event))
        elif isinstance(event, ToolUsed):
            self._take_end(event)
        elif self.blocks and isinstance(last := self.blocks[-1], LiveText):
            last.parts.append(event.text)
        else:
            self.blocks.append(LiveText([event.text]))
        self.grew.set()

    def _take_end(self, used: ToolUsed) -> None:
        running = [part for part in self.running if part.called.call == used.call]
        if running:
            running[0].used = used
        else:
            self.blocks.append(LiveTool(ToolCalled(used.call, used.name, used.arguments), used))

    def _tools(self) -> Iterator[LiveTool]:
        return (part for part in self.blocks if isinstance(part, LiveTool))
