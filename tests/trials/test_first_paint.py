"""From the shell to the first paint: nothing heavy, no network, and no key lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from tests.otto_tui.processes import clean_environ
from tests.trials.machine import Machine
from tests.trials.terminal import ENTER, QUIT, READY, Terminal
from tests.vendors import LoopbackVendor

HEAVY = {"litellm", "openai", "onnxruntime", "fastembed", "tokenizers", "numpy", "httpx", "pydantic"}

WATCHED = """
import atexit, json, os, sys

calls = []
NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg")
sys.addaudithook(lambda event, args: calls.append(event) if event in NETWORK else None)

def report(name):
    place = os.path.join(os.environ["OTTO_REPORTS"], name)
    if not os.path.exists(place):
        with open(place, "w") as file:
            json.dump({"modules": sorted(sys.modules), "calls": calls}, file)

from textual.drivers.linux_driver import LinuxDriver
write = LinuxDriver.write

def watched(self, data):
    # Its first letter is under the cursor.
    if "rite to the model" in data or "typed ahead" in data:
        report("first paint")
    write(self, data)

LinuxDriver.write = watched
atexit.register(report, "end")
from otto_tui.cli import main
main()
"""
"""Otto, with a look at what is loaded and called by the time that it first paints its prompt, and at its end."""


def test_nothing_heavy_and_no_network_before_the_first_paint(tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    with LoopbackVendor("ollama") as vendor:
        environ = {**clean_environ(tmp_path / "home"), **vendor.environ, "OTTO_REPORTS": str(reports)}
        # Nothing is chosen: neither the model nor how to rank.
        del environ["OTTO_EMBEDDING_MODEL"]
        environ["OLLAMA_HOST"] = f"127.0.0.1:{vendor.port}"
        vendor.say("Hello yourself.")
        with Terminal((), environ, program=(sys.executable, "-c", WATCHED)) as window:
            window.type("typed ahead", ENTER)
            window.wait_for("Hello yourself.", "ollama/", gone=["esc stops"])
            window.type(QUIT)
            assert window.ended() == 0
        assert [request.chat.prompt for request in vendor.chats] == ["typed ahead"]

    first, last = (json.loads((reports / name).read_text()) for name in ("first paint", "end"))
    assert _heavy(first) == set()
    assert first["calls"] == []
    assert {"litellm", "httpx"} <= _heavy(last)
    assert "socket.connect" in last["calls"], "what watches the network sees it"


def test_keys_are_kept_from_the_first_moment_on(machine: Machine) -> None:
    letters = ascii_lowercase + ascii_uppercase
    with machine.window("-m", "offline") as window:
        for letter in letters:
            window.type(letter)
            window.look()
        window.wait_for(READY, letters)


def test_lines_that_came_early_are_not_sent_one_by_one(machine: Machine) -> None:
    with machine.window("-m", "offline") as window:
        window.type("one\rtwo\r")
        window.wait_for(READY, "▌ one ▌ two")
        window.type("three", ENTER)
        window.wait_for("VENDOR")
    assert [message["content"] for message in machine.json("view", "last")][1] == "one\ntwo\nthree"


def _heavy(report: dict[str, Any]) -> set[str]:
    return HEAVY.intersection(report["modules"])
