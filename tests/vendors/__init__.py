"""Vendors on loopback, over real HTTP and each in its own wire format.

::

    with LoopbackVendor("openai") as vendor:
        vendor.say("hello")                       # the next chat request
        vendor.fail(429, retry_after=7)           # the one after it
        vendor.reply_with(lambda asked: Reply(f"you said {asked.prompt}"))   # all others
        options = vendor.options(tmp_path)        # Options that reach it
        ...
        assert vendor.chats[0].chat.prompt == "hi"

By hand: ``python -m tests.vendors openai --port 8099``.
"""

from tests.vendors.replies import Asked, Failure, Reply, Said, ToolUse
from tests.vendors.server import LoopbackVendor, Request

__all__ = ["Asked", "Failure", "LoopbackVendor", "Reply", "Request", "Said", "ToolUse"]
