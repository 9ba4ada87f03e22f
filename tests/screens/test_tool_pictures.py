"""What tools look like in the chat: calls that run and have ended, a shell, attachments, a question."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memory.values import Event
from screens.approval_modal import ApprovalModal
from screens.path_list import PathList
from screens.tool_block import ToolLine
from sessions.approvals import Approval
from sessions.events import ToolCalled, ToolUsed
from tests.screens.chat_stage import MIDDLE, NARROW, chat_of, otto, screen_text, settled, until
from tests.screens.fakes import FakeLibrary, FakeSession, Reply, event

Compare = Callable[..., bool]
Acts = Callable[[Pilot[Any]], Awaitable[None]]

FOUND = """notes/beds.txt:3: bed 3 is still wet
notes/beds.txt:9: beans want bed 3
notes/2025.txt:41: bed 3: beans, 4 kg
"""


def tape() -> list[Event]:
    """Two attached lines, three calls of which one failed, and a command of the person's."""

    def call(seq: int, name: str, arguments: str) -> Event:
        meta = {"call": f"call_{seq}", "round": 1}
        return event(seq, "assistant", arguments, kind="tool", source=name, meta=meta)

    def result(seq: int, of: Event, text: str, summary: str, ok: bool = True) -> Event:
        meta = {"call": of.meta["call"], "summary": summary, "ok": ok, "seconds": 0.2}
        return event(seq, "tool", text, kind="tool", source=of.source, refs=(of.id,), meta=meta)

    listed = call(3, "list_files", '{"path": "notes"}')
    sought = call(4, "search_files", '{"pattern": "bed 3", "path": "notes"}')
    read = call(7, "read_file", '{"path": "notes/bets.txt"}')
    no_file = "There is no file notes/bets.txt. Close to it: notes/beds.txt."
    ran = {"by": "person", "command": "wc -l notes/*", "exit": 0, "ok": True, "summary": "exit 0"}
    printed = "  41 notes/2025.txt\n   9 notes/beds.txt\n  50 total\n"
    return [
        event(1, "user", "What do we know about bed 3? Mind @plan.md"),
        event(2, "user", "# The plan\n" * 40, kind="document", source="plan.md"),
        listed,
        sought,
        result(5, sought, FOUND, "3 lines hold bed 3, in 2 files"),
        result(6, listed, "notes/2025.txt\nnotes/beds.txt\n", "2 files and no folder"),
        read,
        result(8, read, no_file, no_file, ok=False),
        event(9, "assistant", "Bed 3 is **still wet**, and beans are to go there."),
        event(10, "tool", printed, kind="tool", source="shell", meta=ran),
    ]


def picture(compare: Compare, shown: FakeSession, home: Path, size: tuple[int, int], acts: Acts, **more: Any) -> bool:
    async def before(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: chat_of(pilot).conversation is not None)
        await settled(pilot)
        await acts(pilot)
        await settled(pilot)

    return compare(otto(FakeLibrary.of(shown), home, **more), terminal_size=size, run_before=before)


@pytest.mark.parametrize(
    ("size", "theme"),
    [(NARROW, "textual-dark"), (NARROW, "textual-light"), (MIDDLE, "textual-dark")],
    ids=["80x24-dark", "80x24-light", "120x40-dark"],
)
def test_calls_attachments_and_a_command(
    snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str
) -> None:
    """A line each; the command's output is open."""

    async def acts(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: "50 total" in screen_text(pilot))
        if size == MIDDLE:
            await until(pilot, lambda: "word for word" in screen_text(pilot))

    assert picture(snap_compare, FakeSession(tape(), home=tmp_path), tmp_path, size, acts, theme=theme)


def test_a_call_that_is_open(snap_compare: Compare, tmp_path: Path) -> None:
    """What was asked, and what came of it."""

    async def acts(pilot: Pilot[Any]) -> None:
        line = next(line for line in chat_of(pilot).query(ToolLine) if "search_files" in line.text)
        line.focus()
        await pilot.press("enter")
        await until(pilot, lambda: "beans want bed 3" in screen_text(pilot))

    assert picture(snap_compare, FakeSession(tape(), home=tmp_path), tmp_path, NARROW, acts)


def test_calls_that_run(snap_compare: Compare, tmp_path: Path) -> None:
    """Two at once, after one that has ended and words before them."""
    shown = FakeSession(home=tmp_path)
    first, second, third = (
        ToolCalled("c1", "search_files", '{"pattern": "kale"}'),
        ToolCalled("c2", "read_file", '{"path": "notes/beds.txt", "first_line": 1, "last_line": 80}'),
        ToolCalled("c3", "github_search_issues", '{"query": "kale is:open"}'),
    )
    ended = ToolUsed("search_files", first.arguments, "12 lines hold kale, in 3 files", "c1", True, 1_204, "kale")
    shown.replies.append(Reply(["I look for it first.", first, ended, second, third, asyncio.Event()]))

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(*"where is the kale?", "enter")
        await until(pilot, lambda: screen_text(pilot).count("running …") == 2)

    assert picture(snap_compare, shown, tmp_path, NARROW, acts)


@pytest.mark.parametrize("size", [NARROW, MIDDLE], ids=["80x24", "120x40"])
def test_a_prompt_that_is_a_shell(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    """It says that it is one."""

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(*"!git status")
        if size == MIDDLE:
            await until(pilot, lambda: "word for word" in screen_text(pilot))

    assert picture(snap_compare, FakeSession(tape(), home=tmp_path), tmp_path, size, acts)


def test_a_command_that_runs(snap_compare: Compare, tmp_path: Path) -> None:
    """At the end of the transcript, and in the status line."""
    shown = FakeSession(tape(), home=tmp_path)
    shown.shell_gate = asyncio.Event()

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(*"!make plan", "enter")
        await until(pilot, lambda: "running …" in screen_text(pilot))

    assert picture(snap_compare, shown, tmp_path, NARROW, acts)


def test_paths_that_are_offered(snap_compare: Compare, tmp_path: Path) -> None:
    """Above the prompt, the chosen one marked."""
    shown = FakeSession(tape(), home=tmp_path)
    shown.scripted_paths = ["notes/", "notes/2025.txt", "notes/beds.txt", "notes/kale and beans.txt"]

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(*"compare @notes")
        await until(pilot, lambda: chat_of(pilot).query_one(PathList).offer is not None)
        await pilot.press("down", "down")

    assert picture(snap_compare, shown, tmp_path, NARROW, acts)


@pytest.mark.parametrize(
    ("size", "theme"),
    [(NARROW, "textual-dark"), (MIDDLE, "textual-light"), ((46, 16), "textual-dark")],
    ids=["80x24-dark", "120x40-light", "46x16-dark"],
)
def test_a_question_before_a_command(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    """The command whole, its folder, and what always would allow."""
    shown = FakeSession(tape(), home=tmp_path)
    command = "git log --oneline --since 2026-03-01 \\\n  -- notes/beds.txt notes/kale\u200b.txt"

    async def acts(pilot: Pilot[Any]) -> None:
        if size == MIDDLE:
            await until(pilot, lambda: "word for word" in screen_text(pilot))
        shown.ask(Approval("q1", "run_command", command, "git log", "/home/sam/garden"))
        await until(pilot, lambda: isinstance(pilot.app.screen, ApprovalModal) and pilot.app.screen.armed)

    assert picture(snap_compare, shown, tmp_path, size, acts, theme=theme)
