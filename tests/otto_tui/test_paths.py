"""Where Otto's home is."""

from __future__ import annotations

from pathlib import Path

import pytest

from otto_tui.paths import config_file, home_folder, models_folder, workspace_config_file


def test_home_is_a_dot_folder_of_the_person() -> None:
    assert home_folder({"HOME": "/home/nell"}) == Path("/home/nell/.otto")


@pytest.mark.parametrize(
    ("chosen", "home"),
    [("/srv/otto/", "/srv/otto"), ("~/memory", "/home/nell/memory"), ("/srv/x/../otto", "/srv/otto"), (" ", None)],
)
def test_otto_home_moves_it(chosen: str, home: str | None) -> None:
    found = home_folder({"HOME": "/home/nell", "OTTO_HOME": chosen})
    assert found == Path(home or "/home/nell/.otto")


def test_a_relative_home_is_taken_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert home_folder({"OTTO_HOME": "here"}) == tmp_path / "here"


def test_names_of_the_settings_files(tmp_path: Path) -> None:
    assert config_file(tmp_path) == tmp_path / "config.toml"
    assert workspace_config_file(tmp_path) == tmp_path / ".otto" / "config.toml"


def test_weights_are_kept_in_the_cache_folder_of_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert models_folder({}).is_relative_to(tmp_path)
    assert models_folder({"FASTEMBED_CACHE_PATH": "/weights"}) == Path("/weights")
