"""``otto doctor``: is everything there that Otto needs, and where is it? Keys are named, never shown."""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from memory.errors import OttoError
from otto_tui import __version__
from otto_tui.paths import config_file, home_folder, logs_folder, models_folder, tapes_folder
from otto_tui.prepared import Prepared
from otto_tui.terminal import is_terminal
from otto_tui.vendors import found_keys
from sessions.options import OFFLINE, Options
from sessions.vendors import VENDORS, find_target

State = Literal["ok", "note", "broken"]

PACKAGES = ("textual", "litellm", "fastembed", "onnxruntime", "numpy", "tiktoken", "sqlite-utils", "pydantic-settings")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    about: str
    """``version``, ``key``, ``model``, ``server``, ``embedder``, ``path``, ``sqlite``, ``terminal`` or ``config``."""
    name: str
    text: str
    state: State = "ok"


async def examine(prepared: Prepared) -> list[Finding]:
    """Look at everything. Asks the servers that are named or usual on this machine, a second each at most."""
    from otto_tui.doctor_embedder import embedder_finding
    from otto_tui.doctor_servers import server_findings

    environ = prepared.options.environ
    return [
        *_versions(),
        *_keys(environ),
        *_models(prepared),
        *await server_findings(prepared),
        await embedder_finding(prepared.options),
        *_paths(environ),
        _full_text_search(),
        *_terminal(environ),
        *(Finding("config", "notice", sentence, "note") for sentence in prepared.notices),
    ]


def findings_shape(findings: list[Finding]) -> dict[str, Any]:
    """``otto doctor --json``."""
    return {
        "ok": is_well(findings),
        "findings": [
            {"about": finding.about, "name": finding.name, "state": finding.state, "text": finding.text}
            for finding in findings
        ],
        "keys": [finding.name for finding in findings if finding.about == "key"],
    }


def is_well(findings: list[Finding]) -> bool:
    """False when something is broken."""
    return all(finding.state != "broken" for finding in findings)


def _versions() -> Iterator[Finding]:
    yield Finding("version", "otto", __version__)
    python = platform.python_version()
    yield Finding("version", "python", python, "ok" if sys.version_info >= (3, 11) else "broken")
    for package in PACKAGES:
        try:
            yield Finding("version", package, version(package))
        except PackageNotFoundError:
            yield Finding("version", package, "not installed; install Otto again", "broken")


def _keys(environ: Mapping[str, str]) -> Iterator[Finding]:
    for vendor in VENDORS.values():
        for name in found_keys(environ, vendor):
            yield Finding("key", name, f"set, for {vendor.label}")


def _models(prepared: Prepared) -> Iterator[Finding]:
    options = prepared.options
    chosen = "chosen by Otto, since none is named" if prepared.chosen_by_otto else "named by you"
    yield _model("chat", options.chat, f"{options.chat}, {chosen}", options)
    for seat in ("summarize", "observe", "reflect", "drop"):
        named: str | None = getattr(options, seat)
        model = named or options.chat
        yield _model(seat, model, model if named else f"{model}, as for chat", options)


def _model(seat: str, name: str, text: str, options: Options) -> Finding:
    """Broken where the key is missing, or where the name or its address makes no sense."""
    if name == OFFLINE:
        return Finding("model", seat, text)
    try:
        problem: OttoError | None = find_target(name, options).problem
    except OttoError as error:
        problem = error
    return Finding("model", seat, text) if problem is None else Finding("model", seat, f"{name}: {problem}", "broken")


def _paths(environ: Mapping[str, str]) -> Iterator[Finding]:
    home = home_folder(environ)
    yield _folder(home, "home")
    for name, path in (
        ("config", config_file(home)),
        ("list of sessions", home / "sessions.db"),
        ("sessions", tapes_folder(home)),
        ("logs", logs_folder(home)),
    ):
        yield _private(path, name)
    yield Finding("path", "model weights", str(models_folder(environ)))


def _folder(home: Path, name: str) -> Finding:
    if home.exists():
        if not home.is_dir():
            return Finding("path", name, f"{home} is not a folder", "broken")
        if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
            return Finding("path", name, f"{home} cannot be written; nothing can be kept", "broken")
        return _private(home, name)
    above = next(folder for folder in home.parents if folder.exists())
    if not os.access(above, os.W_OK | os.X_OK):
        return Finding("path", name, f"{home} cannot be made, since {above} cannot be written", "broken")
    return Finding("path", name, f"{home}, made when first needed")


def _private(path: Path, name: str) -> Finding:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Finding("path", name, f"{path}, not there yet")
    except OSError as error:
        return Finding("path", name, f"{path} cannot be looked at: {error.strerror}", "broken")
    if stat.S_IMODE(mode) & 0o077:
        wanted = "700" if stat.S_ISDIR(mode) else "600"
        return Finding("path", name, f"{path} is open to other users: chmod {wanted} {path}", "note")
    return Finding("path", name, str(path))


def _full_text_search() -> Finding:
    try:
        with sqlite3.connect(":memory:") as db:
            db.execute("CREATE VIRTUAL TABLE t USING fts5(words)")
    except sqlite3.Error:
        return Finding("sqlite", "full text search", f"SQLite {sqlite3.sqlite_version} comes without FTS5", "broken")
    return Finding("sqlite", "full text search", f"SQLite {sqlite3.sqlite_version} with FTS5")


def _terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    term = environ.get("TERM", "")
    dumb = term in ("", "dumb")
    yield Finding(
        "terminal",
        "TERM",
        f"{term or 'not set'}{'; use otto chat, the screen needs more' if dumb else ''}",
        "note" if dumb else "ok",
    )
    yield Finding("terminal", "is one", "yes" if is_terminal(sys.stdout) else "no, the output goes elsewhere")
    yield Finding("terminal", "colours", _colours(environ))
    yield Finding("terminal", "kitty keys", "likely" if _has_kitty_keys(environ) else "not known")
    encoding = getattr(sys.stdout, "encoding", None) or "unknown"
    wide = encoding.lower().replace("-", "") == "utf8"
    yield Finding("terminal", "encoding", encoding, "ok" if wide else "note")


def _colours(environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR"):
        return "off, by NO_COLOR"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "16 million"
    return "256" if "256" in environ.get("TERM", "") else "16, or more than the terminal says"


def _has_kitty_keys(environ: Mapping[str, str]) -> bool:
    program = environ.get("TERM_PROGRAM", "").lower()
    named = environ.get("TERM", "").lower()
    return "KITTY_WINDOW_ID" in environ or any(
        name in program or name in named for name in ("kitty", "ghostty", "wezterm", "foot", "iterm", "rio")
    )
