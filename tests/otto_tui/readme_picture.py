"""The picture in README.md: the real app, in which the demo has played to its end and was asked something.

``python -m tests.otto_tui.readme_picture`` writes it to docs/otto.svg.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from otto_tui.demo_app import demo_app
from screens.blocks import NoticeBlock
from screens.draft import Draft

PICTURE = Path(__file__).parents[2] / "docs" / "otto.svg"
SIZE = (132, 40)
QUESTION = "Who has to press the button before residents get a message?"
PATIENCE = 300


async def picture(home: Path) -> str:
    """The screen as SVG."""
    app = demo_app(home, speed=500)
    async with app.run_test(size=SIZE) as pilot:
        await _until(lambda: bool(app.screen.query(NoticeBlock)))
        conversation = app.chat.conversation
        assert conversation is not None
        conversation.send(Draft(QUESTION))
        await conversation.done()
        while (await conversation.session.snapshot()).compacting:
            await asyncio.sleep(0.1)
        await pilot.pause(1)
        return app.export_screenshot(title="otto")


async def _until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not there():
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PICTURE.write_text(asyncio.run(picture(Path(folder))), encoding="utf-8")
    print(f"Written to {PICTURE}.")
