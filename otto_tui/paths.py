"""Where Otto keeps things. ``sessions/private_files.py`` makes folders 0700 and files 0600."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from memory.errors import OttoError


def home_folder(environ: Mapping[str, str]) -> Path:
    """``OTTO_HOME``, else ``~/.otto``. It need not exist yet.

    Raises:
        OttoError: neither is known.
    """
    chosen = environ.get("OTTO_HOME", "").strip()
    if chosen:
        return Path(os.path.normpath(from_home(chosen, environ).absolute()))
    try:
        return Path(environ.get("HOME", "").strip() or Path.home()) / ".otto"
    except RuntimeError as error:
        raise OttoError("You have no home folder here, so Otto has no place; set OTTO_HOME to a folder.") from error


def config_file(home: Path) -> Path:
    """The person's own settings."""
    return home / "config.toml"


def workspace_config_file(workspace: Path) -> Path:
    """The settings that a project's folder brings along."""
    return workspace / ".otto" / "config.toml"


def logs_folder(home: Path) -> Path:
    """Where crash files and the debug log go."""
    return home / "logs"


def tapes_folder(home: Path) -> Path:
    """One file a session."""
    return home / "memory"


def models_folder(environ: Mapping[str, str]) -> Path:
    """Where embedding weights are kept: the platform's cache folder, unless fastembed's own variable names one."""
    from memory.model_files import default_cache

    return default_cache(environ)


def from_home(path: str, environ: Mapping[str, str]) -> Path:
    """``path`` with the person's home folder for a leading ``~``; other people's homes are not looked up."""
    home = environ.get("HOME", "").strip()
    return Path(home + path[1:]) if home and (path == "~" or path.startswith("~/")) else Path(path)
