"""The context tier: the running transcript of one turn, which stops growing while its tools go on (seed 000).

Past ``loop_compact_at`` the oldest tool results are rewritten in place to the one line that was written when each call
ran; the seed prompt and the newest ``keep_verbatim`` results stay as they are. The cut is chunky: a vendor's prefix
cache is lost from the first rewritten message on, so nothing is rewritten again until the threshold is passed anew.
Pure: no disk, no model. Before a result comes here its full text is on the tape.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.chat_model import Message, ToolCall, tool_request
from sessions.loop_status import LoopStatus
from sessions.options import KEEP_VERBATIM, LOOP_COMPACT_AT

LONGEST_ARGUMENT = 160
"""Characters of one argument of an evicted call that stay."""

MOST_ARGUMENTS = 1_000
"""Characters of all of them; of what is still longer only the beginning stays."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one call came to, and where the tape has it."""

    call: ToolCall
    text: str
    summary: str
    event: str
    """The id of the result's event."""
    seq: int = 0
    """The number of the result's event."""
    call_seq: int = 0
    """The number of the call's event."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What one rewriting did. Sizes are characters of the whole transcript."""

    calls: int
    chars_before: int
    chars_after: int


@dataclass(slots=True)
class _Place:
    """Where a result and its call stand."""

    result: Result
    request: int
    """The place of the message that called it."""
    message: int
    settled: bool = False
    """A cut has gone over it; it no longer counts for the next one."""
    whole: bool = True
    """Its text stands there. A text that is shorter than its line stays even when it is settled."""
    call_whole: bool = True
    """Its call's arguments stand there."""


class ContextTier:
    """The messages of one turn's requests. Messages are replaced, never changed.

    Args:
        searchable: the results are on a tape that the model can search; the line then says how.
    """

    def __init__(
        self,
        seed: Sequence[Message] = (),
        *,
        loop_compact_at: int = LOOP_COMPACT_AT,
        keep_verbatim: int = KEEP_VERBATIM,
        searchable: bool = False,
        max_calls: int = 0,
    ) -> None:
        self._messages = list(seed)
        self._compact_at = loop_compact_at
        self._keep = max(1, keep_verbatim)
        self._searchable = searchable
        self._max_calls = max_calls
        self._places: list[_Place] = []
        self._size = _size(self._messages)
        self._saved = 0
        self._cuts = 0
        self._requests = 0
        self._breaks = 0
        self._sent: list[Message] = []

    @property
    def messages(self) -> list[Message]:
        """The transcript as it stands: the seed, then calls and results in their order."""
        return list(self._messages)

    def verbatim_events(self) -> frozenset[int]:
        """The numbers of the events whose text stands in the transcript."""
        return frozenset(seq for place in self._places for seq, whole in _events(place) if whole)

    def gone_events(self) -> frozenset[int]:
        """The numbers of the events of which only a line stands there."""
        return frozenset(seq for place in self._places for seq, whole in _events(place) if not whole)

    def request(self) -> list[Message]:
        """The messages of the next request, which is counted."""
        self._requests += 1
        # The seed and what has been added are never taken away, so there are at least as many as before.
        self._breaks += any(then is not now for then, now in zip(self._sent, self._messages, strict=False))
        self._sent = list(self._messages)
        return list(self._messages)

    def closing(self, note: str) -> list[Message]:
        """The messages of a last request without tools: calls and results as quoted text, and ``note`` after them.

        Some vendors refuse messages about tools where no tools are offered.
        """
        self._requests += 1
        self._breaks += bool(self._sent)
        return as_text(self._messages, note)

    def add(self, text: str, calls: Sequence[ToolCall], results: Sequence[Result]) -> Cut | None:
        """One round: the model's calls, each with its result in the same order. Then a cut, if one is due."""
        request = len(self._messages)
        self._append(tool_request(text, calls))
        for result in results:
            self._places.append(_Place(result, request, len(self._messages)))
            self._append({"role": "tool", "tool_call_id": result.call.id, "content": result.text})
        return self._cut() if self._open > self._compact_at else None

    def stub(self, result: Result) -> str:
        """What stands for an evicted result. That it can be searched is said only where it can."""
        size = f"{len(result.text):,} characters"
        if self._searchable:
            return (
                f"[{result.summary}] ({size}, no longer shown here: recall_memory finds its exact words,"
                f" recall_id {result.event} shows it)"
            )
        return f"[{result.summary}] ({size}, no longer shown here: call the tool again if you need them)"

    @property
    def evicted_calls(self) -> frozenset[str]:
        """The ids of the calls whose results are no longer whole."""
        return frozenset(place.result.call.id for place in self._places if not place.whole)

    def status(self, *, running: bool) -> LoopStatus:
        return LoopStatus(
            running=running,
            calls=len(self._places),
            max_calls=self._max_calls,
            requests=self._requests,
            printed=sum(len(place.result.text) for place in self._places),
            standing=sum(len(place.result.text) for place in self._places if place.whole),
            evicted=sum(not place.whole for place in self._places),
            cuts=self._cuts,
            chars_before=self._size + self._saved,
            chars_after=self._size,
            prefix_breaks=self._breaks,
            compact_at=self._compact_at,
        )

    # -- inside ------------------------------------------------------------------------------------------------

    def _append(self, message: Message) -> None:
        self._messages.append(message)
        self._size += _size([message])

    @property
    def _open(self) -> int:
        """Characters of the results that no cut has gone over."""
        return sum(len(place.result.text) for place in self._places if not place.settled)

    def _cut(self) -> Cut | None:
        """Rewrite every result but the newest; None where that makes nothing shorter."""
        before = self._size
        going = [place for place in self._places[: len(self._places) - self._kept()] if not place.settled]
        evicted = sum(map(self._evict, going))
        for request in sorted({place.request for place in going}):
            self._shorten_arguments(request)
        if self._size == before:
            return None
        self._cuts += 1
        return Cut(evicted, before, self._size)

    def _kept(self) -> int:
        """How many of the newest results stay: ``keep_verbatim``, or all that the model has not read yet.

        Fewer where these alone pass the threshold, but at least one.
        """
        kept, room, newest_round = 0, self._compact_at, self._places[-1].request
        for place in reversed(self._places):
            room -= len(place.result.text)
            wanted = kept < self._keep or place.request == newest_round
            if place.settled or not wanted or (kept and room < 0):
                break
            kept += 1
        return kept

    def _evict(self, place: _Place) -> bool:
        """Whether the result's line took its place."""
        place.settled = True
        line = self.stub(place.result)
        if len(line) < len(place.result.text):
            place.whole = False
            self._replace(place.message, {**self._messages[place.message], "content": line})
        return not place.whole

    def _shorten_arguments(self, request: int) -> None:
        """Cut the long arguments of calls whose results a cut has gone over; the others keep theirs."""
        message = self._messages[request]
        calls = {call["id"]: call for call in message["tool_calls"]}
        for place in self._places:
            if place.request == request and place.settled and place.call_whole:
                call = calls[place.result.call.id]
                written = call["function"]["arguments"]
                arguments = _shortened(written)
                if len(arguments) < len(written):
                    place.call_whole = False
                    calls[call["id"]] = {**call, "function": {**call["function"], "arguments": arguments}}
        made = list(calls.values())
        if made != message["tool_calls"]:
            self._replace(request, {**message, "tool_calls": made})

    def _replace(self, at: int, message: Message) -> None:
        change = _size([message]) - _size([self._messages[at]])
        self._messages[at] = message
        self._size += change
        self._saved -= change


