"""Nothing outside of the workspace is read, whatever a path says and whatever stands at it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions.toolbox import ToolRefused
from sessions.workspace.paths import SYSTEM_FOLDERS, Place, Workspace, shown
from sessions.workspace.reading import read_file
from tests.sessions.unprivileged import as_nobody


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace beside a file that must stay unread."""
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("inside\n")
    (tmp_path / "secret.txt").write_text("outside\n")
    (tmp_path / "work-too").mkdir()
    (tmp_path / "work-too" / "b.txt").write_text("outside\n")
    return root


def refused(root: Path, path: str) -> str:
    with pytest.raises(ToolRefused) as caught:
        read_file(Workspace.at(root), path)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "src/../../secret.txt",
        "./src/.././../secret.txt",
        "../work-too/b.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "~/secret.txt",
        "~root/secret.txt",
        "..",
        "/",
        "../no-such-file",
        "//etc/passwd",
    ],
)
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    assert "is outside of the workspace" in refused(root, path)


def test_an_absolute_path_inside_is_read(root: Path) -> None:
    assert read_file(Workspace.at(root), str(root / "src" / "a.py")).text.endswith("inside")
    assert read_file(Workspace.at(root), "src/../src/./a.py").summary == "read src/a.py, line 1 of 1, 6 bytes"


