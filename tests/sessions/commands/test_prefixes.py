"""What "always" may cover: never more than plain words, whatever a model writes."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.commands.prefixes import PROGRAMS, RUNNERS, SUBCOMMANDS, plain_words, prefix_of, stays_inside


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("pytest", "pytest"),
        ("pytest -q tests/memory --maxfail=1 -k 'queue or tier'", "pytest"),
        ("git status --short", "git status"),
        ('git commit -m "a message"', "git commit"),
        ("git diff main..work -- src/a.py", "git diff"),
        ("ls -la src", "ls"),
        ("grep -rn needle src", "grep"),
        ("make test -j 4", None),
        ("make test -j4", "make test"),
        ("cargo test --all-features", "cargo test"),
        ("go test ./...", "go test"),
        ("npm test", "npm test"),
        ("git push origin main", "git push"),
        ("git switch -c topic", None),
    ],
)
def test_plain_commands_have_a_prefix(command: str, prefix: str | None) -> None:
    assert prefix_of(command) == prefix


@pytest.mark.parametrize(
    "command",
    [
        *("", " ", "''", "'"),
        # Programs that run others, remove, install or change rights.
        *("sudo ls", "su -c ls", "rm a", "rm -rf /", "/bin/rm a", "./pytest", "bin/pytest", "mv a b", "dd if=a"),
        *("sh a.sh", "bash -c ls", "python -c pass", "python3 a.py", "node -e 1", "perl -e 1", "ruby a.rb"),
        *("env ls", "xargs rm", "find . -exec rm", "find . -delete", "nohup ls", "time ls", "timeout 1 ls", "eval ls"),
        *("exec ls", "source a", ". a", "command ls", "ssh host ls", "curl x", "pip install x", "npm install x"),
        *("npx x", "uv run x", "docker run x", "git config alias.x y", "git -c core.pager=x status", "git", "git x"),
        *("git submodule foreach ls", "git bisect run x", "npm run x", "awk x", "sed -i x a", "tee a", "chmod 777 a"),
        # Assignments before or instead of a program.
        *("A=1 pytest", "PATH=. pytest", "make CC=x test", "make test CC=x", "make test clean", "make -f x test"),
        # Options that run something or write elsewhere.
        *("pytest -c x.ini", "pytest -vc x.ini", "pytest --override-ini=x", "sort -o a b", "sort -oa b", "tree -o a"),
        *("sort --compress-program=x a", "sort --compress-prog=x a", "git diff --output=a", "git diff --outp a"),
        *("git fetch --upload-pack=x", "git fetch --upl=x", "git diff --ext-diff", "pylint --init-hook=x a"),
        *(
            "go test -exec x",
            "go build -toolexec x",
            "cargo test --config x",
            "git log --exec-path=x",
            "ruff --config a",
        ),
        # Options that remove something.
        *("git push --force", "git push -f", "git push origin :main", "git push origin +main", "git branch -D main"),
        *(
            "git tag -d v1",
            "git push --del origin main",
            "git switch -f main",
            "pytest --basetemp=src",
            "git fetch -p -f",
        ),
        *("pytest --junitxml=src/a.py", "go test -coverprofile=a.go"),
        # Paths that lead out, or to what holds secrets.
        *("cat /etc/passwd", "cat ../x", "cat a/../../x", "grep -f/etc/passwd a", "grep --file=/etc/passwd a"),
        *("cat .env", "cat config/.env", "cat id_rsa", "git show HEAD:.env", "diff a /etc/x", "cat -n/etc/passwd"),
        *("git push git@host:x", "git push https://host/x", "git push file:/x", "make -C../x test", "ls -I../x"),
        *("grep x deploy.pem", "cat --x=../y", "cat x=/etc/passwd"),
    ],
)
def test_whatever_may_do_more_has_none(command: str) -> None:
    assert prefix_of(command) is None


SYNTAX = [
    *(
        ";",
        "&",
        "&&",
        "|",
        "||",
        "`",
        "$",
        "$(",
        "${",
        ">",
        ">>",
        "<",
        "<<",
        "<(",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "*",
        "?",
    ),
    *(
        "~",
        "!",
        "#",
        "\\",
        "\n",
        "\r",
        "\t",
        "\v",
        "\f",
        "\0",
        "^",
        "%",
        "\x1b",
        "\x85",
        "\xa0",
        "\u2028",
        "\u3000",
        "é",
    ),
]

WORDS = st.sampled_from(
    [*sorted(PROGRAMS)[:8], *SUBCOMMANDS, *RUNNERS, "status", "test", "-q", "a.py", "src/b", "'x y'", '"z"', "rm", "-c"]
)


@given(st.lists(WORDS, min_size=1, max_size=6), st.sampled_from(SYNTAX), st.integers(0, 80))
def test_no_command_with_shell_syntax_has_a_prefix(words: list[str], syntax: str, at: int) -> None:
    command = " ".join(words)
    at = min(at, len(command))
    assert prefix_of(command[:at] + syntax + command[at:]) is None


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.sampled_from(["pytest ", "git status ", "ls ", ""]))
def test_what_has_a_prefix_is_nothing_but_words(rest: str, begun: str) -> None:
    command = begun + rest
    prefix = prefix_of(command)
    if prefix is None:
        return
    assert set(command) <= set(string.ascii_letters + string.digits + " _.,:=@+/'\"-")
    words = plain_words(command)
    assert " ".join(words[: len(prefix.split())]) == prefix
    assert words[0] in PROGRAMS | RUNNERS | SUBCOMMANDS.keys()


@given(st.lists(WORDS, max_size=5), st.sampled_from(["/x", "../x", "a/../..", ".env", "--output=x", "-c", "-o", "-e"]))
def test_no_risky_argument_is_covered_wherever_it_stands(words: list[str], risky: str) -> None:
    for at in range(len(words) + 1):
        assert prefix_of(" ".join(["pytest", *words[:at], risky, *words[at:]])) is None


def test_a_link_that_leads_out_is_not_covered(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    (folder / "src").mkdir(parents=True)
    (folder / "out").symlink_to("/etc")
    (folder / "src" / "up").symlink_to("../..")
    (folder / "fine").symlink_to("src")
    assert stays_inside("cat src/a fine/b no-such-file -n --x=y", folder)
    assert not stays_inside("cat out/passwd", folder)
    assert not stays_inside("cat src/up/secret", folder)
    assert not stays_inside("grep --include=out/passwd x", folder)
