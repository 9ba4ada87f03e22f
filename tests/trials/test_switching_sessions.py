"""A reply that comes in while the person talks elsewhere."""

from __future__ import annotations

from tests.trials.machine import Machine
from tests.trials.terminal import ENTER, F4, QUIT, READY
from tests.vendors import Reply

LONG = tuple(f"slow{number:02} " for number in range(40))
LISTED = "v Re-embed"
"""What stands at the foot of the list while it takes keys."""

CTRL_N = "\x0e"


def test_each_answer_lands_in_its_own_session(machine: Machine) -> None:
    vendor = machine.vendor
    vendor.script(Reply(pieces=LONG, hold_after=20))
    with machine.window() as window:
        window.wait_for(READY)
        window.type("a long story", ENTER)
        window.wait_for("slow19")
        window.type(CTRL_N)
        window.wait_for("Ask anything", gone=["slow19"])
        vendor.say("Short and quick.")
        window.type("a quick question", ENTER)
        window.wait_for("Short and quick.", gone=["slow"])

        window.type(F4)
        window.wait_for("a long story", "a quick question", LISTED)
        window.type("/", *"long")
        window.wait_for("a long story", gone=["a quick question"])
        window.type(ENTER)
        window.wait_for(LISTED)
        window.type(ENTER)
        window.wait_for("slow19", "esc stops", gone=["Short and quick.", "slow20"])
        vendor.release()
        window.wait_for("slow39", gone=["esc stops"])
        window.type(QUIT)
        assert window.ended() == 0

    sessions = {row["title"]: row["id"] for row in machine.json("sessions")}
    assert _said(machine, sessions["a long story"]) == ["a long story", "".join(LONG)]
    assert _said(machine, sessions["a quick question"]) == ["a quick question", "Short and quick."]
    assert machine.json("verify", "all")["ok"]


def _said(machine: Machine, id: str) -> list[str]:
    return [message["content"] for message in machine.json("view", id) if message["role"] != "system"]
