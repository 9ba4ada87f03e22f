"""Files that usually hold passwords or keys. The model's tools do not open them; a person may still attach one.

What a tool reads goes to a model's vendor and stays on the tape, and nobody is asked first. So the names that secrets
are kept under by habit are closed. It goes by names alone: a key in a file of another name is read like any text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate

SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"})

SECRET_NAMES = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    ".yarnrc.yml",
    ".htpasswd",
    ".git-credentials",
    ".vault-token",
    "credentials.json",
    "service-account*.json",
    "client_secret*.json",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "*.tfstate",
)

EXAMPLE_ENDINGS = (".example", ".sample", ".template", ".dist", ".pub")
"""Of files that are made to be shown."""

_SECRET_NAME = re.compile("|".join(map(translate, SECRET_NAMES)))


def likely_secret(parts: Sequence[str]) -> bool:
    """Whether a file at this path usually holds passwords or keys. Upper and lower case count as the same."""
    if not parts:
        return False
    *folders, name = (part.casefold() for part in parts)
    if not SECRET_FOLDERS.isdisjoint((*folders, name)):
        return True
    # Git keeps passwords of remotes in there.
    if name == "config" and ".git" in folders:
        return True
    if name.endswith(EXAMPLE_ENDINGS):
        return False
    return _SECRET_NAME.match(name) is not None
