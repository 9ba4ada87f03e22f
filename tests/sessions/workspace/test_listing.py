"""``list_files`` and what Git would leave alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.toolbox import ToolRefused
from sessions.workspace import ignoring, listing
from sessions.workspace.ignoring import Patterns
from sessions.workspace.listing import list_files
from sessions.workspace.paths import Place, Workspace
from sessions.workspace.threads import Stop, WorkStopped
from sessions.workspace.walking import walk
from tests.sessions.unprivileged import as_nobody


def tree(root: Path, **files: str) -> Workspace:
    """Files by path, ``__`` for a slash and ``DOT`` for a dot."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Workspace.at(root)


def files_in(workspace: Workspace, start: str = ".") -> set[str]:
    place = workspace.find(start)
    return {"/".join(entry.place.parts) for entry in walk(workspace, place, Stop()) if entry.kind == "file"}


def test_entries_stand_in_order_with_their_sizes(tmp_path: Path) -> None:
    workspace = tree(tmp_path, srcDOTtxt="x" * 1_500, src__aDOTpy="", src__deep__bDOTpy="é")
    (tmp_path / "link").symlink_to("src")
    os.mkfifo(tmp_path / "pipe")
    answer = list_files(workspace)
    assert answer.text.split("\n") == [
        ".: 7 entries (folders 3 levels deep)",
        "",
        "link (link)",
        "pipe (not a regular file)",
        "src/",
        "src/a.py  0 bytes",
        "src/deep/",
        "src/deep/b.py  2 bytes",
        "src.txt  1.5 KB",
    ]
    assert answer.summary == "listed .: 7 entries"


def test_depth_and_pattern(tmp_path: Path) -> None:
    workspace = tree(tmp_path, a__b__c__d__eDOTpy="", a__xDOTpy="", a__xDOTtxt="")
    assert list_files(workspace, depth=1).text == ".: 1 entry (folders 1 level deep)\n\na/"
    assert "e.py" not in list_files(workspace).text
    found = list_files(workspace, pattern="*.py")
    assert found.text == ".: 2 files matching *.py\n\na/b/c/d/e.py  0 bytes\na/x.py  0 bytes"
    assert list_files(workspace, "a", pattern="/*.txt").text == "a: 1 file matching /*.txt\n\nx.txt  0 bytes"
    assert list_files(workspace, pattern="nothing").text == ".: 0 files matching nothing"


@pytest.mark.parametrize("pattern", ["", "!x", "#x", "*" * 30, "x" * 2_000])
def test_globs_that_are_none_are_a_sentence(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ToolRefused, match="glob"):
        list_files(Workspace.at(tmp_path), pattern=pattern)


def test_what_is_no_folder_is_a_sentence(tmp_path: Path) -> None:
    workspace = tree(tmp_path, aDOTtxt="")
    with pytest.raises(ToolRefused, match=r"a\.txt is not a folder; read_file reads it\."):
        list_files(workspace, "a.txt")
    with pytest.raises(ToolRefused, match="outside"):
        list_files(workspace, "..")


def test_more_than_is_shown_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_SHOWN", 3)
    workspace = tree(tmp_path, **{f"f{n}": "" for n in range(8)}, a__deep="")
    answer = list_files(workspace)
    assert answer.text.split("\n")[0].startswith(".: 10 entries (folders 3 levels deep; 7 not shown")
    assert answer.text.split("\n")[2:] == ["a/", "f0  0 bytes", "f1  0 bytes"]
    monkeypatch.setattr(listing, "MOST_WALKED", 5)
    assert list_files(workspace).summary == "listed .: at least 5 entries"


def test_links_in_a_circle_and_links_out_are_shown_and_not_followed(tmp_path: Path) -> None:
    workspace = tree(tmp_path / "w", a__x="")
    (tmp_path / "w" / "a" / "up").symlink_to("..")
    (tmp_path / "w" / "out").symlink_to("/etc")
    assert list_files(workspace, depth=50).text.split("\n")[2:] == ["a/", "a/up (link)", "a/x  0 bytes", "out (link)"]


def test_a_folder_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    workspace = tree(tmp_path, open="", closed__x="")
    tmp_path.chmod(0o755)
    (tmp_path / "closed").chmod(0)
    assert as_nobody(tmp_path, lambda: list_files(workspace).text.split("\n")[0]).endswith("1 folder cannot be read)")
    (tmp_path / "closed").chmod(0o700)


def test_names_that_are_no_text_do_not_break_the_list(tmp_path: Path) -> None:
    (tmp_path / "a\nb\x1b[2J").write_text("")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")).write_text("")
    lines = list_files(Workspace.at(tmp_path)).text.split("\n")[2:]
    assert lines == ["a\\nb\\x1b[2J  0 bytes", "caf\\xe9  0 bytes"]


def test_a_stop_ends_the_walk(tmp_path: Path) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(WorkStopped):
        list_files(Workspace.at(tmp_path), stop=stop)


