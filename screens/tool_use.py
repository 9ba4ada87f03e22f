"""What the transcript says of a use of a tool: one line, and what stands behind it. Values and words, no widgets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from memory.values import Event
from screens.wording import brief, counted, lasted
from sessions.display import one_line
from sessions.events import ToolCalled, ToolUsed

State = Literal["running", "done", "failed", "interrupted", "open"]
"""``open``: what came of it is not known here, since that part of the tape is not loaded."""

Kind = Literal["call", "shell", "attached"]
"""A model's call, a command that the person typed, a file that they attached."""

SHELL = "shell"
"""The source of what the person's own commands printed."""

LONGEST_LINE = 400
LONGEST_UNBROKEN = 76
"""Characters of arguments that are read as they came."""

LONGEST_PARSED = 20_000
"""Characters of arguments that are taken apart for the line; more than that is shown as it came."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool as far as it is known."""

    name: str
    kind: Kind = "call"
    asked: str | None = None
    """The arguments as the model wrote them, or the command; None where they are not known."""
    state: State = "running"
    summary: str = ""
    output: str | None = None
    size: int | None = None
    """Characters of the output."""
    seconds: float | None = None
    ending: str = ""
    """How it ended, where that is more than done or failed: ``exit 2``."""


def use_of_call(called: ToolCalled, used: ToolUsed | None) -> ToolUse:
    """A call of the turn that is under way, and what came of it."""
    if used is None:
        return ToolUse(called.name, asked=called.arguments)
    return ToolUse(
        called.name,
        asked=called.arguments,
        state="done" if used.ok else "failed",
        summary=used.summary,
        output=used.text,
        size=used.size,
    )


def use_of_events(call: Event | None, result: Event | None) -> ToolUse:
    """A call on the tape with its result; either of the two may not be there."""
    asked = call.text if call is not None else None
    if result is None:
        return ToolUse((call.source if call else "") or "tool", asked=asked, state="open")
    seconds = result.meta.get("seconds")
    return ToolUse(
        result.source or "tool",
        asked=asked,
        state="failed" if result.meta.get("ok") is False else "done",
        summary=str(result.meta.get("summary") or ""),
        output=result.text,
        size=len(result.text),
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
    )


def use_of_note(event: Event) -> ToolUse:
    """A note of a tool's use, which has what the tool was asked, or printed, as its text."""
    return ToolUse(
        event.source or "tool", asked=event.text, state="done", summary=str(event.meta.get("summary") or event.text)
    )


def use_of_shell(event: Event) -> ToolUse:
    """A command that the person typed, and what it printed."""
    exit = event.meta.get("exit")
    failed = event.meta.get("ok") is False
    return ToolUse(
        SHELL,
        "shell",
        asked=str(event.meta.get("command") or ""),
        state="failed" if failed else "done",
        output=event.text,
        size=len(event.text),
        ending=_exit_words(exit) if failed and isinstance(exit, int) else "",
    )


def _exit_words(status: int) -> str:
    return f"exit {status}" if status >= 0 else f"ended by signal {-status}"


def running_shell(command: str) -> ToolUse:
    return ToolUse(SHELL, "shell", asked=command)


def use_of_document(event: Event) -> ToolUse:
    """A file that the person attached."""
    name = event.source or "document"
    return ToolUse("attached", "attached", asked=name, state="done", output=event.text, size=len(event.text))


def headline(use: ToolUse) -> str:
    """The left end of the line: which tool, and what it did or is asked to do. It has passed ``displayable``."""
    if use.kind == "shell":
        return f"$ {one_line(use.asked or '', LONGEST_LINE)}"
    name = one_line(use.name, 40)
    if use.kind == "attached":
        return f"{name}  {one_line(use.asked or '', LONGEST_LINE)}"
    said = use.summary if use.state in ("done", "failed") else ""
    line = one_line(said[: 4 * LONGEST_LINE], LONGEST_LINE) if said else asked_in_short(use.asked or "")
    return f"{name}  {line}".rstrip()


def ending(use: ToolUse) -> str:
    """The right end of the line: how it stands, in words, and how much it printed."""
    size = "" if use.size is None else f"{brief(use.size)} {'char' if use.size == 1 else 'chars'}"
    state = {"running": "running …", "interrupted": "interrupted", "failed": use.ending or "failed"}.get(use.state, "")
    return " · ".join(part for part in (state, size) if part)


def details(use: ToolUse) -> list[tuple[str, str]]:
    """What stands behind the line: headings, each with a text of any length."""
    if use.kind != "call":
        return [("", use.output or "(nothing printed)")] if use.state != "running" else []
    asked = [] if use.asked is None else [("asked", laid_out(use.asked) or "(nothing)")]
    if use.output is None:
        return [("", text) for _, text in asked] if use.state == "done" else asked
    size = counted(use.size or 0, "character")
    took = "" if use.seconds is None else f", {lasted(use.seconds)}"
    return [*asked, (f"answered, {size}{took}", use.output or "(nothing)")]


def asked_in_short(arguments: str) -> str:
    """A call's arguments on one line: ``path: src/app.py, start: 1``; one alone goes without its name."""
    given = _parsed(arguments)
    if not given:
        return one_line(arguments[: 4 * LONGEST_LINE], LONGEST_LINE)
    values = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
    if len(values) == 1:
        return one_line(next(iter(values.values()))[: 4 * LONGEST_LINE], LONGEST_LINE)
    return one_line(", ".join(f"{name}: {value[:LONGEST_LINE]}" for name, value in values.items()), LONGEST_LINE)


def laid_out(arguments: str) -> str:
    """Arguments for reading: a line for each, where they are what they should be and are long."""
    given = _parsed(arguments)
    if given is None or (len(arguments) <= LONGEST_UNBROKEN and "\n" not in arguments):
        return arguments
    return json.dumps(given, indent=2, ensure_ascii=False)


def _parsed(arguments: str) -> dict[str, object] | None:
    if len(arguments) > LONGEST_PARSED:
        return None
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None
