"""A process that is killed in the middle of a reply, and the next start."""

from __future__ import annotations

from tests.trials.machine import Machine
from tests.trials.terminal import ENTER, QUIT, READY
from tests.vendors import Reply

CHUNKS = tuple(f"word{number:03} " for number in range(200))
KILLED_AT = 100


def test_what_has_come_is_there_after_kill_9_and_a_retry_brings_the_rest(machine: Machine) -> None:
    machine.vendor.script(Reply(pieces=CHUNKS, hold_after=KILLED_AT))
    with machine.window() as window:
        window.wait_for(READY)
        window.type("count to two hundred", ENTER)
        window.wait_for("word099")
        # Also the words after which the vendor paused are on disk.
        window.wait_until(lambda: "word099" in machine.drafted(), "the draft on disk")
        window.kill()
    come = "".join(CHUNKS[:KILLED_AT])

    with machine.window("-c") as window:
        window.wait_for("count to two hundred", come, "interrupted here", "ctrl+r asks again")
        machine.vendor.script(Reply(pieces=CHUNKS))
        window.type("\x12")
        window.wait_for("word199", gone=["ctrl+r asks again"])
        window.type(QUIT)
        assert window.ended() == 0

    assert [request.chat.prompt for request in machine.vendor.chats] == ["count to two hundred"] * 2
    events = machine.json("view", "last")[1:]
    assert events[0] == {"role": "user", "content": "count to two hundred"}
    assert [said["content"].strip() for said in events if said["role"] == "assistant"][-1] == "".join(CHUNKS).strip()
    exported = machine.otto("sessions", "--export", "last", "--format", "markdown", "-o", "-")
    assert exported.count("count to two hundred") == 2, "the title and the turn, once each"
    assert f"{come}\n" in exported
    assert machine.json("verify", "all")["ok"]
