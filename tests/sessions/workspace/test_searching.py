"""``search_files``: hits with their numbers, and limits that hold whatever the pattern and the files are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.toolbox import ToolRefused
from sessions.workspace import file_search
from sessions.workspace.paths import Workspace
from sessions.workspace.patterns import LinePattern
from sessions.workspace.searching import SECONDS, search_files
from sessions.workspace.threads import Stop, WorkStopped


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return one()\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_text("One\r\nor TWO\r\n")
    (tmp_path / "x.log").write_text("def one\n")
    return Workspace.at(tmp_path)


def test_hits_stand_under_their_files(workspace: Workspace) -> None:
    answer = search_files(workspace, r"def \w+\(")
    assert answer.text == ("def \\w+\\(: 2 hits in 1 of 3 files, 73 bytes read\na.py\n  1: def one():\n  5: def two():")
    assert answer.summary == "searched def \\w+\\(: 2 hits in 1 of 3 files, 73 bytes read"
    assert search_files(workspace, "nowhere").text == "nowhere: 0 hits in 3 files, 73 bytes read"


def test_plain_text_case_glob_and_path(workspace: Workspace) -> None:
    assert search_files(workspace, "one()", literal=True).text.split("\n")[1:] == [
        *("a.py", "  1: def one():", "  6:     return one()"),
    ]
    assert "b/c.txt\n  1: One\n  2: or TWO" in search_files(workspace, "one|two$", ignore_case=True, glob="*.txt").text
    assert "1 hit in 1 of 1 file" in search_files(workspace, "TWO", "b").summary
    assert "1 hit in 1 of 1 file" in search_files(workspace, "TWO$", "b/c.txt").summary
    # What is ignored is searched when it is named.
    assert "1 hit in 1 of 1 file" in search_files(workspace, "def", "x.log").summary


def test_lines_around_a_hit_are_shown_once(workspace: Workspace) -> None:
    (workspace.root / "n.txt").write_text("\n".join(f"row {n}" for n in range(1, 21)))
    answer = search_files(workspace, "row (3|5|15)$", "n.txt", context=1)
    assert answer.text.split("\n")[2:] == [
        *("  2- row 2", "  3: row 3", "  4- row 4", "  5: row 5", "  6- row 6"),
        *("  --", "  14- row 14", "  15: row 15", "  16- row 16"),
    ]


def test_lines_around_a_hit_may_come_from_other_blocks(workspace: Workspace) -> None:
    # Blocks of 256 KiB: the hits stand at the end of the first and the beginning of a later one.
    lines = [f"{n:09d}" for n in range(80_000)]
    (workspace.root / "n.txt").write_text("\n".join(lines))
    for number in (26_213, 26_214, 26_215, 26_216, 52_428, 52_429, 79_999, 0):
        shown = search_files(workspace, f"^{number:09d}$", "n.txt", context=2).text.split("\n")[2:]
        around = [n for n in range(number - 2, number + 3) if 0 <= n < 80_000]
        assert shown == [f"  {n + 1}{':' if n == number else '-'} {n:09d}" for n in around]


def test_a_long_line_is_shown_around_its_hit(workspace: Workspace) -> None:
    (workspace.root / "min.js").write_text("x" * 5_000 + "needle" + "y" * 1_000_000 + "needles\nneedle\n")
    first, second = search_files(workspace, "needle", "min.js").text.split("\n")[2:]
    assert "xneedley" in first
    assert first.startswith("  1: …x")
    assert first.endswith("y…")
    assert len(first) < file_search.LONGEST_SHOWN + 20
    assert second == "  2: needle"


def test_binary_secret_and_unreadable_files_are_left_out(workspace: Workspace) -> None:
    (workspace.root / "p.png").write_bytes(b"\x89PNG\r\n\0 needle")
    (workspace.root / ".env").write_text("needle=1\n")
    (workspace.root / "link").symlink_to("/etc/passwd")
    (workspace.root / "u16.txt").write_text("needle\n", "utf-16")
    answer = search_files(workspace, "needle|root")
    assert "u16.txt\n  1: needle" in answer.text
    assert "1 hit in 1 of 4 files" in answer.text
    assert "1 file left out because such files hold passwords or keys" in answer.text


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("", "empty"),
        ("(", "not a regular expression"),
        ("*", "not a regular expression"),
        ("a" * 2_000, "longer than 1,000"),
        ("(a{1000}){1000}", "repeats too often"),
        ("((a{1000}){1000}){1000}", "repeats too often"),
        ("a{99999999999999}", "repeats too often"),
        ("(" * 200 + ")" * 200, "more than 100 brackets"),
        ("(?P<n>a)(?P=m)", "not a regular expression"),
    ],
)
def test_patterns_that_are_none_or_too_large_are_a_sentence(workspace: Workspace, pattern: str, words: str) -> None:
    with pytest.raises(ToolRefused, match=re.escape(words)):
        search_files(workspace, pattern)


def test_a_pattern_made_to_hang_is_refused_in_the_end(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_search, "LINE_SECONDS", 0.05)
    monkeypatch.setattr(file_search, "BLOCK_SECONDS", 0.05)
    (workspace.root / "evil.txt").write_text("a" * 60 + "b\n")
    with pytest.raises(ToolRefused, match=r"takes too long \(on line 1 of evil\.txt\)"):
        search_files(workspace, "(?:a|a)*$", "evil.txt")


def test_a_pattern_that_is_slow_over_many_lines_only_is_found_line_by_line(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_search, "BLOCK_SECONDS", 1e-9)
    (workspace.root / "n.txt").write_text("x\n" * 5_000 + "needle\n")
    assert "5001: needle" in search_files(workspace, r"(?:e|n)(?:e|n)d[^q]e", "n.txt").text


def test_limits_end_a_search_and_say_so(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(6):
        (workspace.root / f"many{n}.txt").write_text("hit\n" * 60)
    answer = search_files(workspace, "hit")
    assert "200 hits in 4 of" in answer.summary
    assert "stopped after 200 hits" in answer.text
    assert "many0.txt may have more than 50" in answer.text
    ticks = iter(range(1_000))
    slow = search_files(workspace, "nothing", clock=lambda: float(next(ticks)) * (SECONDS / 2))
    assert "stopped since it took too long" in slow.text
    monkeypatch.setattr(file_search, "MOST_BYTES", 300)
    assert "stopped after 300 bytes" in search_files(workspace, "nothing").text
    monkeypatch.setattr(file_search, "MOST_OF_ONE", 100)
    monkeypatch.setattr(file_search, "MOST_BYTES", 10**9)
    (workspace.root / "large.txt").write_text("x\n" * 400_000)
    assert "only the first 100 bytes of large.txt" in search_files(workspace, "nothing", "large.txt").text


def test_long_answers_end_early(workspace: Workspace) -> None:
    for n in range(190):
        (workspace.root / f"w{n}.txt").write_text("hit" + "x" * 400 + "\n")
    answer = search_files(workspace, "hit", glob="w*.txt", context=0)
    assert len(answer.text) < file_search.LONGEST_ANSWER + 10_000
    assert "stopped since the answer is long" in answer.text


def test_a_stop_ends_the_search(workspace: Workspace) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(WorkStopped):
        search_files(workspace, "x", stop=stop)


PATTERNS = st.text(st.sampled_from("ab.*+?|()[]^$\\sSbd{}1,"), min_size=1, max_size=9)


@given(
    PATTERNS, st.lists(st.text(st.sampled_from("ab 1"), max_size=6), min_size=1, max_size=5), st.sampled_from([5, 1e-9])
)
@settings(deadline=None, max_examples=300)
def test_no_line_is_passed_over_that_holds_the_pattern(pattern: str, lines: list[str], seconds: float) -> None:
    try:
        wanted = LinePattern(pattern, literal=False, ignore_case=False)
    except ToolRefused:
        return
    holding = [index for index, line in enumerate(lines) if wanted.found_in(line, 5) is not None]
    named = list(wanted.lines_in("\n".join(lines), len(lines), seconds))
    assert named == sorted(set(named))
    assert set(holding) <= set(named) <= set(range(len(lines)))
