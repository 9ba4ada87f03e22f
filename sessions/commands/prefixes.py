"""What "always for this prefix" may cover: a known program with plain arguments that neither runs nor writes elsewhere.

A rule must never let more through than a person would expect of the words that they agreed to. So whatever the shell
would treat as more than words has no prefix, and neither have programs that run other programs, that remove things,
install things or change rights (``sudo``, ``rm``, shells, interpreters, ``env``, ``xargs``, ``find``), nor arguments
that lead out of the workspace. It is a list of what may be covered: any other command is asked for each time.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from sessions.workspace.secret_files import likely_secret

PROGRAMS = frozenset(
    {
        *("basename", "cat", "cmp", "cut", "date", "df", "diff", "dirname", "du", "echo", "expr", "file", "fold"),
        *("grep", "head", "id", "jq", "ls", "md5sum", "nl", "od", "pwd", "seq", "sha1sum", "sha256sum", "sort"),
        *("stat", "tail", "tr", "tree", "true", "uname", "uniq", "wc", "which", "whoami"),
        *("black", "clang-format", "eslint", "flake8", "gofmt", "isort", "jest", "mypy", "phpunit", "prettier"),
        *("pylint", "pyright", "pytest", "rspec", "rubocop", "ruff", "rustfmt", "shellcheck", "tsc", "vitest"),
    }
)
"""Programs that a rule may cover with whatever arguments are harmless."""

SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "git": frozenset(
        {
            *("add", "blame", "branch", "commit", "describe", "diff", "fetch", "log", "ls-files", "merge-base"),
            *("pull", "push", "rev-list", "rev-parse", "shortlog", "show", "status", "switch", "tag"),
        }
    ),
    "cargo": frozenset({"bench", "build", "check", "clippy", "doc", "fmt", "metadata", "test", "tree"}),
    "docker": frozenset({"images", "logs", "ps", "version"}),
    "dotnet": frozenset({"build", "format", "test"}),
    "go": frozenset({"build", "doc", "fmt", "list", "test", "version", "vet"}),
    "npm": frozenset({"audit", "ls", "outdated", "test", "view"}),
    "pip": frozenset({"check", "freeze", "list", "show"}),
    "pnpm": frozenset({"audit", "list", "ls", "outdated", "test"}),
    "poetry": frozenset({"check", "show"}),
    "uv": frozenset({"tree"}),
    "yarn": frozenset({"audit", "list", "outdated", "test"}),
}
"""Programs of which a rule covers one subcommand, and which. ``git config`` could set up what is run later."""

RUNNERS = frozenset({"just", "make", "ninja", "nox", "tox"})
"""Programs of which a rule covers one target by its name: ``make test``."""

# Printable ASCII without what a shell reads as syntax: ; & | < > ( ) $ ` \ * ? [ ] { } ~ ! # ^ % and line ends.
_PLAIN = re.compile(r"""[A-Za-z0-9 _.,:=@+/'"-]+""")

_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")

_TARGET = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

_RISKY_OPTIONS = (
    *("--exec", "--eval", "--command", "--upload-pack", "--receive-pack", "--exec-path", "--ext-diff", "--textconv"),
    *("--open-files-in-pager", "--output", "--output-file", "--output-dir", "--compress-program", "--files0-from"),
    *("--config", "--config-file", "--rcfile", "--directory", "--git-dir", "--work-tree", "--init-hook", "--plugin"),
    *("--load-plugins", "--python-executable", "--install-types", "--rulesdir", "--resolve-plugins-relative-to"),
    *("--override-ini", "--toolchain", "--manifest-path", "-exec", "-toolexec", "-vettool", "--file", "--makefile"),
    *("--basetemp", "--junitxml", "--junit-xml", "--log-file", "--report-log", "--outputFile", "--target-dir"),
    *("-outputdir", "-coverprofile", "-cpuprofile", "-memprofile", "-blockprofile", "-mutexprofile", "-trace"),
    *("--force", "--force-with-lease", "--delete", "--mirror", "--prune", "--discard-changes", "--edit-description"),
)
"""They run another program, write or remove something, or have code read from elsewhere. Programs take shortened ones
as well."""

_RISKY_LETTERS = frozenset("oOce")
"""The same in one letter, of one program or another."""

_RISKY_LETTERS_OF_GIT = frozenset("fdDMC")


def prefix_of(command: str) -> str | None:
    """What a rule that covers ``command`` is called, such as ``pytest`` or ``git status``; None where none may."""
    words = plain_words(command)
    if not words:
        return None
    program, *arguments = words
    letters = _RISKY_LETTERS | _RISKY_LETTERS_OF_GIT if program == "git" else _RISKY_LETTERS
    if any(_risky(argument, letters) for argument in arguments):
        return None
    # What is pushed to a name of its own, or with a plus, replaces or removes what stood there.
    if program == "git" and arguments[:1] == ["push"] and any(re.search("[:+]", each) for each in arguments):
        return None
    if program in PROGRAMS:
        return program
    if program in SUBCOMMANDS and arguments and arguments[0] in SUBCOMMANDS[program]:
        return f"{program} {arguments[0]}"
    if program in RUNNERS and _one_target(arguments):
        return f"{program} {arguments[0]}"
    return None


def plain_words(command: str) -> tuple[str, ...]:
    """The words of a command that is nothing but words; none where the shell would do more than split it."""
    if _PLAIN.fullmatch(command) is None:
        return ()
    try:
        words = shlex.split(command)
    except ValueError:
        return ()
    if not words or _PROGRAM.fullmatch(words[0]) is None:
        return ()
    return tuple(words)


def stays_inside(command: str, folder: Path) -> bool:
    """Whether no argument of a plain command is a link that leads out of ``folder``. Asks the disk."""
    root = Path(os.path.realpath(folder))
    named = (path for word in plain_words(command)[1:] for path in _paths_in(word))
    return all(Path(os.path.realpath(root / path)).is_relative_to(root) for path in named)


def _one_target(arguments: Sequence[str]) -> bool:
    """Whether they name one target first and no other one. ``CC=...`` would replace what a rule runs."""
    others = arguments[1:]
    if not arguments or _TARGET.fullmatch(arguments[0]) is None:
        return False
    return all(other.startswith("-") and "=" not in other for other in others)


def _risky(argument: str, risky_letters: frozenset[str]) -> bool:
    """Whether it runs something, writes or removes a file, leads out of the workspace or to what holds secrets."""
    name = argument.partition("=")[0]
    if name.startswith("-") and len(name) > 2 and any(risky.startswith(name) for risky in _RISKY_OPTIONS):
        return True
    letters = re.match(r"-([A-Za-z0-9]+)", argument)
    # Several letters may stand behind one dash, and a value behind the last; a word is an option of its own.
    if letters and len(letters[1]) <= 4 and not risky_letters.isdisjoint(letters[1]):
        return True
    if re.match(r"-[A-Za-z0-9]+[^A-Za-z0-9=-]", argument):
        return True
    return any(_leads_out(path) for path in _paths_in(argument))


def _paths_in(argument: str) -> tuple[str, ...]:
    """What of an argument may be a path: all of it, and the value of an option."""
    name, equals, value = argument.partition("=")
    return (name, value) if equals else (argument,)


def _leads_out(path: str) -> bool:
    parts = path.split("/")
    # A colon stands before the path of a host, a revision or an address.
    if path.startswith("/") or ".." in parts or ":/" in path or "@" in parts[0]:
        return True
    return likely_secret([part for part in re.split(r"[/:]", path) if part])
