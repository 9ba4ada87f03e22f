"""How an MCP server is reached, as plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from memory.errors import OttoError

START_TIMEOUT = 30.0
CALL_TIMEOUT = 120.0

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class VariableMissing(OttoError):
    """A setting names an environment variable that is not set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """One server: a program that is started (``command``), or an address (``url``)."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """What the program is given beside PATH, HOME and the like; ``${NAME}`` is taken from the person's environment."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What every request carries; ``${NAME}`` as in ``env``."""
    enabled: bool = True
    timeout: float = CALL_TIMEOUT
    """Seconds that one call may take."""

    @property
    def address(self) -> str:
        """What is started or reached, as a person wrote it."""
        return self.url or " ".join((self.command, *self.args))


def filled_in(values: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """``values`` with each ``${NAME}`` replaced, so that no key has to stand in a settings file.

    Raises:
        VariableMissing: a name is not in ``environ``.
    """

    def look_up(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise VariableMissing(f"the environment variable {found[1]} is not set")
        return environ[found[1]]

    return {key: _VARIABLE.sub(look_up, value) for key, value in values.items()}
