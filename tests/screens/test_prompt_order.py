"""Keys are taken in the order in which they were typed, however fast."""

from __future__ import annotations

from pathlib import Path

from textual import events

from tests.screens.chat_stage import chatting, until
from tests.screens.fakes import FakeSession


def typed(text: str) -> list[events.Key]:
    """Key events as the terminal driver makes them, all at once."""
    names = {"\n": "enter", " ": "space"}
    return [events.Key(names.get(character, character), None if character == "\n" else character) for character in text]


async def test_a_burst_of_keys_is_sent_whole_and_nothing_typed_after_enter_is_lost(tmp_path: Path) -> None:
    session = FakeSession()
    async with chatting(session, home=tmp_path) as pilot:
        for key in typed("hello from the keyboard\nand the next"):
            pilot.app.post_message(key)
        await until(pilot, lambda: session.sent)
        await until(pilot, lambda: pilot.app.screen.query_one("Prompt").text == "and the next")  # type: ignore[attr-defined]
    assert session.sent == ["hello from the keyboard"]
