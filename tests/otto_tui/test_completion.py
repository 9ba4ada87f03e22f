"""Completion in the shells themselves, where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.otto_tui.processes import clean_environ, here
from tests.sessions.made_sessions import conversation, made, options_for


@pytest.fixture
def home(tmp_path: Path) -> Path:
    options = options_for(tmp_path / "home")
    made(options, "20260302-beans1", conversation(1), title='Beans: "a", \x1b[2J b')
    made(options, "20260303-kale22", conversation(1), title="Kale")
    return options.home


def completed(home: Path, words: str, index: int) -> list[str]:
    """What Otto offers bash for the word at ``index``."""
    done = here(home=home, environ={"_OTTO_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(index)})
    return [line.split(",", 1)[1] for line in done.stdout.decode().splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(tmp_path: Path, shell: str) -> None:
    done = here("completion", shell, home=tmp_path)
    assert done.returncode == 0
    assert f"_OTTO_COMPLETE={shell}_complete" in done.stdout.decode()


def test_commands(home: Path) -> None:
    assert completed(home, "otto se", 1) == ["sessions"]
    assert "chat" in completed(home, "otto ", 1)


@pytest.mark.parametrize(
    "words",
    [
        "otto status 2026",
        "otto view 2026",
        "otto chat --session 2026",
        "otto sessions --export 2026",
        "otto tui -c 2026",
    ],
)
def test_session_ids_last_used_first(home: Path, words: str) -> None:
    assert completed(home, words, len(words.split()) - 1) == ["20260303-kale22", "20260302-beans1"]


def test_all_where_all_is_meant(home: Path) -> None:
    assert completed(home, "otto verify a", 2) == ["all"]
    assert completed(home, "otto status a", 2) == []


def test_the_root_option_too(home: Path) -> None:
    assert completed(home, "otto --resume 20260302", 2) == ["20260302-beans1"]


def test_titles_are_safe_to_show(home: Path) -> None:
    environ = {"_OTTO_COMPLETE": "fish_complete", "COMP_WORDS": "otto status ", "COMP_CWORD": ""}
    shown = here(home=home, environ=environ).stdout.decode()
    assert "Beans" in shown
    assert "\x1b" not in shown


def test_a_home_that_is_damaged_completes_nothing(home: Path) -> None:
    (home / "sessions.db").write_bytes(b"no database" * 500)
    assert completed(home, "otto status 2026", 2) in ([], ["20260303-kale22", "20260302-beans1"])


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_itself(home: Path, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "otto"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m otto_tui "$@"\n')
    command.chmod(0o755)
    script = (
        'eval "$(otto completion bash)"\n'
        "COMP_WORDS=(otto status 20260302)\nCOMP_CWORD=2\n_otto_completion otto\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{command.parent}:{os.environ['PATH']}"
    environ = clean_environ(home, PATH=path, PYTHONPATH=str(Path.cwd()))
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().split() == ["20260302-beans1"]
