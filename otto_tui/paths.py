"""Where Otto keeps things. ``sessions/private_files.py`` makes folders 0700 and files 0600."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def home_folder(environ: Mapping[str, str]) -> Path:
    """``OTTO_HOME``, else ``~/.otto``. It need not exist yet."""
    chosen = environ.get("OTTO_HOME", "").strip()
    if chosen:
        return Path(os.path.normpath(Path(_with_user(chosen, environ)).absolute()))
    return Path(_with_user("~", environ)) / ".otto"


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


def _with_user(path: str, environ: Mapping[str, str]) -> str:
    """Put the home folder of ``environ`` for a leading ``~``."""
    home = environ.get("HOME")
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return str(Path(path).expanduser())
