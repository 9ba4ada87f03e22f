"""What ``otto view`` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from otto_tui.prepared import session_of
from otto_tui.terminal import say, say_json

if TYPE_CHECKING:
    from sessions.options import Options


async def show_view(options: Options, session_id: str, *, as_json: bool) -> None:
    """Print the messages of the next request."""
    async with session_of(options, session_id) as session:
        messages = await session.view()
    if as_json:
        say_json(messages)
    else:
        say("\n".join(line for message in messages for line in _message_lines(message)).rstrip("\n"))


def _message_lines(message: Mapping[str, Any]) -> Iterator[str]:
    yield f"--- {message.get('role', '')}"
    content = message.get("content")
    if content:
        yield content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    for call in message.get("tool_calls") or ():
        yield f"calls {json.dumps(call.get('function', call), ensure_ascii=False)}"
    yield ""
