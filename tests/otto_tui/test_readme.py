"""README.md says what there is: every command, option and setting, as the code has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otto_tui.cli import COMMANDS
from tests.otto_tui.readme_tables import option_tables, settings_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

RUN = "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/otto"
TEST = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/pytest -n auto"


@pytest.mark.parametrize("name", sorted(set(option_tables()) - {"tui"}))
def test_every_option_is_there(name: str) -> None:
    assert option_tables()[name] in README, "out of date: python -m tests.otto_tui.readme_tables"


def test_the_screens_own_options_are_there() -> None:
    own = set(option_tables()["tui"].splitlines()) - set(option_tables()["otto"].splitlines())
    assert own
    assert all(row in README for row in own)


def test_every_setting_is_there() -> None:
    assert settings_table() in README, "out of date: python -m tests.otto_tui.readme_tables"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_told_of(name: str) -> None:
    assert f"`otto {name}" in README


def test_the_first_two_commands_are_to_run_it_and_to_test_it() -> None:
    commands = re.findall(r"^    (python3 .*)$", README, re.MULTILINE)
    assert commands == [RUN, TEST]


def test_the_tests_run_in_ci_as_the_readme_says() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for part in TEST.split(" && "):
        assert part in script


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_change_log_has_this_version() -> None:
    from otto_tui import __version__

    assert f"\n## [{__version__}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_package_has_this_version() -> None:
    import tomllib

    from otto_tui import __version__

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
