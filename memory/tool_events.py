"""How a model's tool calls stand in memory: the tape has every byte, the tiers one line (seed 000, "The context tier").

A call is one event, what came of it another; both are of the kind ``tool`` and name the call in ``meta["call"]``. The
line that stands for them needs no model: it was written when the call ran. Whatever else is of the kind ``tool``, such
as the output of a command that the person typed, stands raw like a document.
"""

from __future__ import annotations

from memory.tokens import count_tokens
from memory.values import Event, Span

TOOL_KIND = "tool"
"""The kind of event that holds what a tool was asked, or printed."""

HELD_TOKENS = 200
"""The most that a result may cost and still stand whole."""

ARGUMENTS_SHOWN = 160
"""Characters of a call's arguments that stand in its line."""

LONGEST_SUMMARY = 300
"""Characters of a result's summary that stand in its line."""

RECALL_TOOLS = ("recall_memory", "recall_id")
"""The tools that read the memory itself, by the name that is their source: what they print is on the tape already."""

STUB: tuple[Span, ...] = ()
"""The pieces of an event that stands as its line: none."""


def is_of_model(event: Event) -> bool:
    """Whether the event is a model's call or the result of one."""
    return event.kind == TOOL_KIND and isinstance(event.meta.get("call"), str)


def is_call(event: Event) -> bool:
    return is_of_model(event) and event.role == "assistant"


def is_recalled(event: Event) -> bool:
    """Whether it only repeats what memory holds: such text is neither observed nor found again."""
    return event.kind == TOOL_KIND and event.source in RECALL_TOOLS


def stands_whole(event: Event, x_budget: int) -> bool:
    """Whether a model's tool event is short enough to stand word for word."""
    if is_call(event):
        return len(event.text) <= ARGUMENTS_SHOWN
    most = min(HELD_TOKENS, x_budget)
    # What has more characters a token than that is padding, and not worth counting.
    return len(event.text) <= 16 * most and count_tokens(event.text) <= most


def stub(event: Event) -> str:
    """The one line that stands for a call or a result, with its size and the id that leads to all of it."""
    kept = f"{len(event.text):,} characters, kept whole: recall_id {event.id}"
    if is_call(event):
        return f"{_one_line(event.text, ARGUMENTS_SHOWN)} [{kept}]"
    return f"{summary_of(event)} [{kept}]"


def line_of_event(event: Event) -> str:
    """What a bullet says of a tool event that no citation covered."""
    if is_call(event):
        return f"{event.source} was called with {_one_line(event.text, ARGUMENTS_SHOWN)}"
    return f"{event.source} answered: {summary_of(event)}"


def summary_of(event: Event) -> str:
    """The summary that was written when the call ran; where there is none, the start of the output."""
    summary = event.meta.get("summary")
    return _one_line(summary if isinstance(summary, str) and summary.strip() else event.text, LONGEST_SUMMARY)


def _one_line(text: str, most: int) -> str:
    # Of a text of a hundred megabytes only the start is looked at.
    line = " ".join(text[: most * 4].split())
    if len(line) > most or len(text) > most * 4:
        return line[:most].rstrip() + "…"
    return line
