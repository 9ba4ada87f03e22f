"""One session, open in two terminals at once."""

from __future__ import annotations

import sqlite3

from tests.trials.machine import Machine
from tests.trials.terminal import ENTER, QUIT, READY

ELSEWHERE = "This session is open in another Otto (process"


def test_the_second_one_reads_only_and_says_so(machine: Machine) -> None:
    vendor = machine.vendor
    with machine.window() as first:
        first.wait_for(READY)
        vendor.say("Hello, first.")
        first.type("one", ENTER)
        first.wait_for("Hello, first.", gone=["esc stops"])

        with machine.window("-c") as second:
            second.wait_for("Hello, first.", ELSEWHERE, "read-only: ", READY)
            assert second.flat.count(ELSEWHERE) == 1
            second.type("two from the second", ENTER)
            second.wait_for("makes a copy to go on in.", "▌ two from the second")
            assert len(vendor.chats) == 1

            vendor.say("Hello again, first.")
            first.type("two from the first", ENTER)
            first.wait_for("Hello again, first.", gone=["esc stops"])
            second.type(QUIT)
            assert second.ended() == 0
            assert b"Traceback" not in second.sent

        vendor.say("Still here.")
        first.type("three", ENTER)
        first.wait_for("Still here.", gone=["esc stops"])
        first.type(QUIT)
        assert first.ended() == 0
        assert b"Traceback" not in first.sent

    said = [message["content"] for message in machine.json("view", "last") if message["role"] == "user"]
    assert said == ["one", "two from the first", "three"]
    assert machine.json("verify", "all")["ok"]
    with sqlite3.connect(machine.tape()) as tape:
        assert tape.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_fork_goes_on_where_the_other_one_is_read_only(machine: Machine) -> None:
    vendor = machine.vendor
    with machine.window() as first, machine.window() as second:
        first.wait_for(READY)
        second.wait_for(READY)
        vendor.say("Hello, first.")
        first.type("one", ENTER)
        first.wait_for("Hello, first.", gone=["esc stops"])
        (session,) = machine.json("sessions")
        second.type(f"/resume {session['id']}", ENTER)
        second.wait_for("Hello, first.", "read-only: ")
        second.type("/fork", ENTER)
        second.wait_for("This is the fork.", gone=["read-only"])
        vendor.say("Hello, second.")
        second.type("two", ENTER)
        second.wait_for("Hello, second.", gone=["esc stops"])
    turns = {row["parent"]: row["turns"] for row in machine.json("sessions")}
    assert turns == {None: 1, session["id"]: 2}