def as_text(messages: Sequence[Message], note: str) -> list[Message]:
    """Messages that speak of no tools: what tools printed is quoted, and ``note`` comes last."""
    plain: list[Message] = []
    calls: dict[str, str] = {}
    for message in messages:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = f"{call['function']['name']}, called with {call['function']['arguments']}"
        if message["role"] == "tool":
            _join(plain, "user", f"[Output of the tool {calls[message['tool_call_id']]}; quoted]\n{message['content']}")
        elif message.get("content"):
            _join(plain, message["role"], message["content"])
    _join(plain, "user", note)
    return plain


def _join(messages: list[Message], role: str, text: str) -> None:
    if messages and messages[-1]["role"] == role:
        messages[-1] = {"role": role, "content": f"{messages[-1]['content']}\n\n{text}"}
    else:
        messages.append({"role": role, "content": text})


def _events(place: _Place) -> Iterable[tuple[int, bool]]:
    """The numbers of a result's and its call's event, each with whether its text stands in the transcript."""
    yield place.result.seq, place.whole
    yield place.result.call_seq, place.call_whole


def _shortened(arguments: str) -> str:
    """Arguments that are a JSON object still, with less in it."""
    if len(arguments) <= LONGEST_ARGUMENT:
        return arguments
    try:
        shorter = json.dumps(_cut_texts(json.loads(arguments)), ensure_ascii=False)
    except RecursionError:
        shorter = arguments
    if len(shorter) <= MOST_ARGUMENTS:
        return shorter
    return json.dumps({"cut_short": f"{arguments[:LONGEST_ARGUMENT]}…"}, ensure_ascii=False)


def _cut_texts(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_ARGUMENT:
        return f"{value[:LONGEST_ARGUMENT]}… ({len(value):,} characters in all)"
    if isinstance(value, list):
        return [_cut_texts(part) for part in value]
    if isinstance(value, dict):
        return {key: _cut_texts(part) for key, part in value.items()}
    return value


def _size(messages: Iterable[Mapping[str, Any]]) -> int:
    """Characters of what messages say, calls and their arguments included."""
    size = 0
    for message in messages:
        size += len(message.get("content") or "")
        for call in message.get("tool_calls") or ():
            size += len(call["function"]["name"]) + len(call["function"]["arguments"])
    return size