def test_gitignore_at_every_level(tmp_path: Path) -> None:
    workspace = tree(
        tmp_path,
        DOTgitignore="*.log\n/build/\nnode_modules\n!keep.log\n# comment\n\\#file\n",
        DOTgit__config="",
        DOTgit__info__exclude="private.txt\n",
        aDOTlog="",
        keepDOTlog="",
        build__x="",
        src__build__x="",
        src__node_modules__y="",
        src__DOTgitignore="!a.log\n*.tmp\n",
        src__aDOTlog="",
        src__bDOTlog="",
        src__cDOTtmp="",
        privateDOTtxt="",
        src__privateDOTtxt="",
        **{"#file": ""},
    )
    assert files_in(workspace) == {".gitignore", "keep.log", "src/build/x", "src/.gitignore", "src/a.log"}


@pytest.mark.parametrize(
    ("rules", "ignored"),
    [
        # What Git itself ignores of: a/x, a/keep/x, a/y.txt, foo, b/foo/x, y.txt
        ("*\n!y.txt", {"a/x", "a/keep/x", "a/y.txt", "foo", "b/foo/x"}),
        ("a/*\n!a/keep/", {"a/x", "a/y.txt"}),
        ("a/**\n!a/keep", {"a/x", "a/y.txt", "a/keep/x"}),
        ("a/\n!a/keep/x", {"a/x", "a/keep/x", "a/y.txt"}),
        ("foo", {"foo", "b/foo/x"}),
        ("/foo", {"foo"}),
        ("foo/", {"b/foo/x"}),
        ("*/", {"a/x", "a/keep/x", "a/y.txt", "b/foo/x"}),
        ("**/foo", {"foo", "b/foo/x"}),
        ("[xy].txt", {"a/y.txt", "y.txt"}),
        ("?.txt", {"a/y.txt", "y.txt"}),
        ("a/**/x", {"a/x", "a/keep/x"}),
        ("b ", {"b/foo/x"}),
        ("b\\ ", set()),
        ("\n  \n#foo", set()),
        ("[", set()),
    ],
)
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path, rules: str, ignored: set[str]) -> None:
    everything = {"a/x", "a/keep/x", "a/y.txt", "foo", "b/foo/x", "y.txt"}
    for name in everything:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text(rules + "\n")
    assert everything - files_in(Workspace.at(tmp_path)) == ignored


def test_a_workspace_inside_a_repository_obeys_what_stands_above_it(tmp_path: Path) -> None:
    tree(tmp_path, DOTgit__HEAD="", DOTgitignore="*.log\n/packages/one/dist\n", packages__DOTgitignore="tmp\n")
    workspace = tree(tmp_path / "packages" / "one", aDOTlog="", dist__x="", tmp__y="", src__dist__z="", b="")
    assert files_in(workspace) == {"b", "src/dist/z"}


def test_a_second_working_tree_obeys_the_exclude_file_that_all_share(tmp_path: Path) -> None:
    tree(tmp_path / "main", DOTgit__info__exclude="private\n", DOTgit__worktrees__two__commondir="../..\n")
    workspace = tree(tmp_path / "two", DOTgit=f"gitdir: {tmp_path}/main/.git/worktrees/two\n", private="", public="")
    assert files_in(workspace) == {"public"}


def test_what_is_ignored_is_walked_when_it_is_asked_for(tmp_path: Path) -> None:
    workspace = tree(tmp_path, DOTgitignore="dist\n*.map\n", dist__a="", dist__bDOTmap="")
    assert files_in(workspace, "dist") == {"dist/a"}


def test_a_list_of_patterns_that_is_a_link_counts_as_not_there(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("*\n")
    workspace = tree(tmp_path / "w", a="")
    (tmp_path / "w" / ".gitignore").symlink_to("../rules")
    assert files_in(workspace) == {"a"}


def test_a_pattern_made_to_hang_counts_as_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ignoring, "SECONDS", 0.05)
    name = "a" * 200
    workspace = tree(tmp_path, DOTgitignore="*a" * 20 + f"b\n{'*a' * 40}\n*.log\n", xDOTlog="", **{name: ""})
    assert files_in(workspace) == {".gitignore", name}


def test_a_list_made_of_such_patterns_counts_as_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ignoring, "SECONDS", 0.02)
    evil = "".join("*a" * 20 + f"b{n}\n" for n in range(30))
    workspace = tree(tmp_path, DOTgitignore=f"*.log\n{evil}", xDOTlog="", **{"a" * 200: "", "b" * 100: ""})
    assert "a" * 200 in files_in(workspace)


def test_a_list_that_is_far_too_long_counts_as_not_there(tmp_path: Path) -> None:
    workspace = tree(tmp_path, DOTgitignore="*.log\n" * 100_000, xDOTlog="")
    assert files_in(workspace) == {".gitignore", "x.log"}


@given(st.lists(st.text(st.sampled_from("ab*?![]/\\ #.-\xff"), max_size=8), max_size=4), st.text("ab/.", max_size=8))
def test_no_list_of_patterns_raises(lines: list[str], path: str) -> None:
    assert Patterns(lines).verdict(path) in (True, False, None)


def test_an_empty_start_is_the_root(tmp_path: Path) -> None:
    workspace = tree(tmp_path, a="")
    assert [entry.place for entry in walk(workspace, Place(()), Stop())] == [Place(("a",))]
