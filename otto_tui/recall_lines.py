"""What ``otto recall`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from otto_tui.prepared import session_of
from otto_tui.shapes import recall_shape, source_shape
from otto_tui.terminal import say, say_aside, say_json
from otto_tui.times import local_time
from screens.record_words import record_lines

if TYPE_CHECKING:
    from memory.values import RecalledSource, RecallItem, RecallResult
    from sessions.options import Options


async def recall_by_question(options: Options, session_id: str, question: str, *, as_json: bool) -> None:
    """Print what the session's memory holds on a question."""
    async with session_of(options, session_id) as session:
        result = await session.recall(question)
    if as_json:
        say_json(recall_shape(result))
        return
    if result.warning:
        say_aside(f"Note: {result.warning}")
    say("\n".join(_result_lines(result)))


async def recall_by_id(options: Options, session_id: str, hex_id: str, *, as_json: bool) -> None:
    """Print the exact words behind an id."""
    from memory.tokens import count_tokens

    async with session_of(options, session_id) as session:
        source = await session.recall_id(hex_id)
    if as_json:
        tokens = sum(count_tokens(event.text) for event in source.events)
        say_json(source_shape(source, tokens))
    else:
        say("\n".join(_source_lines(source)))


def _result_lines(result: RecallResult) -> Iterator[str]:
    if not result.items:
        yield "Nothing was found. What the model still reads word for word is not searched."
        return
    for item in result.items:
        yield _heading(item)
        yield item.text
        yield ""
    found = sum(not item.neighbour for item in result.items)
    beside = len(result.items) - found
    yield f"{found} found, {beside} beside them, {result.tokens} tokens, ranked by {result.ranked_by}."


def _heading(item: RecallItem) -> str:
    how = "beside it" if item.neighbour else f"score {item.score:.3f}"
    kind = "" if item.kind == "message" else f", {item.kind}"
    return f"{item.speaker}{kind}, {local_time(item.t_event)}, {item.id}, {how}:"


def _source_lines(source: RecalledSource) -> Iterator[str]:
    yield f"{source.found_as.capitalize()} {source.id}, stands in: {source.standing or 'the tape'}"
    if source.bullet is not None and source.bullet.form in ("summary", "group"):
        yield f"Bullet: {source.bullet.text}"
    yield from record_lines(source)
    for event in source.events:
        yield ""
        yield f"{event.speaker}, {local_time(event.t_event)}, {event.id}:"
        if source.chunk is not None:
            yield event.text[source.chunk.start : source.chunk.end]
        else:
            yield event.text
