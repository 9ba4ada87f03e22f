"""What ``otto chat`` prints while a session runs: plain text for people and pipes, or JSON lines for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from otto_tui.shapes import compaction_shape, usage_shape
from otto_tui.terminal import is_terminal, say_aside, say_json_line
from sessions.display import displayable, one_line
from sessions.events import Compacted, Delta, Evicted, Notice, Said, SessionEvent, ShellRan, ToolUsed, TurnDone

SUMMARY_LENGTH = 200


class ChatOutput(Protocol):
    """Prints a session's events, and how a turn ended."""

    def event(self, event: SessionEvent) -> None:
        """Print what happened. Raises OSError when the output cannot be written."""

    def end_of_turn(self, session_id: str, done: TurnDone) -> None:
        """Print the last of a turn."""


class Guarded:
    """Takes a session's events to an output. When that can no longer be written, it stops the turn and keeps why."""

    def __init__(self, output: ChatOutput, stop: Callable[[], None]) -> None:
        self._output = output
        self._stop = stop
        self.failure: OSError | None = None
        self.turns = 0
        """How often the person's words were put on disk."""

    def __call__(self, event: SessionEvent) -> None:
        self.turns += isinstance(event, Said)
        if self.failure is not None:
            return
        try:
            self._output.event(event)
        except OSError as error:
            self.failure = error
            self._stop()


class PlainOutput:
    """The reply on standard output as it comes; all else on standard error, in words."""

    def __init__(self, *, raw: bool, talkative: bool) -> None:
        """``raw`` passes control characters on, but never to a terminal. ``talkative`` also tells of the memory."""
        self._raw = raw and not is_terminal(sys.stdout)
        self._talkative = talkative
        self._ends_in_newline = True

    def event(self, event: SessionEvent) -> None:
        match event:
            case Delta():
                self._write(event.text)
            case Notice():
                self._aside(f"Note: {event.text}")
            case ToolUsed() if self._talkative:
                self._aside(f"{_used(event)}: {one_line(event.summary, SUMMARY_LENGTH)}")
            case ShellRan():
                self._write(event.event.text)
                self._end_line()
            case Evicted() if self._talkative:
                self._aside(
                    f"Memory: {event.calls} tool results were cut to a line each, {event.chars_before:,} to"
                    f" {event.chars_after:,} characters. The tape has all of them."
                )
            case Compacted() if self._talkative:
                done = event.compaction
                self._aside(
                    f"Memory: compaction {done.generation} made {done.bullets_out} bullets of {done.items_in} items,"
                    f" {done.tokens_before} to {done.tokens_after} tokens, by {done.made_by}."
                )

    def end_of_turn(self, session_id: str, done: TurnDone) -> None:
        self._end_line()

    def _write(self, text: str) -> None:
        shown = text if self._raw else displayable(text)
        if not shown:
            return
        sys.stdout.write(shown)
        sys.stdout.flush()
        self._ends_in_newline = shown.endswith("\n")

    def _aside(self, text: str) -> None:
        self._end_line()
        say_aside(text)

    def _end_line(self) -> None:
        if not self._ends_in_newline:
            self._write("\n")


def _used(event: ToolUsed) -> str:
    return f"Used {one_line(event.name, 60)}" if event.ok else f"Failed with {one_line(event.name, 60)}"


class JsonOutput:
    """A JSON object a line: ``delta``, ``tool``, ``shell``, ``compaction``, ``error``, and ``turn`` last."""

    def event(self, event: SessionEvent) -> None:
        match event:
            case Delta():
                say_json_line({"type": "delta", "text": event.text})
            case ToolUsed():
                say_json_line(
                    {
                        "type": "tool",
                        "name": event.name,
                        "arguments": event.arguments,
                        "summary": event.summary,
                        "ok": event.ok,
                        "size": event.size,
                    }
                )
            case ShellRan():
                meta = event.event.meta
                ran = {"command": meta.get("command"), "exit": meta.get("exit"), "ok": meta.get("ok")}
                say_json_line({"type": "shell", **ran, "text": event.event.text})
            case Compacted():
                say_json_line({"type": "compaction", **compaction_shape(event.compaction)})
            case Notice():
                say_aside(f"Note: {event.text}")

    def end_of_turn(self, session_id: str, done: TurnDone) -> None:
        said = {
            "session": session_id,
            "seq": done.event.seq if done.event else None,
            "text": done.event.text if done.event else "",
        }
        if done.error is not None:
            say_json_line({"type": "error", "message": done.error, **said})
            return
        usage = usage_shape(done.prompt_tokens, done.completion_tokens, done.cost)
        say_json_line({"type": "turn", **said, "usage": usage, "stopped": done.stopped})
