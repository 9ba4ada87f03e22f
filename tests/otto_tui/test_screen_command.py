"""``otto`` and ``otto tui``: the screen in a real terminal, and back to the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.otto_tui.processes import clean_environ, here, otto
from tests.otto_tui.terminals import typed_into

TERMINAL = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}

QUIT = "\x11"


def in_terminal(home: Path, args: list[str], typed: list[tuple[str, str]], **environ: str) -> tuple[str, int]:
    return typed_into(args, typed, clean_environ(home, **{**TERMINAL, **environ}))


def test_a_first_conversation_and_its_resumption(tmp_path: Path) -> None:
    seen, code = in_terminal(tmp_path, [], [("offline", "hello\r"), ("VENDOR", QUIT)])
    assert code == 0
    (session,) = json.loads(here("sessions", "--json", home=tmp_path).stdout)
    assert (session["title"], session["turns"]) == ("hello", 1)
    assert seen.endswith(f'The session "hello" is kept. Go on with: otto --resume {session["id"]}\n')
    for args in (["--resume", session["id"]], ["-c"], ["tui", "--resume"], ["--resume", "last"]):
        seen, code = in_terminal(tmp_path, args, [("VENDOR", QUIT)])
        assert code == 0
        assert seen.endswith(f"otto --resume {session['id']}\n")


def test_leaving_at_once_leaves_nothing(tmp_path: Path) -> None:
    seen, code = in_terminal(tmp_path / "home", [], [("offline", QUIT)])
    assert code == 0
    assert "Go on with" not in seen
    assert not (tmp_path / "home" / "sessions.db").exists()


def test_what_is_wrong_in_the_settings_is_on_the_screen(tmp_path: Path) -> None:
    _, code = in_terminal(tmp_path, ["tui"], [("X_BUDGET", QUIT)], OTTO_MEMORY__X_BUDGET="many")
    assert code == 0


@pytest.mark.parametrize("args", [[], ["tui"], ["--resume"], ["demo"]])
def test_without_a_terminal_it_says_what_to_do(tmp_path: Path, args: list[str]) -> None:
    done = otto(*args, home=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"Error: The screen needs a terminal, and this is none; use otto chat in a pipe.\n"


def test_a_dumb_terminal(tmp_path: Path) -> None:
    seen, code = in_terminal(tmp_path, [], [], TERM="dumb")
    assert code == 1
    assert seen == "Error: This terminal is too simple for the screen (TERM=dumb); use otto chat.\n"


def test_an_app_that_fails_leaves_a_report_and_no_trace(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import otto_tui.app\n"
        "def fail(self):\n    secret = 'sk-abcdefghijklmnopqr'\n    raise RuntimeError('lost ' + secret)\n"
        "otto_tui.app.OttoApp.on_mount = fail\n"
    )
    seen, code = in_terminal(tmp_path / "home", [], [], PYTHONPATH=f"{broken}:{Path.cwd()}")
    (report,) = (tmp_path / "home" / "logs").iterdir()
    assert code == 1
    assert f"are in {report}" in seen.replace("\n", "")
    assert "Traceback" not in seen
    assert "sk-abcdefghijklmnopqr" not in seen
    assert "RuntimeError: lost [hidden]" in report.read_text()
