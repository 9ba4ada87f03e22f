"""The command line as a whole: exit codes, sentences, and nothing that a terminal would obey."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from memory.errors import OttoError
from otto_tui import __version__
from otto_tui.cli import COMMANDS, cli
from tests.otto_tui.processes import clean_environ, otto


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith("OTTO_") or "_API_" in name:
            monkeypatch.delenv(name)
    monkeypatch.setenv("OTTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    return tmp_path / "home"


def raising(error: BaseException) -> click.Command:
    @click.command("broken")
    def command() -> None:
        raise error

    return command


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, home: Path) -> CliRunner:
    return CliRunner()


def run_raising(runner: CliRunner, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> tuple[int, str, str]:
    monkeypatch.setattr("otto_tui.commands.doctor.command", raising(error))
    done = runner.invoke(cli, ["doctor"])
    return done.exit_code, done.stdout, done.stderr


def test_version_and_both_ways_to_start(tmp_path: Path) -> None:
    done = otto("--version", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"otto {__version__}\n".encode())
    script = Path(sys.executable).parent / "otto"
    if script.exists():
        assert subprocess.run([script, "-V"], capture_output=True, check=True).stdout == done.stdout


def test_help_names_every_command(home: Path) -> None:
    done = CliRunner().invoke(cli, ["--help"])
    assert done.exit_code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps(home: Path, name: str) -> None:
    done = CliRunner().invoke(cli, [name, "--help"])
    assert done.exit_code == 0
    assert done.stdout.startswith(f"Usage: cli {name}")


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"tui", "completion", "chat"}))
def test_every_printing_command_has_json(home: Path, name: str) -> None:
    assert "--json" in CliRunner().invoke(cli, [name, "--help"]).stdout


@pytest.mark.parametrize(
    "args",
    [
        ["nonsense"],
        ["--nonsense"],
        ["chat", "--x-budget", "many", "hi"],
        ["chat", "--x-budget", "0", "hi"],
        ["--y-budget", "-1"],
        ["recall"],
        ["recall", "last"],
        ["recall", "last", "why", "--id", "abc"],
        ["completion", "tcsh"],
        ["--resume", "x", "doctor"],
        ["sessions", "--export", "a", "--delete", "b"],
        ["sessions", "--fork", "a"],
        ["sessions", "--at", "3"],
        ["sessions", "--tape"],
        ["sessions", "--output", "x"],
        ["sessions", "--export", "a", "--format", "markdown", "--tape"],
        ["sessions", "--rename", "a"],
        ["eval-compaction", "--turns", "0"],
        ["eval-compaction", "--policy", "wishful"],
    ],
)
def test_wrong_usage_is_2_and_touches_nothing(home: Path, args: list[str]) -> None:
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "Error: " in done.stderr
    assert not home.exists()


def test_a_policy_by_name_is_the_only_one_measured() -> None:
    args = ["eval-compaction", "--policy", "ledger", "--turns", "120"]
    printed = CliRunner().invoke(cli, args)
    assert printed.exit_code == 0, printed.output
    head, line = printed.stdout.splitlines()
    assert head.split()[:4] == ["policy", "turns", "kept", "compactions"]
    assert line.split()[:3] == ["ledger", "120", "8/8"]
    (row,) = json.loads(CliRunner().invoke(cli, [*args, "--json"]).stdout)
    assert (row["policy"], row["kept"], row["model_calls"]) == ("ledger", 8, 0)
    assert row["worker_tokens"] > row["worker_calls"] > 0


def test_usage_errors_carry_no_control_characters(home: Path) -> None:
    done = CliRunner().invoke(cli, ["non\x1b]52;c;x\x07sense"])
    assert done.exit_code == 2
    assert "\x1b" not in done.stderr
    assert "\x07" not in done.stderr


def test_an_expected_failure_is_one_sentence(failing: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    error = OttoError("The tape is \x1b[31mdamaged.")
    assert run_raising(failing, monkeypatch, error) == (1, "", "Error: The tape is ␛[31mdamaged.\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_ctrl_c_is_130_without_a_word(
    failing: CliRunner, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    code, out, err = run_raising(failing, monkeypatch, error)
    assert (code, out, err.strip()) == (130, "", "")


def test_a_reader_that_has_gone_is_no_news(failing: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_raising(failing, monkeypatch, BrokenPipeError(32, "Broken pipe")) == (1, "", "")


def test_an_unexpected_failure_is_a_sentence_and_a_private_file(
    failing: CliRunner, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2hunter2")
    code, out, err = run_raising(failing, monkeypatch, RuntimeError("lost hunter2hunter2 and sk-abcdefghijklmnop"))
    (file,) = (home / "logs").iterdir()
    assert (code, out) == (1, "")
    assert err == (
        f"Error: Otto stopped on something unexpected (RuntimeError); the details, without your keys, are in {file}.\n"
    )
    report = file.read_text()
    assert "Traceback" in report
    assert "RuntimeError: lost [hidden] and [hidden]" in report
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == home.stat().st_mode & 0o777 == 0o700


def test_an_unexpected_failure_where_nothing_can_be_written(
    failing: CliRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OTTO_HOME", str(tmp_path / "file" / "home"))
    code, out, err = run_raising(failing, monkeypatch, RuntimeError("x"))
    assert (code, out) == (1, "")
    assert err.startswith("Error: Otto stopped on something unexpected (RuntimeError), and no report could be written")


def test_a_folder_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.rmdir({str(gone)!r}); from otto_tui.cli import main; main()", "doctor"],
        cwd=gone,
        env=clean_environ(tmp_path / "home", PYTHONPATH=str(Path.cwd())),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr == b"Error: The folder that you are in no longer exists; change to another one.\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_no_encoding_of_the_terminal_is_too_poor(tmp_path: Path, encoding: str) -> None:
    done = otto(
        "sessions",
        "--export",
        "…\udcff日本",
        home=tmp_path,
        environ={"LC_ALL": "C", "PYTHONIOENCODING": f"{encoding}:strict"},
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr.decode(encoding).startswith("Error: There is no session")


def test_the_budgets_may_stand_before_the_command(home: Path) -> None:
    from otto_tui.commands.flags import given_flags

    context = cli.make_context("otto", ["--x-budget", "50", "--y-budget", "600", "chat", "hi"])
    command = cli.get_command(context, "chat")
    assert command is not None
    inner = command.make_context("chat", ["--x-budget", "70", "-m", "offline", "hi"], parent=context)
    assert given_flags(inner) == {"memory.x_budget": 70, "memory.y_budget": 600, "model.chat": "offline"}


def test_two_crashes_are_two_files(tmp_path: Path) -> None:
    from otto_tui.crash import crash_sentence

    first, second = (crash_sentence(ValueError(word), {"OTTO_HOME": str(tmp_path)}) for word in ("one", "two"))
    assert first != second
    assert len(list((tmp_path / "logs").iterdir())) == 2
