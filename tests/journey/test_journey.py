"""What a new user does, from the first word to another machine, with each vendor's wire format over real HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journey.talker import question
from tests.vendors.replies import Asked, Reply
from tests.vendors.server import LoopbackVendor

ROOT = Path(__file__).resolve().parent.parent.parent

TURNS = {"openai": 300, "anthropic": 300, "gemini": 300, "ollama": 300}
"""Turns of a journey, with each vendor."""


class Traveller:
    """Runs Otto in processes of its own, under one home."""

    def __init__(self, home: Path, vendor: LoopbackVendor) -> None:
        self.home = home
        self.vendor = vendor
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent),
            "OTTO_HOME": str(home),
            "OTTO_MODEL__CHAT": vendor.model,
            "OTTO_EMBEDDING__MODEL": "none",
            "LANG": "C.UTF-8",
            **vendor.environ,
        }

    def talk(self, first: int, last: int, *, kill_after: int | None = None) -> int:
        """Talk; the number of the last turn that was acknowledged. With ``kill_after``, SIGKILL after that turn."""
        command = [
            sys.executable,
            "-m",
            "tests.journey.talker",
            str(self.home),
            self.vendor.model,
            str(first),
            str(last),
        ]
        acknowledged = first - 1
        with subprocess.Popen(command, env=self.environ, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                assert line.strip().isdigit(), line
                acknowledged = int(line)
                if acknowledged == kill_after:
                    process.send_signal(signal.SIGKILL)
                    break
        return acknowledged

    def otto(self, *arguments: str, home: Path | None = None, code: int = 0) -> str:
        """What ``otto`` prints."""
        environ = self.environ if home is None else {**self.environ, "OTTO_HOME": str(home)}
        done = subprocess.run(
            [sys.executable, "-m", "otto_tui", *arguments],
            env=environ,
            cwd=ROOT,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def json(self, *arguments: str, home: Path | None = None) -> Any:
        return json.loads(self.otto(*arguments, "--json", home=home))


@pytest.fixture(params=sorted(TURNS))
def traveller(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Traveller]:
    with LoopbackVendor(request.param) as vendor:
        vendor.reply_with(_reply)
        yield Traveller(tmp_path / "otto", vendor)


def _reply(asked: Asked) -> Reply:
    number = len(asked.prompt)
    return Reply(f"Written down. The ledger now has a line of {number} characters for it, and the count was checked.")


@pytest.mark.slow
def test_a_long_conversation_survives_a_kill_and_moves_to_another_machine(traveller: Traveller, tmp_path: Path) -> None:
    turns = TURNS[traveller.vendor.vendor]
    acknowledged = traveller.talk(1, turns, kill_after=turns // 2)
    _everything_acknowledged_is_there_once(traveller, acknowledged)

    told = traveller.json("view", "last")
    resumed_from = _turns(traveller)
    acknowledged = traveller.talk(resumed_from + 1, turns)
    assert acknowledged == turns
    assert told[0]["role"] == "system"

    status = traveller.json("status", "last")
    assert status["turns"] == turns
    assert status["generation"] >= 10
    assert status["x"]["tokens"] <= status["x"]["budget"] + 100
    assert status["y"]["tokens"] <= status["y"]["budget"]

    recalled = traveller.json("recall", "last", "What is the vault code and who may use it?")
    assert any(item["text"] == question(3) for item in recalled["items"])
    id = next(item["id"] for item in recalled["items"] if item["text"] == question(3))
    assert question(3) in traveller.otto("recall", "last", "--id", id)

    assert traveller.json("verify", "all")["ok"]
    _the_same_on_another_machine(traveller, tmp_path / "elsewhere", tmp_path)


def _everything_acknowledged_is_there_once(traveller: Traveller, acknowledged: int) -> None:
    assert traveller.json("verify", "last")["ok"]
    whole = traveller.otto("sessions", "--export", "last", "--tape", "--output", "-")
    said = [event["text"] for event in json.loads(whole)["tape"]["events"] if event["role"] == "user"]
    assert said[:acknowledged] == [question(number) for number in range(1, acknowledged + 1)]
    assert len(said) <= acknowledged + 1


def _turns(traveller: Traveller) -> int:
    return int(traveller.json("status", "last")["turns"])


def _the_same_on_another_machine(traveller: Traveller, elsewhere: Path, folder: Path) -> None:
    for flags in ((), ("--tape",)):
        here = folder / f"here{len(flags)}.json"
        there = folder / f"there{len(flags)}.json"
        home = elsewhere / f"home{len(flags)}"
        traveller.otto("sessions", "--export", "last", *flags, "--output", str(here))
        traveller.otto("sessions", "--import", str(here), home=home)
        traveller.otto("sessions", "--export", "last", *flags, "--output", str(there), home=home)
        assert there.read_bytes() == here.read_bytes()
        assert traveller.json("verify", "all", home=home)["ok"]
        assert traveller.json("view", "last", home=home) == traveller.json("view", "last")
        recalled = traveller.json("recall", "last", "vault code", home=home)
        assert any(item["text"] == question(3) for item in recalled["items"])
