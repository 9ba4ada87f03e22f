"""What ``otto view`` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otto_tui.ledger_shapes import diff_shape, full_shape
from otto_tui.prepared import session_of
from otto_tui.terminal import say, say_json
from screens.ledger_words import NOTHING_RECORDED, diff_summary, signed
from screens.wording import counted

if TYPE_CHECKING:
    from sessions.observing.status import RecordLine
    from sessions.options import Options


async def show_view(options: Options, session_id: str, *, as_json: bool) -> None:
    """Print the messages of the next request."""
    async with session_of(options, session_id) as session:
        messages = await session.view()
    if as_json:
        say_json(messages)
    else:
        say("\n".join(line for message in messages for line in _message_lines(message)).rstrip("\n"))


async def show_records(options: Options, session_id: str, *, diff: bool, as_json: bool) -> None:
    """Print what the ledger holds; with ``diff``, beside what of it stands in the view."""
    from sessions.observing.status import full_view, view_diff

    async with session_of(options, session_id) as session:
        ledger = await session.ledger()
    if as_json:
        say_json(diff_shape(ledger) if diff else full_shape(ledger.state))
    elif ledger.state.empty:
        say(NOTHING_RECORDED)
    elif diff:
        say("\n".join([*map(signed, view_diff(ledger)), diff_summary(ledger)]))
    else:
        say("\n".join(_record_lines(full_view(ledger.state))))


def _record_lines(records: Sequence[RecordLine]) -> Iterator[str]:
    for kind in ("reflection", "observation"):
        lines = [record.text for record in records if record.kind == kind]
        if lines:
            yield f"--- {counted(len(lines), kind)}"
            yield from lines


def _message_lines(message: Mapping[str, Any]) -> Iterator[str]:
    yield f"--- {message.get('role', '')}"
    content = message.get("content")
    if content:
        yield content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    for call in message.get("tool_calls") or ():
        yield f"calls {json.dumps(call.get('function', call), ensure_ascii=False)}"
    yield ""
