"""An export says all that was said, whatever the memory has made of it since."""

from __future__ import annotations

import json
from pathlib import Path

from sessions.library import Library
from tests.trials.machine import Machine
from tests.trials.terminal import ENTER, F7, QUIT, READY
from tests.vendors import Reply

TURNS = 300

SMALL = ("--x-budget", "300", "--y-budget", "900")


async def test_the_transcript_is_the_same_after_compaction_quit_and_resume(machine: Machine, tmp_path: Path) -> None:
    await _talk(machine)
    before = _exported(machine, tmp_path / "before")

    with machine.window("-c", *SMALL) as window:
        window.wait_for(READY, f"Question {TURNS}:")
        window.type(F7)
        window.wait_until(lambda: machine.json("status", "last")["generation"] >= 1, "a compaction")
        window.wait_for(READY, gone=["compacting", "esc stops"])
        window.type("/status", ENTER)
        window.wait_for(f"{TURNS} turns")
        window.type(QUIT)
        assert window.ended() == 0
    status = machine.json("status", "last")
    assert status["generation"] >= 1
    assert status["turns"] == TURNS

    with machine.window("-c", *SMALL) as window:
        window.wait_for(READY, f"Question {TURNS}:")
        assert _exported(machine, tmp_path / "while open") == before
        window.type(QUIT)
        assert window.ended() == 0
    after = _exported(machine, tmp_path / "after")
    assert after == before
    events, markdown = after
    assert events.count(b"\n") == 2 * TURNS
    assert markdown.count(b"\n## ") == 2 * TURNS


async def _talk(machine: Machine) -> None:
    machine.vendor.reply_with(lambda asked: Reply(f"The answer to {len(asked.prompt)} letters: it was read twice."))
    library = Library(machine.vendor.options(machine.home, embedding="none"))
    session = await library.new("/work/harbour")
    for turn in range(1, TURNS + 1):
        done = await session.send(f"Question {turn}: what does gauge {turn * 7} show?")
        assert done.error is None
    await session.close()


def _exported(machine: Machine, folder: Path) -> tuple[bytes, bytes]:
    """The transcript parts of the exports as JSON and as Markdown, byte for byte."""
    folder.mkdir()
    for format, more in (("json", ("--tape",)), ("markdown", ())):
        machine.otto("sessions", "--export", "last", "--format", format, *more, "-o", str(folder / format))
    whole = (folder / "json").read_bytes()
    events = whole[whole.index(b'"events": [\n') : whole.index(b'"ledger": ')]
    assert len(json.loads(whole)["tape"]["events"]) == 2 * TURNS
    transcript, _, memory = (folder / "markdown").read_bytes().partition(b"\n# Memory\n")
    return events[: events.rindex(b"\n]")], transcript[: transcript.rindex(b"\n\n_")] if memory else transcript.rstrip()
