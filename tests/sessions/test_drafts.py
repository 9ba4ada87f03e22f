"""How a reply that is still coming gets to the disk."""

from __future__ import annotations

import asyncio

import pytest

from sessions import drafts
from sessions.drafts import ReplyInProgress


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "SAVE_EVERY", 0.01)


async def until(saved: list[str], text: str) -> None:
    async with asyncio.timeout(60):
        while not saved or saved[-1] != text:
            await asyncio.sleep(0.001)


async def test_the_first_words_are_saved_at_once() -> None:
    saved: list[str] = []
    ReplyInProgress(saved.append).add("one ")
    assert saved == ["one "]


async def test_what_comes_before_a_pause_is_saved_though_nothing_follows() -> None:
    saved: list[str] = []
    reply = ReplyInProgress(saved.append)
    for word in ("one ", "two ", "three "):
        reply.add(word)
    assert saved == ["one "]
    await until(saved, "one two three ")
    reply.add("four ")
    await until(saved, "one two three four ")


async def test_nothing_is_saved_after_the_end() -> None:
    saved: list[str] = []
    reply = ReplyInProgress(saved.append)
    reply.add("one ")
    reply.add("two ")
    reply.end()
    assert reply.text == "one two "
    await asyncio.sleep(drafts.SAVE_EVERY * 5)
    assert saved == ["one "]
