"""What Otto keeps of a failure that nobody expected: a private file with the trace, and no keys in it."""

from __future__ import annotations

import os
import platform
import re
import traceback
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memory.errors import OttoError
from otto_tui import __version__
from otto_tui.paths import home_folder, logs_folder
from sessions.private_files import make_folder, write_whole

HIDDEN = "[hidden]"
SHORTEST_SECRET = 6

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_SECRET_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf|ghp|gho|github_pat|AIza|ya29|AKIA)[-_A-Za-z0-9.]{12,}"
    r"|(?i:\bbearer\s+)[^\s'\"]+"
    r"|(?i:\b(?:api[-_]?key|x-api-key|authorization|token|password)['\"]?\s*[:=]\s*['\"]?(?:bearer\s+)?)[^\s'\",;&]+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)


def crash_sentence(error: BaseException, environ: Mapping[str, str]) -> str:
    """Keep the trace of ``error`` in a file and say where it is, in one sentence for a person."""
    kind = type(error).__name__
    try:
        path = _write(error, logs_folder(home_folder(environ)), environ)
    except (OSError, OttoError) as obstacle:
        return f"Otto stopped on something unexpected ({kind}), and no report could be written. {obstacle}"
    return f"Otto stopped on something unexpected ({kind}); the details, without your keys, are in {path}."


def without_keys(text: str, environ: Mapping[str, str]) -> str:
    """``text`` with every secret of the environment, and whatever looks like one, hidden."""
    secrets = {
        value.strip()
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value.strip()) >= SHORTEST_SECRET
    }
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _SECRET_SHAPES.sub(HIDDEN, text)


def _write(error: BaseException, folder: Path, environ: Mapping[str, str]) -> Path:
    make_folder(folder)
    moment = datetime.now().astimezone()
    path = folder / f"crash-{moment:%Y%m%d-%H%M%S-%f}-{os.getpid()}.txt"
    report = "\n".join(
        [
            f"Otto {__version__}, Python {platform.python_version()}, {platform.platform()}, {moment.isoformat()}",
            "",
            "".join(traceback.format_exception(error)),
        ]
    )
    write_whole(path, without_keys(report, environ).encode("utf-8", "backslashreplace"), replace=True)
    return path
