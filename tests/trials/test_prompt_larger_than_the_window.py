"""A model that can read less than Otto has to say to it."""

from __future__ import annotations

from memory.tokens import count_tokens
from tests.trials.machine import Machine
from tests.trials.terminal import ENTER, ESCAPE, F2, QUIT, READY
from tests.vendors import Asked, Failure, Reply

WINDOW = 4096

SYSTEM_PROMPT = "Be careful with the harbour gauge, and say what you are sure of. " * 400

TOO_LONG = "is longer than gpt-4o-mini can read"


def test_one_clear_message_and_no_loop(machine: Machine) -> None:
    vendor = machine.vendor
    vendor.answer("/v1/models", {"data": [{"id": "gpt-4o-mini", "max_model_len": WINDOW}]})
    vendor.reply_with(lambda asked: Failure(400, "too_long") if _tokens(asked) > WINDOW else Reply("Fine."))
    assert count_tokens(SYSTEM_PROMPT) > 5000
    with machine.window(OTTO_MODEL__SYSTEM_PROMPT=SYSTEM_PROMPT) as window:
        window.wait_for(READY)
        window.type("hello", ENTER)
        window.wait_for(TOO_LONG, "ctrl+r asks again", gone=["esc stops"])
        assert window.flat.count(TOO_LONG) == 1
        assert len(vendor.conversations) == 1

        window.type("still here?")
        window.wait_for("▌ still here?")
        window.type(F2)
        window.wait_for("word for word")
        window.type(ESCAPE)
        window.wait_for("▌ still here?")
        window.type(ENTER)
        window.wait_until(lambda: len(vendor.conversations) == 2, "the second request")
        window.wait_for(TOO_LONG, "▌ still here?", gone=["esc stops"])
        assert window.flat.count(TOO_LONG) == 1
        window.type(QUIT)
        assert window.ended() == 0
    assert len(vendor.conversations) == 2
    assert machine.json("verify", "last")["ok"]


def test_a_summariser_that_cannot_read_it_either_is_given_up(machine: Machine) -> None:
    vendor = machine.vendor
    vendor.summarize_with(lambda asked: Failure(400, "too_long"))
    vendor.reply_with(lambda asked: Reply(f"Reply {len(vendor.chats)}: {'the gauge is read every minute ' * 20}"))
    with machine.window("--x-budget", "150", "--y-budget", "400") as window:
        window.wait_for(READY)
        for turn in range(1, 13):
            window.type(f"Question {turn} about the gauge", ENTER)
            window.wait_for(f"Reply {turn}:", gone=["esc stops"])
        window.type(QUIT)
        assert window.ended() == 0
    assert len(vendor.chats) == 12
    assert 1 <= len(vendor.summaries) <= 3
    status = machine.json("status", "last")
    assert status["x"]["tokens"] + status["y"]["tokens"] <= 150 + 400 + 150
    assert machine.json("verify", "last")["ok"]


def _tokens(asked: Asked) -> int:
    return count_tokens(asked.text)
