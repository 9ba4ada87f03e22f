"""A session as Markdown to read: everything that was said, exactly, whatever the live view has become of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory import tier_ledger
from memory.store import CONVERSATION, MemoryStore
from memory.tool_events import is_call
from memory.values import Compaction, Event
from sessions.display import one_line
from sessions.ids import TITLE_LENGTH, UNTITLED
from sessions.rows import SessionRow
from sessions.tapes import summary_of

SHORTEST_RULE = 10
"""Least characters in the line that stands above each of Otto's own headings."""

_RULE_LINE = re.compile(r"^[ \t]*(_+)[ \t\r]*$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t>]*(`{3,}|~{3,})(.*)$")
_BACKTICKS = re.compile(r"`+")
_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]<>#|~&])")

_ROLES = {"user": "You", "assistant": "Assistant", "tool": "Tool", "system": "System"}
_KINDS = {"note": "Note", "retract": "Taken back", "document": "Document"}


def markdown_of(store: MemoryStore, row: SessionRow) -> str:
    """The whole session: its transcript, then what its memory has made of it."""
    events = store.events()
    compactions = [
        (entry.t, tier_ledger.compaction_of(entry.data)) for entry in store.ledger(CONVERSATION, tier_ledger.COMPACTED)
    ]
    rule = rule_for(events)
    summary = summary_of(store, row.id)
    return transcript(row if summary is None else summary.row, row, events, rule) + _memory(compactions, rule)


def rule_for(events: Sequence[Event]) -> str:
    """A line that stands in no text: underscores, one more than the longest such line."""
    longest = max((len(found) for event in events for found in _RULE_LINE.findall(event.text)), default=0)
    return "_" * max(SHORTEST_RULE, longest + 1)


def transcript(said: SessionRow, named: SessionRow, events: Sequence[Event], rule: str) -> str:
    """The part that depends on the tape alone: the same before and after a compaction.

    Args:
        said: times and turns, as the tape says them.
        named: title, workspace and parent, as the index has them.
    """
    return "".join([_head(said, named, rule), *(_message(event, rule) for event in events)])


def _head(said: SessionRow, named: SessionRow, rule: str) -> str:
    lines = [
        f"# {_escaped(one_line(named.title, TITLE_LENGTH) or UNTITLED)}",
        "",
        f"- Session: {named.id}",
        f"- Workspace: {_escaped(one_line(named.workspace, 400)) or '(none)'}",
        f"- Begun: {_time(said.created)}",
        f"- Last said: {_time(said.updated)}",
        f"- Turns: {said.turns}",
    ]
    if named.parent is not None:
        lines.append(f"- Forked from: {named.parent}")
    lines.append(
        f"\nBelow, each heading of Otto's own follows a line of {len(rule)} underscores. All else is as it was said."
    )
    return "\n".join(lines) + "\n\n"


def _message(event: Event, rule: str) -> str:
    return f"{rule}\n\n## {_heading(event)}\n\n{_body(event)}\n\n"


def _heading(event: Event) -> str:
    who = "Tool call" if is_call(event) else _KINDS.get(event.kind) or _ROLES.get(event.role) or event.role
    # The person's source is no name; everything else says which model or tool it was.
    source = "" if event.protected else one_line(event.source, 60)
    parts = [f"{who} {source}".strip(), _time(event.t_event)]
    if event.meta.get("retry"):
        parts.append("another try")
    if partial := event.meta.get("partial"):
        parts.append(f"incomplete: {one_line(str(partial), 100)}")
    return f"{event.seq}. {_escaped(', '.join(parts))}"


def _body(event: Event) -> str:
    if event.kind in ("tool", "document"):
        fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(event.text)), default=0))
        return f"{fence}text\n{event.text}\n{fence}"
    closing = _open_fence(event.text)
    return f"{event.text}\n{closing}" if closing else event.text


def _open_fence(text: str) -> str:
    """What closes the code block that ``text`` leaves open, as a reply that was cut off may; else nothing."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE_LINE.match(line)
        if found is None:
            continue
        signs, rest = found.groups()
        if not fence:
            # Backticks after backticks on one line are code within a line.
            fence = "" if signs[0] == "`" and "`" in rest else signs
        elif signs[0] == fence[0] and len(signs) >= len(fence) and not rest.strip():
            fence = ""
    return fence


def _memory(compactions: Sequence[tuple[str, Compaction]], rule: str) -> str:
    if not compactions:
        return ""
    return "".join([f"{rule}\n\n# Memory\n\n", *_compaction_lines(compactions)])


def _compaction_lines(compactions: Sequence[tuple[str, Compaction]]) -> Iterator[str]:
    for time, done in compactions:
        yield (
            f"- Generation {done.generation}, {_time(time)}: everything up to {done.through} stands behind"
            f" {done.bullets_out} bullets, made by {_escaped(one_line(done.made_by, 60))}.\n"
        )


def _time(time: str) -> str:
    """Seconds will do for a reader; the offset is kept as it was said."""
    return re.sub(r"\.\d+", "", one_line(time, 40)).replace("T", " ")


def _escaped(text: str) -> str:
    return _MARKDOWN_SIGNS.sub(r"\\\1", text)
