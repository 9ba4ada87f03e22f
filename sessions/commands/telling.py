"""What became of a command, in words: for the model, on the tape, and in one line."""

from __future__ import annotations

from sessions.commands.shell import Ran
from sessions.display import one_line
from sessions.workspace.sizes import size_text

LONGEST_COMMAND = 80
"""Characters of a command that its one line shows."""


def told(ran: Ran, timeout: float) -> str:
    """The output, and below it how the command ended wherever that is more than well."""
    notes = []
    if ran.ending == "timeout":
        notes.append(f"stopped after {timeout:g} s")
    elif ran.ending == "stopped":
        notes.append("stopped by the person")
    elif ran.exit != 0:
        notes.append(exit_text(ran.exit))
    if ran.exit is None:
        notes.append("it could not be ended")
    if ran.lingers:
        notes.append("something that it started still runs; what that prints is not kept")
    if not ran.output.strip():
        notes.insert(0, "no output")
    note = f"[{'; '.join(notes)}]" if notes else ""
    return "\n".join(part for part in (ran.output.rstrip("\n") if ran.output.strip() else "", note) if part)


def summary_of(command: str, ran: Ran, timeout: float) -> str:
    """One line: ``ran "pytest -q", exit 1, 3.2 s, 4.1 KB``."""
    endings = {"exited": exit_text(ran.exit), "timeout": f"stopped after {timeout:g} s", "stopped": "stopped"}
    return (
        f'ran "{one_line(command, LONGEST_COMMAND)}", {endings[ran.ending]}, {ran.seconds:.1f} s, {size_text(ran.size)}'
    )


def exit_text(status: int | None) -> str:
    """``exit 1``, or the signal that ended it."""
    if status is None:
        return "not ended"
    return f"exit {status}" if status >= 0 else f"ended by signal {-status}"
