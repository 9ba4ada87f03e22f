"""What the chat looks like: wide and narrow, dark and light, busy, failed and empty."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import OptionList

from memory.values import Event
from screens.blocks import FailureBlock, FoldLine
from screens.inspector import InspectorPanel
from screens.model_picker import ModelPicker
from screens.recall_panel import RecallPanel
from screens.reply_block import Code
from sessions.events import Compacting, Notice
from tests.screens.chat_stage import MIDDLE, NARROW, WIDE, chat_of, otto, screen_text, settled, until
from tests.screens.fakes import FakeLibrary, FakeSession, FakeTotals, Reply, conversation, event

Compare = Callable[..., bool]
Acts = Callable[[Pilot[Any]], Awaitable[None]]

REPLY = """Beans want **warm soil**, so wait until mid May. In order:

1. Loosen bed 3 and rake in compost.
2. Sow the beans 5 cm deep, 15 cm apart.
3. Water in the evening, *never* on the leaves.

| bed | crop  | sown   |
|-----|-------|--------|
| 3   | beans | 15 May |
| 4   | kale  | 1 June |

```python
def rows(length_cm: int, apart_cm: int = 15) -> int:
    return length_cm // apart_cm
```

> Keep the west side free for the roses.

See [the almanac](https://example.org/almanac) for the moon, and `rows()` above.
"""


def garden() -> list[Event]:
    """A few weeks of planning beds."""
    found = {"summary": "4 passages about bed 3"}
    return [
        *conversation(22),
        event(45, "user", "When do I sow the beans, and how?\nBed 3 is still wet."),
        event(46, "tool", '{"question": "bed 3"}', kind="note", source="recall_memory", meta=found),
        event(47, "assistant", REPLY),
        event(48, "user", "And the kale?"),
        event(49, "assistant", "Kale can stand the cold: sow it from March on."),
    ]


def session(home: Path, *, raw_events: int = 12, **more: Any) -> FakeSession:
    made = FakeSession(garden(), home=home, raw_events=raw_events, **more)
    made.totals = FakeTotals(12_000, 800, 0.0312)
    return made


def picture(
    compare: Compare, shown: FakeSession, home: Path, size: tuple[int, int], acts: Acts | None = None, **more: Any
) -> bool:
    async def before(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: chat_of(pilot).conversation is not None)
        await settled(pilot)
        if acts is not None:
            await acts(pilot)
            await settled(pilot)
        if size[0] >= 110:
            await until(pilot, lambda: chat_of(pilot).query(InspectorPanel))
            await until(pilot, lambda: "word for word" in screen_text(pilot) or not shown.tape)
        await pilot.pause()

    return compare(otto(FakeLibrary.of(shown), home, **more), terminal_size=size, run_before=before)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
@pytest.mark.parametrize("size", [NARROW, MIDDLE, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_conversation(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    """Words of both, a tool line, Markdown, and the memory beside the chat where there is room."""
    assert picture(snap_compare, session(tmp_path), tmp_path, size, theme=theme)


def test_an_empty_session_without_a_model(snap_compare: Compare, tmp_path: Path) -> None:
    """One line says how to get a real model."""
    assert picture(snap_compare, FakeSession(home=tmp_path, model_name="offline"), tmp_path, NARROW)


def test_a_reply_with_an_open_fence_a_queued_prompt_and_a_compaction(snap_compare: Compare, tmp_path: Path) -> None:
    """The status line says what goes on; code is plain text until its fence closes."""
    shown = session(tmp_path)
    shown.replies.append(Reply(["Like this:\n\n```python\nfor bed in beds:\n    sow(bed)\n", asyncio.Event()]))

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(*"show me", "enter")
        await until(pilot, lambda: chat_of(pilot).query(Code))
        await pilot.press(*"and then?", "enter")
        shown.emit(Compacting(14, "fake/model"))
        await until(pilot, lambda: "compacting 14 items" in screen_text(pilot))

    assert picture(snap_compare, shown, tmp_path, NARROW, acts)


def test_a_failure_and_a_notice(snap_compare: Compare, tmp_path: Path) -> None:
    """A sentence with the key that asks again, and a sentence from Otto."""
    shown = session(tmp_path)
    sentence = "fake/model takes no more requests for 20 s. Wait, then try again, or press F8 for another model."
    shown.replies.append(Reply(["Kale wants"], error=sentence))

    async def acts(pilot: Pilot[Any]) -> None:
        shown.emit(Notice("The summariser failed three times; older turns stand as excerpts until it answers again."))
        await pilot.press(*"how deep?", "enter")
        await until(pilot, lambda: chat_of(pilot).query(FailureBlock))

    assert picture(snap_compare, shown, tmp_path, NARROW, acts)


@pytest.mark.parametrize("size", [NARROW, MIDDLE], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_fold_between_older_turns_and_what_the_model_reads(
    snap_compare: Compare, tmp_path: Path, size: tuple[int, int]
) -> None:
    """A line where the verbatim part begins."""

    async def acts(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: chat_of(pilot).query(FoldLine))
        fold = chat_of(pilot).query_one(FoldLine)
        chat_of(pilot).transcript.scroll_to(y=fold.virtual_region.y - 5, animate=False, immediate=True)

    assert picture(snap_compare, session(tmp_path), tmp_path, size, acts)


def test_a_prompt_of_several_lines_with_a_paste(snap_compare: Compare, tmp_path: Path) -> None:
    """The prompt grows, a large paste is a chip, and the line below says what tab does."""

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(*"Is this", "ctrl+j", *"the right order? ")
        chat_of(pilot).prompt.post_message(Paste("2026-03-02 bed 3 wet\n" * 685))
        await until(pilot, lambda: "685 lines" in screen_text(pilot))

    assert picture(snap_compare, session(tmp_path), tmp_path, NARROW, acts)


def test_the_commands_under_a_slash(snap_compare: Compare, tmp_path: Path) -> None:
    """Commands that begin as what is typed."""

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(*"/re")

    assert picture(snap_compare, session(tmp_path), tmp_path, NARROW, acts)


def test_far_back_in_the_conversation(snap_compare: Compare, tmp_path: Path) -> None:
    """A turn that was looked up is marked, and the way to the end is told."""
    shown = FakeSession(conversation(500), home=tmp_path, raw_events=40)

    async def acts(pilot: Pilot[Any]) -> None:
        await chat_of(pilot).transcript.jump(101)

    assert picture(snap_compare, shown, tmp_path, NARROW, acts)


def test_the_list_of_models(snap_compare: Compare, tmp_path: Path) -> None:
    """What can answer on this machine, and room for any other name."""

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelPicker))
        await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count)

    assert picture(snap_compare, session(tmp_path), tmp_path, NARROW, acts)


@pytest.mark.parametrize(("key", "panel"), [("f2", InspectorPanel), ("f3", RecallPanel)])
def test_a_panel_in_place_of_the_chat(
    snap_compare: Compare, tmp_path: Path, key: str, panel: type[InspectorPanel | RecallPanel]
) -> None:
    """On 80 columns a panel takes the whole width, with tabs above it."""

    async def acts(pilot: Pilot[Any]) -> None:
        await pilot.press(key)
        await until(pilot, lambda: chat_of(pilot).query(panel) and chat_of(pilot).query_one(panel).region.width == 80)
        await settled(pilot)

    assert picture(snap_compare, session(tmp_path), tmp_path, NARROW, acts)


def test_a_very_small_terminal(snap_compare: Compare, tmp_path: Path) -> None:
    """Prompt and newest words stay in sight."""
    assert picture(snap_compare, session(tmp_path), tmp_path, (46, 12))
