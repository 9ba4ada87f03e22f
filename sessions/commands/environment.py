"""Which variables a command gets. No command gets the keys of models' vendors.

A model's command gets a short list of variables that programs need in order to run at all: no token, no password and no
agent that would sign in for the person. The person's own command gets their environment, since ``!gh pr list`` is
theirs to type; only the keys of models' vendors are left out, whose place is in Otto alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

PASSED_ON = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TEMP",
        "TMP",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "JAVA_HOME",
        "GOPATH",
        "GOROOT",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "NVM_DIR",
        "PYENV_ROOT",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    }
)
"""What a model's command gets, and every ``LC_`` variable."""

PLAIN = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "COLUMNS": "120",
}
"""Tells programs that nobody sits at a terminal: no colours, no pager, no question."""

# A password within an address is a secret as well.
_SECRET_VALUE = re.compile(r"://[^/\s:@]*:[^/\s@]+@")

_VENDOR_KEY = re.compile(r"(?:^|_)API_?KEYS?(?:$|_)", re.IGNORECASE)


def model_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """For a command that a model asked for."""
    passed = {
        name: value
        for name, value in environ.items()
        if (name in PASSED_ON or name.startswith("LC_")) and _SECRET_VALUE.search(value) is None
    }
    if "PATH" in passed:
        # A folder of the workspace on the path would let a file there pass for a program.
        folders = passed["PATH"].split(os.pathsep)
        passed["PATH"] = os.pathsep.join(folder for folder in folders if folder.startswith("/"))
    return passed | PLAIN


def person_environment(environ: Mapping[str, str], key_variables: Collection[str] = ()) -> dict[str, str]:
    """For a command that the person typed. ``key_variables`` are the names under which models' keys are kept."""
    kept = {
        name: value for name, value in environ.items() if name not in key_variables and _VENDOR_KEY.search(name) is None
    }
    return kept | PLAIN