@pytest.mark.parametrize("target", ["../secret.txt", "/etc/passwd", "/proc/self/environ", "../nothing-there"])
def test_a_link_that_leads_out_is_refused(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    assert "is outside of the workspace" in refused(root, "link")


def test_links_through_links_and_folders_are_resolved_to_their_end(root: Path) -> None:
    (root / "up").symlink_to("..")
    (root / "again").symlink_to("up")
    (root / "fine").symlink_to("src/a.py")
    (root / "finer").symlink_to(root / "fine")
    assert "is outside of the workspace" in refused(root, "again/secret.txt")
    assert "is outside of the workspace" in refused(root, "src/../again/work-too/b.txt")
    assert read_file(Workspace.at(root), "finer").summary == "read src/a.py, line 1 of 1, 6 bytes"
    assert read_file(Workspace.at(root), "up/work/src/a.py").summary == "read src/a.py, line 1 of 1, 6 bytes"


def test_a_workspace_may_itself_be_behind_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(root)
    assert read_file(Workspace.at(tmp_path / "shortcut"), "src/a.py").text.endswith("inside")


def test_links_in_a_circle_are_a_sentence(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "self").symlink_to("self/x")
    assert "leads back to itself" in refused(root, "one")
    assert "leads back to itself" in refused(root, "self")
    assert "leads back to itself" in refused(root, "one/more/of/it")


def test_a_file_that_becomes_a_link_after_the_check_is_not_followed(root: Path) -> None:
    workspace = Workspace.at(root)
    file, folder = workspace.find("src/a.py"), workspace.find("src")
    (root / "src" / "a.py").unlink()
    (root / "src" / "a.py").symlink_to("../../secret.txt")
    with pytest.raises(ToolRefused, match="is a link"), workspace.open_file(file):
        pass
    (root / "src" / "a.py").unlink()
    (root / "src").rmdir()
    (root / "src").symlink_to("../work-too")
    with pytest.raises(ToolRefused), workspace.open_file(Place(("src", "b.txt"))):
        pass
    with pytest.raises(ToolRefused):
        workspace.scan(folder)


def test_pipes_sockets_and_devices_are_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        # The path of a socket may not be long.
        before = Path.cwd()
        os.chdir(root)
        try:
            listening.bind("socket")
        finally:
            os.chdir(before)
        assert refused(root, "pipe") == "pipe is a pipe, and only regular files are read."
        assert refused(root, "socket") == "socket is a socket, and only regular files are read."


def test_the_system_s_own_folders_are_closed_where_the_workspace_is_all_there_is() -> None:
    workspace = Workspace.at(Path("/"))
    for path in ("/proc/self/environ", "/dev/null", "/proc/self/root/proc/self/environ", "/dev/stdin"):
        with pytest.raises(ToolRefused):
            read_file(workspace, path)
    for folder in SYSTEM_FOLDERS:
        if folder.is_dir():
            with pytest.raises(ToolRefused, match="closed to tools"):
                workspace.scan(workspace.find(str(folder)))


def test_otto_s_own_folder_is_closed_wherever_it_lies(root: Path) -> None:
    home = root / ".otto"
    home.mkdir()
    (home / "config.toml").write_text("[model]\n")
    (root / "shortcut").symlink_to(home)
    workspace = Workspace.at(root, (home,))
    for path in (".otto/config.toml", "shortcut/config.toml", str(home / "config.toml")):
        with pytest.raises(ToolRefused, match="closed to tools"):
            read_file(workspace, path)
    with pytest.raises(ToolRefused, match="folder of Otto's own"):
        read_file(Workspace.at(home, (home,)), "config.toml")
    assert read_file(workspace, "src/a.py").ok


@pytest.mark.parametrize(
    "path",
    [
        *(".env", ".env.local", "prod.env", "deploy/id_rsa", "server.PEM", "tls.key", ".ssh/config", ".git/config"),
        *(".aws/credentials", ".netrc", ".npmrc", "infra/terraform.tfstate"),
    ],
)
def test_files_that_usually_hold_secrets_are_left_to_the_person(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("TOKEN=abc\n")
    sentence = refused(root, path)
    assert "usually holds passwords or keys" in sentence
    assert "@" in sentence


@pytest.mark.parametrize("path", [".env.example", "id_rsa.pub", "config", "keys.py", "environment.md", "src/config"])
def test_files_that_only_look_a_little_like_it_are_read(root: Path, path: str) -> None:
    (root / path).write_text("x\n")
    assert read_file(Workspace.at(root), path).ok


def test_a_secret_behind_a_harmless_link_stays_closed(root: Path) -> None:
    (root / ".env").write_text("TOKEN=abc\n")
    (root / "readme.txt").symlink_to(".env")
    assert "usually holds passwords or keys" in refused(root, "readme.txt")


def test_what_cannot_be_read_is_a_sentence(root: Path) -> None:
    (root / "closed.txt").write_text("x")
    (root / "closed.txt").chmod(0)
    (root / "folder").mkdir()
    (root / "folder" / "in.txt").write_text("x")
    (root / "folder").chmod(0)
    assert as_nobody(root, lambda: refused(root, "closed.txt")) == "closed.txt cannot be read: Permission denied."
    assert as_nobody(root, lambda: refused(root, "folder/in.txt")).endswith("cannot be read: Permission denied.")
    (root / "folder").chmod(0o700)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "is a folder"),
        (".", "is a folder"),
        ("src", "src is a folder; list_files"),
        ("nothing.py", "There is no nothing.py in the workspace"),
        ("src/a.py/b", "a part of it is not a folder"),
        ("a\0b", "is not a path"),
        ("\ud800", "is not a path"),
        ("x" * 5_000, "File name too long"),
        ("a\nb\x1b[31m", "There is no a\\nb\\x1b[31m in the workspace"),
    ],
)
def test_paths_that_mean_no_file_are_a_sentence(root: Path, path: str, words: str) -> None:
    assert words in refused(root, path)


def test_a_workspace_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    assert refused(tmp_path / "gone", "a.txt") == "The workspace's folder does not exist any more."


def test_names_are_shown_without_what_would_command_a_terminal() -> None:
    assert shown("plain ü 漢.txt") == "plain ü 漢.txt"
    assert shown("a\tb\x1b]0;x\x07") == "a\\tb\\x1b]0;x\\x07"
    assert shown(os.fsdecode(b"caf\xe9.txt")) == "caf\\xe9.txt"


PARTS = st.sampled_from(["..", ".", "src", "a.py", "up", "loop", "out", "", "~", "/", "work", "secret.txt", "\0", "é"])


@given(st.lists(PARTS, max_size=8), st.booleans())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_at_all_reads_what_is_outside(root: Path, parts: list[str], absolute: bool) -> None:
    if not (root / "up").is_symlink():
        (root / "up").symlink_to("..")
        (root / "loop").symlink_to("loop")
        (root / "out").symlink_to("../secret.txt")
    path = "/".join(parts)
    try:
        answer = read_file(Workspace.at(root), f"{root}/{path}" if absolute else path)
    except ToolRefused:
        return
    assert answer.text.endswith("inside")
