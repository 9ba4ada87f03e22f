"""The whole app over real sessions on a real disk, with the model that needs no network."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from otto_tui.app import OttoApp
from screens.blocks import NoticeBlock, SaidBlock
from screens.ports import ChatSession, SessionLibrary
from screens.reply_block import ReplyBlock
from screens.row_list import RowList
from screens.tool_block import ToolLine
from screens.tools_screen import ToolsScreen
from sessions.library import Library
from sessions.options import Options
from sessions.session import Session
from tests.screens.chat_stage import MIDDLE, chat_of, screen_text, settled, until


def fits(session: Session, library: Library) -> tuple[ChatSession, SessionLibrary]:
    """What the type checker reads: real sessions are what the screens ask for."""
    return session, library


def app_over(home: Path, startup: str) -> OttoApp:
    options = Options(home=home, x_budget=120, y_budget=240, embedding="none")
    return OttoApp(options, open_library=lambda: Library(options), startup=startup, workspace=home, environ={})


async def say(pilot: Pilot[str | None], text: str) -> None:
    """Send this and wait for the end of the turn."""
    chat = chat_of(pilot)
    await until(pilot, lambda: chat.conversation is not None)
    replies = len(chat.query(ReplyBlock))
    chat.prompt.insert(text)
    await pilot.press("enter")
    await until(pilot, lambda: len(chat.query(ReplyBlock)) > replies)
    await until(pilot, lambda: chat.conversation is not None and not chat.conversation.busy)
    await settled(pilot)


async def test_a_talk_is_compacted_quit_resumed_and_goes_on(tmp_path: Path) -> None:
    app = app_over(tmp_path, "new")
    async with app.run_test(size=MIDDLE) as pilot:
        for turn in range(8):
            await say(pilot, f"Remember that bed {turn} gets {turn * 3} litres of water every day of the summer.")
        assert app.chat.conversation is not None
        await app.chat.conversation.done()
        await until(pilot, lambda: "older turns stay here; the model now reads" in _all_text(pilot))
        await pilot.press("ctrl+q")
    id = app.return_value
    assert id is not None
    again = app_over(tmp_path, "last")
    async with again.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: len(again.chat.query(SaidBlock)) == 8)
        await say(pilot, "And what about bed 7?")
        assert "And what about bed 7?" in screen_text(pilot)
        assert len(again.chat.query(SaidBlock)) == 9
        await pilot.press("ctrl+q")
    assert again.return_value == id


async def test_a_second_otto_is_read_only_and_says_so_once(tmp_path: Path) -> None:
    first = app_over(tmp_path, "new")
    async with first.run_test(size=MIDDLE) as pilot:
        await say(pilot, "Hello from the first one.")
        second = app_over(tmp_path, "last")
        async with second.run_test(size=MIDDLE) as other:
            await until(other, lambda: "Hello from the first one." in screen_text(other))
            await settled(other)
            assert len(second.chat.query(NoticeBlock)) == 1
            assert "read-only" in screen_text(other).splitlines()[0]


async def test_a_new_session_leaves_nothing_behind_when_nothing_is_said(tmp_path: Path) -> None:
    app = app_over(tmp_path / "home", "new")
    async with app.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: app.chat.conversation is not None)
        await pilot.press(*"half", "ctrl+q")
    assert app.return_value is None
    assert not (tmp_path / "home").exists()


async def test_a_command_and_a_file_stand_on_the_tape_and_come_back(tmp_path: Path) -> None:
    """What is typed after ``!`` runs, what is typed after ``@`` is completed and attached, and both are there again."""
    (tmp_path / "beds.txt").write_text("beans in bed 3", encoding="utf-8")
    app = app_over(tmp_path, "new")
    async with app.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: app.chat.conversation is not None)
        await pilot.press(*"!echo dug; exit 3", "enter")
        await until(pilot, lambda: "exit 3" in screen_text(pilot))
        await pilot.press(*"what grows? @be")
        await until(pilot, lambda: app.chat.prompt.offer is not None)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: app.chat.query(ReplyBlock))
        await until(pilot, lambda: app.chat.conversation is not None and not app.chat.conversation.busy)
        await pilot.press("ctrl+q")
    again = app_over(tmp_path, "last")
    async with again.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: len(again.chat.query(ToolLine)) == 2)
        first, second = (line.text for line in again.chat.query(ToolLine))
        assert first.startswith("▾ $ echo dug; exit 3  exit 3 · ")
        assert second == "▸ attached  beds.txt  14 chars"
        assert "what grows? @beds.txt" in screen_text(pilot)


async def test_the_tools_of_a_real_session_are_listed_and_switched(tmp_path: Path) -> None:
    app = app_over(tmp_path, "new")
    async with app.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: app.chat.conversation is not None)
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(app.screen, ToolsScreen))
        rows = app.screen.query_one(RowList)
        await until(pilot, lambda: rows.select_key("tool workspace read_file"))
        assert app.chat.conversation is not None
        session = app.chat.conversation.session
        await pilot.press("space")
        await until(pilot, lambda: [tool.enabled for tool in session.tools() if tool.name == "read_file"] == [False])
        assert all(tool.parameters for tool in session.tools())


def _all_text(pilot: Pilot[str | None]) -> str:
    return "\n".join(str(fold.render()) for fold in chat_of(pilot).query(".fold"))
