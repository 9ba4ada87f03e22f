"""What a loopback vendor is asked and what it answers, in no vendor's format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

Ending = Literal["whole", "cut", "early_end", "garbled", "error"]
"""How a streamed reply ends.

whole: as the format says. cut: the connection breaks. early_end: the body ends properly, but without the
format's own end mark. garbled: a frame that is not JSON. error: the vendor reports a failure in mid-stream.
"""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model calls a tool."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    """Made by the wire when empty; formats without ids ignore it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a vendor."""

    text: str = ""
    _: KW_ONLY
    pieces: tuple[str, ...] | None = None
    """How ``text`` is cut on the wire; None sends word by word."""
    thinking: str = ""
    tools: tuple[ToolUse, ...] = ()
    usage: tuple[int, int] | Literal["counted"] | None = "counted"
    """Prompt and completion tokens; ``counted`` takes a quarter of the characters; None sends none."""
    cached: int = 0
    """How many of the prompt's tokens were in the vendor's cache, and so cost less."""
    finish: Literal["stop", "length", "refused"] = "stop"
    ending: Ending = "whole"
    after: int | None = None
    """Frames before ``ending`` strikes; None: half of them."""
    hold_after: int | None = None
    """Frames before the stream hangs until ``LoopbackVendor.release()``, or until the client goes away."""
    pause: float = 0.0
    """Seconds between frames."""
    quirks: bool = False
    """Adds what compatible servers are known to send: null content, empty choices, pings, blank lines."""

    def text_pieces(self) -> tuple[str, ...]:
        if self.pieces is not None:
            return self.pieces
        return tuple(re.findall(r"\s*\S+\s*\Z|\s*\S+|\s+\Z", self.text))


@dataclass(frozen=True, slots=True)
class Failure:
    """A vendor's error response."""

    status: int
    kind: Literal["", "auth", "no_model", "rate", "server", "too_long", "refused", "no_credit"] = ""
    """What it is about; empty: what the status usually means."""
    retry_after: float | None = None
    message: str = ""
    """Empty: the vendor's own words for this kind."""

    def meaning(self) -> str:
        return self.kind or _USUAL_MEANING.get(self.status, "server")


_USUAL_MEANING = {401: "auth", 403: "auth", 404: "no_model", 413: "too_long", 429: "rate", 402: "no_credit"}


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a request, without its format."""

    role: str
    """``system``, ``user``, ``assistant`` or ``tool``."""
    text: str
    tool_calls: tuple[ToolUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request as any vendor would understand it."""

    model: str
    messages: tuple[Said, ...]
    tools: tuple[str, ...]
    """Names of the tools on offer."""
    stream: bool
    usage_wanted: bool = True

    @property
    def prompt(self) -> str:
        """The last thing the person said."""
        return next((said.text for said in reversed(self.messages) if said.role == "user"), "")

    @property
    def system(self) -> str:
        return "\n\n".join(said.text for said in self.messages if said.role == "system")

    @property
    def text(self) -> str:
        """All that the model reads."""
        return "\n\n".join(said.text for said in self.messages)

    @property
    def is_summary(self) -> bool:
        """True for a request to compact items: one thing said, no tools, lines that begin with ``[1] ``, ..."""
        roles = [said.role for said in self.messages if said.role != "system"]
        return roles == ["user"] and not self.tools and any(n == "1" for n, _ in NUMBERED.findall(self.prompt))


NUMBERED = re.compile(r"^\[(\d+)\] ?(.*)$", re.MULTILINE)


def counted_usage(asked: Asked, reply: Reply) -> tuple[int, int] | None:
    if reply.usage != "counted":
        return reply.usage
    return max(1, len(asked.text) // 4), max(1, len("".join(reply.text_pieces())) // 4)
