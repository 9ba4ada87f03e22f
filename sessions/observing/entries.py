"""What an observer reads: the oldest part of the conversation that no observation covers yet, entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memory.excerpt import both_ends
from memory.ids import content_id
from memory.store import MemoryStore
from memory.tokens import count_tokens
from memory.tool_events import HELD_TOKENS, is_call, is_of_model, is_recalled, stands_whole, stub
from memory.values import MAIN_THREAD, TIERED_KINDS, Event
from sessions.display import one_line

_PAGE = 100
"""Events that are read from the tape at a time."""

_PLAIN_ID = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole entries."""

    text: str
    entries: Mapping[str, Event]
    """By the id under which they are shown, oldest first."""
    tokens: int
    to_the_end: bool
    """Nothing comes after it yet."""

    @property
    def covers(self) -> int:
        """The ``seq`` of its last event; 0 where it is empty."""
        return max((event.seq for event in self.entries.values()), default=0)


def next_chunk(store: MemoryStore, after: int, max_tokens: int) -> Chunk:
    """The oldest entries after event ``after``, as many as cost at most ``max_tokens``.

    Of a first entry that is larger by itself the two ends are shown, with a mark between them.
    """
    blocks: list[str] = []
    entries: dict[str, Event] = {}
    tokens = 0
    for event in _source_events(store, after):
        label = _label(event)
        block = _block(label, event, _told(event))
        cost = count_tokens(block) + 1
        if tokens + cost > max_tokens:
            if entries:
                return Chunk("\n\n".join(blocks), entries, tokens, to_the_end=False)
            block = _shortened(label, event, _told(event), max_tokens)
            cost = count_tokens(block) + 1
        blocks.append(block)
        entries[label] = event
        tokens += cost
    return Chunk("\n\n".join(blocks), entries, tokens, to_the_end=True)


def _source_events(store: MemoryStore, after: int) -> Iterator[Event]:
    """What was said, printed or put before the model, oldest first; nothing that recall brought."""
    while page := store.events(after=after, kinds=TIERED_KINDS, limit=_PAGE):
        yield from (event for event in page if event.thread == MAIN_THREAD and not is_recalled(event))
        after = page[-1].seq


def _told(event: Event) -> str:
    """The event's text; of a tool's long output the one line that the conversation goes on with."""
    return stub(event) if is_of_model(event) and not stands_whole(event, HELD_TOKENS) else event.text


def _shortened(label: str, event: Event, whole: str, max_tokens: int) -> str:
    room = max_tokens
    while True:
        spans = both_ends(whole, max(2, room))
        (_, head), (tail, _) = spans[0], spans[-1]
        left_out = max(0, tail - head) if len(spans) > 1 else 0
        text = f"{whole[:head]}\n[{left_out:,} characters in the middle are left out here]\n{whole[tail:]}"
        block = _block(label, event, text if left_out else whole)
        cost = count_tokens(block) + 1
        if cost <= max_tokens or room <= 2:
            return block
        # The marks before lines cost tokens too, for some texts many times what the text does.
        room = max(2, min(room * max_tokens // cost, room * 9 // 10))


def _block(label: str, event: Event, text: str) -> str:
    """The entry under a line of its own. Every line of its text is marked, so that none can pass for such a line."""
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    cut_off = ", cut off" if event.meta.get("partial") else ""
    return f"[entry {label}] {event.t_event[:16].replace('T', ' ')}, {_speaker(event)}{cut_off}:\n{quoted}"


def _speaker(event: Event) -> str:
    source = one_line(event.source, 60)
    if is_call(event):
        return f"call of the tool {source}"
    if event.kind == "tool":
        return f"output of the tool {source}"
    if event.kind == "document":
        return f"a document, {source}"
    if event.role == "user":
        return "the person"
    return f"the assistant ({source})" if source else "the assistant"


def _label(event: Event) -> str:
    """The event's own id; one that came from elsewhere and would not stand on a line is replaced by a digest."""
    return event.id if _PLAIN_ID.fullmatch(event.id) else content_id(event.id)
