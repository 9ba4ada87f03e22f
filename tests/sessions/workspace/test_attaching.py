"""Files that a person names with ``@``: which words are meant, what is read, and what a half-typed one may become."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.workspace import completing
from sessions.workspace.attaching import AttachmentRefused, read_attachment
from sessions.workspace.completing import complete_path, completions
from sessions.workspace.mentions import as_mention, mentioned_files, mentions
from sessions.workspace.threads import Stop, WorkStopped
from tests.sessions.unprivileged import as_nobody


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("look at @src/a.py", ("src/a.py",)),
        ("@a.txt and @b.txt, then @a.txt again.", ("a.txt", "b.txt")),
        ('read @"my notes.txt" now', ("my notes.txt",)),
        ("(@a.txt) [@b.txt]: @c.txt!", ("a.txt", "b.txt", "c.txt")),
        ("@~/x.txt @/etc/hosts @../up.txt", ("~/x.txt", "/etc/hosts", "../up.txt")),
        ("write to ada@example.org or a@b", ()),
        ("@@ -1,2 +1,2 @@ a diff", ()),
        ("@ alone, @, and @.", ()),
        ("line one\n@node_modules/@types/x.ts", ("node_modules/@types/x.ts",)),
        ("@alice said", ("alice",)),
        ('@"open', ()),
    ],
)
def test_mentions(text: str, paths: tuple[str, ...]) -> None:
    assert mentions(text) == paths


def test_only_files_count_and_only_plain_paths_are_missed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    text = '@a.py @alice @dataclass @types/node @./gone.txt @"gone too.txt" ada@a.py @~nobody-of-that-name/x'
    found = mentioned_files(text, tmp_path)
    assert found.files == ("a.py",)
    assert found.missing == ("./gone.txt", "gone too.txt")


@given(st.text())
def test_no_text_raises(text: str) -> None:
    mentions(text)


NAMES = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters='"'), min_size=1)


@given(NAMES)
def test_a_mention_that_is_offered_is_read_as_the_same_path(path: str) -> None:
    if path.strip() == path:
        assert mentions(f"see @{as_mention(path)} please") == (path,)


def test_an_attachment_is_a_document_of_the_person(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a.txt").write_text("über\n\x1b[31mred\n")
    (tmp_path / "b.txt").write_bytes("zwei".encode("utf-16"))
    event = read_attachment("a.txt", tmp_path / "w")
    assert (event.text, event.role, event.kind, event.source) == ("über\n\x1b[31mred\n", "user", "document", "a.txt")
    outside = read_attachment(Path("../b.txt"), tmp_path / "w")
    assert (outside.text, outside.source) == ("zwei", "../b.txt")
    assert read_attachment(str(tmp_path / "b.txt"), tmp_path / "w").text == "zwei"


def test_a_path_below_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".env").write_text("A=1\n")
    assert read_attachment("~/.env", Path("/")).source == "~/.env"
    assert mentioned_files("@~/.env", Path("/")).files == ("~/.env",)


def test_what_cannot_be_attached_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "big").open("wb") as file:
        file.truncate(2_000_000_000)
    sentences = {
        "gone": "There is no file gone, so nothing was attached.",
        "folder": "folder is a folder; attach the files in it that matter.",
        "picture": "picture is binary (a PNG picture, 10 bytes); only text can be attached.",
        "empty": "empty is empty, so nothing was attached.",
        "pipe": "pipe is a pipe, and only regular files are read.",
        "big": "big is larger than 1.0 MB, the most that can be attached."
        " Attach a part of it, or let the model read it with read_file.",
        "loop": "loop cannot be read: Too many levels of symbolic links. Nothing was attached.",
        "a\0b": "a\\x00b is not a path, so nothing was attached.",
        "/dev/null": "/dev/null is a device, and only regular files are read.",
    }
    for path, sentence in sentences.items():
        with pytest.raises(AttachmentRefused) as caught:
            read_attachment(path, tmp_path)
        assert str(caught.value) == sentence


def test_an_attachment_of_exactly_the_limit_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 10)
    assert read_attachment("a", tmp_path, limit=10).text == "x" * 10
    with pytest.raises(AttachmentRefused, match="larger than 9 bytes"):
        read_attachment("a", tmp_path, limit=9)


def test_an_unreadable_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0)

    def refused() -> str:
        with pytest.raises(AttachmentRefused) as caught:
            read_attachment("a", tmp_path)
        return str(caught.value)

    assert as_nobody(tmp_path, refused) == "a cannot be read: Permission denied. Nothing was attached."


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(completing, "SECONDS", 600.0)
    root = tmp_path / "project"
    for name in ("README.md", "src/reader.py", "src/deep/read.py", "src/writer.py", "dist/out.js", ".hidden"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / ".gitignore").write_text("dist\n")
    (tmp_path / "beside.txt").write_text("")
    return root


def test_completion_offers_what_begins_so_first(project: Path) -> None:
    assert complete_path("src/", project) == ("src/deep/", "src/reader.py", "src/writer.py", "src/deep/read.py")
    assert complete_path("sr", project)[0] == "src/"
    assert complete_path("read", project)[:3] == ("README.md", "src/reader.py", "src/deep/read.py")
    assert complete_path("wrt", project) == ("src/writer.py",)
    assert complete_path("", project, limit=2) == ("README.md", "src/")
    assert ".hidden" in complete_path(".h", project)
    assert complete_path("no such thing", project) == ()


def test_completion_leaves_out_what_git_would(project: Path) -> None:
    assert not any(path.startswith("dist") for path in complete_path("d", project, limit=100))
    assert complete_path("dist/o", project)[0] == "dist/out.js"


def test_completion_outside_goes_by_the_folder_that_was_named(project: Path) -> None:
    assert complete_path("../b", project) == ("../beside.txt",)
    assert complete_path(f"{project}/s", project)[0] == f"{project}/src/"
    assert complete_path("./", project) == ("./README.md", "./dist/", "./src/")
    assert complete_path("./.h", project) == ("./.hidden",)
    assert complete_path("../nothing/x", project) == ()
    assert complete_path("..", project) == ("../",)


def test_a_tree_that_takes_too_long_is_left_at_its_near_end(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completing, "SECONDS", -1.0)
    assert complete_path("src", project) == ()
    monkeypatch.setattr(completing, "SECONDS", 600.0)
    monkeypatch.setattr(completing, "MOST_WALKED", 3)
    assert complete_path("", project, limit=9) == ("README.md", ".gitignore", ".hidden")


def test_links_in_a_circle_end_a_completion(project: Path) -> None:
    (project / "src" / "up").symlink_to("..")
    assert "src/up" in complete_path("src/u", project)


async def test_a_completion_can_be_cancelled(project: Path) -> None:
    assert (await completions("sr", project))[0] == "src/"
    task = asyncio.create_task(completions("x", project))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stop = Stop()
    stop.set()
    with pytest.raises(WorkStopped):
        complete_path("x", project, stop=stop)
