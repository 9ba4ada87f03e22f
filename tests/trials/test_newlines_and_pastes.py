"""What a terminal sends for new lines and for a paste, with its keys as they come."""

from __future__ import annotations

from tests.trials.machine import Machine
from tests.trials.terminal import ALT_ENTER, ENTER, NEWLINE, QUIT

SHIFT_ENTER_KITTY = "\x1b[13;2u"
SHIFT_ENTER_XTERM = "\x1b[27;2;13~"
SHIFT_ENTER_PLAIN = ENTER
"""tmux and most terminals, as they come: no different from Enter."""

ROOMY = {"OTTO_MEMORY__X_BUDGET": "1000000", "OTTO_MEMORY__SCALE_TO_WINDOW": "false"}
"""So that the model reads the paste whole; else it would read an excerpt that says so."""

PASTE = "".join(f"line {number:05}: {'the harbour gauge is read ' * 2}\n" for number in range(20_000))


def test_new_lines_and_a_paste_of_a_megabyte(machine: Machine) -> None:
    vendor = machine.vendor
    with machine.window(**ROOMY) as window:
        window.wait_for("enter sends", "ctrl+j", "new line")
        window.type(*"one", NEWLINE, *"two", ALT_ENTER, *"three", SHIFT_ENTER_KITTY, *"four", SHIFT_ENTER_XTERM)
        window.type(*"five\\", ENTER, *"six")
        window.wait_for("one ▌ two ▌ three ▌ four ▌ five ▌ six")
        assert not vendor.conversations
        window.type(SHIFT_ENTER_PLAIN)
        window.wait_for("Reply 1", gone=["esc stops"])
        assert vendor.chats[-1].chat.prompt == "one\ntwo\nthree\nfour\nfive\nsix"

        assert len(PASTE) > 1_000_000
        window.type(*"look: ")
        window.paste(PASTE)
        window.wait_for("look: [Pasted #1: 20,000 lines]")
        window.type(*"and?")
        window.wait_for("look: [Pasted #1: 20,000 lines]and?")
        assert window.text.count("Pasted #") == 1
        assert "harbour" not in window.text
        assert len(vendor.conversations) == 1

        window.type(ENTER)
        window.wait_for("Reply 2")
        assert vendor.chats[-1].chat.prompt == f"look: {PASTE}and?"
        window.type(QUIT)
        assert window.ended() == 0
