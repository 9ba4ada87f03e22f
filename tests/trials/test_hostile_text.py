"""Text from outside is shown as it is, in the window and in every command, and commands nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trials.hostile import ESCAPES, MARKUP, PASTED, PASTED_SHOWN, SHOWN, commands_in
from tests.trials.machine import Machine
from tests.trials.terminal import ENTER, ESCAPE, F2, F4, F7, QUIT, READY, Terminal
from tests.vendors import Failure, LoopbackVendor, Reply

MODEL = "openai/[/m] [bold]m \x1b]0;owned\x07[0]"
MODEL_SHOWN = "openai/[/m] [bold]m ␛]0;owned␇[0]"

PROMPT = f"[/t] [bold]t[0] {PASTED} asked"
TITLE_SHOWN = "[/t] [bold]t[0]"

REPLY = f"answered {MARKUP} {ESCAPES} to the end"

FAILURE = f"refused [/e] [bold]e[0] {ESCAPES}"

SMALL = ("--x-budget", "100", "--y-budget", "2000")


class Trap(Machine):
    """A machine on which everything that can have a name has a bad one."""

    def __init__(self, folder: Path, vendor: LoopbackVendor) -> None:
        super().__init__(folder / "home", vendor)
        # The path of it has "[/bold]" in it.
        self.folder = folder / "[" / "bold] \x1b]0;owned\x07[0]"
        self.folder.mkdir(parents=True)

    def environ(self, **more: str) -> dict[str, str]:
        return super().environ(OTTO_MODEL__CHAT=MODEL, PYTHONPATH=str(Path.cwd()), **more)

    def window(self, *args: str, **environ: str) -> Terminal:
        return Terminal(args, self.environ(**environ), cwd=self.folder)


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Trap]:
    with LoopbackVendor("openai") as vendor:
        vendor.reply_with(lambda asked: Reply(REPLY))
        yield Trap(tmp_path, vendor)


def test_in_the_window(trap: Trap) -> None:
    with trap.window(*SMALL) as window:
        window.wait_for(READY, MODEL_SHOWN)
        window.paste(PROMPT)
        window.type(ENTER)
        window.wait_for("answered", *MARKUP.split(), *SHOWN.split(), "to the end", gone=["esc stops"])
        window.wait_for(TITLE_SHOWN, *PASTED_SHOWN.split(), "asked")

        trap.vendor.script(Failure(400, message=FAILURE))
        window.type("again", ENTER)
        window.wait_for("refused", "[/e]", "[bold]e[0]", "␛]52;c;cHduZWQ=␇", "ctrl+r asks again")

        window.type("/rename [/n] [bold]n[0]", ENTER)
        window.wait_for("[/n] [bold]n[0] ")
        window.type("and now?", ENTER)
        window.wait_for("and now?", gone=["esc stops", "ctrl+r asks again"])
        window.type(F7)
        window.wait_until(lambda: trap.json("status", "last")["generation"] >= 1, "a compaction")

        window.type(F2)
        window.wait_for("word for word", "[bold]")
        window.type(ESCAPE)
        window.wait_for(READY)
        window.type("/recall answered", ENTER)
        window.wait_for("[Recall]", "[/]", "[bold]b[/bold]")
        window.type(ESCAPE)
        window.wait_for(READY)

        window.type("/export out[0].md", ENTER)
        window.wait_for("Exported to")
        window.type(F4)
        window.wait_for("[/n] [bold]n[0] ", "v Re-embed")
        window.type(ESCAPE)
        window.wait_for(READY)
        window.type(QUIT)
        assert window.ended() == 0
        assert commands_in(window.sent) == set()
        assert "owned" not in window.title
    assert (trap.folder / "out[0].md").exists()


def test_in_every_command(trap: Trap) -> None:
    small = ("--x-budget", "100", "--y-budget", "150")
    shown = (*MARKUP.split(), *SHOWN.split())
    assert _lacks(_printed(trap, "chat", f"{TITLE_SHOWN} asked", *small), *shown) == set()
    trap.vendor.script(Failure(400, message=FAILURE))
    refused = _printed(trap, "chat", "again", "--session", "last", *small, code=1)
    assert _lacks(refused, "refused", "[/e]", "[bold]e[0]", "␛]52;c;cHduZWQ=␇") == set()
    for more in ("and now?", "and then?"):
        _printed(trap, "chat", more, "--session", "last", *small)
    assert trap.json("status", "last")["generation"] >= 1

    assert _lacks(_printed(trap, "sessions"), *TITLE_SHOWN.split(), "/[/bold]", "␛]0;owned␇[0]") == set()
    assert _lacks(_printed(trap, "view", "last"), *shown) == set()
    assert _lacks(_printed(trap, "recall", "last", "who answered?"), *shown, *MODEL_SHOWN.split()) == set()
    assert _lacks(_printed(trap, "doctor", code=None), *MODEL_SHOWN.split()) == set()
    markdown = ("sessions", "--export", "last", "--format", "markdown", "--output")
    assert _lacks(_printed(trap, *markdown, "-"), *shown, "openai/", "asked") == set()

    named = trap.folder / "out[0] \x1b]0;owned\x07.md"
    assert "out[0]␛]0;owned␇.md" in "".join(_printed(trap, *markdown, str(named)).split())
    # A file has the words as they were said, but for what no file of text can hold.
    assert REPLY.replace("\ud800", "\ufffd").replace("\0", "␀") in named.read_bytes().decode()
    renamed = _printed(trap, "sessions", "--rename", "last", "[/n] \x1b]0;owned\x07[0]")
    assert 'is now called "[/n] ␛]0;owned␇[0]".' in renamed
    assert _lacks(_printed(trap, "sessions"), "[/n]", "␛]0;owned␇[0]") == set()
    assert trap.json("verify", "last")["ok"]


def _printed(trap: Trap, *args: str, code: int | None = 0) -> str:
    """What a terminal is sent by ``otto ARGS``: text, and nothing that it obeys."""
    with trap.window(*args) as window:
        ended = window.ended()
        assert code is None or ended == code, window.text
        assert b"\x1b" not in window.sent
        assert commands_in(window.sent) == set()
        return window.sent.decode()


def _lacks(printed: str, *words: str) -> set[str]:
    return {word for word in words if word not in printed}
