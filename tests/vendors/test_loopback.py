"""The loopback vendors do what tests rely on them to do."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from tests.vendors import Asked, LoopbackVendor, Reply
from tests.vendors.default_replies import obedient_reply
from tests.vendors.replies import Said


def ask(vendor: LoopbackVendor, text: str, *, stream: bool = False) -> httpx.Response:
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]}
    return httpx.post(f"{vendor.api_base}/chat/completions", json=body, timeout=30)


def said(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_scripted_answers_come_in_order_then_the_default() -> None:
    with LoopbackVendor() as vendor:
        vendor.say("one")
        vendor.say("two")
        assert [said(ask(vendor, "hi")) for _ in range(3)] == ["one", "two", "Reply 1 to: hi"]
        vendor.reply_with(lambda asked: Reply(asked.prompt.upper()))
        assert said(ask(vendor, "hi")) == "HI"


def test_a_summary_is_answered_with_cited_bullets_and_uses_up_no_script() -> None:
    with LoopbackVendor() as vendor:
        vendor.say("for the chat")
        assert said(ask(vendor, "Shorten.\n[1] tea\n[2] milk\n[3] sugar\n[4] cups")) == (
            "- tea; milk; sugar [1, 2, 3]\n- cups [4]"
        )
        assert said(ask(vendor, "hello")) == "for the chat"
        assert (len(vendor.summaries), len(vendor.chats)) == (1, 1)


async def test_a_stream_that_hangs_goes_on_when_released() -> None:
    with LoopbackVendor() as vendor:
        vendor.hang("one two three", after=1)
        asking = asyncio.create_task(asyncio.to_thread(ask, vendor, "hi", stream=True))
        request = await vendor.holding()
        assert not asking.done()
        vendor.release()
        assert "[DONE]" in (await asking).text
        assert not request.gone.is_set()


def test_a_server_can_be_started_again_and_again_at_once() -> None:
    for _ in range(20):
        with LoopbackVendor() as vendor:
            assert ask(vendor, "hi").status_code == 200


@pytest.mark.parametrize(
    "command", [":fail 429 7", ":cut", ":end", ":hang", ":garble", ":words 9", ":tool x {}", ":calls 2 x {}", ":code"]
)
def test_by_hand_a_command_is_obeyed(command: str) -> None:
    obeyed = obedient_reply(Asked("m", (Said("user", command),), (), True))
    assert obeyed != obedient_reply(Asked("m", (Said("user", command.replace(":", "?")),), (), True))
