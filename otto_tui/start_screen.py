"""From the command line to the screen and back: opens the app, and says at the end how to go on."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from memory.errors import OttoError
from otto_tui.chat_loop import resume_sentence
from otto_tui.prepared import Prepared, library_of, with_local_model
from otto_tui.terminal import is_terminal, say_aside
from otto_tui.typed_ahead import keys_kept
from sessions.options import OFFLINE, Options

if TYPE_CHECKING:
    from otto_tui.app import OttoApp
    from sessions.library import Library


def run(prepared: Prepared, resume: str | None) -> None:
    """Show the screen until the person leaves it.

    Raises:
        OttoError: there is no terminal that could show it.
    """
    require_terminal(prepared.options.environ)
    # Hardly anything that is made before the first paint is garbage; looking for some would take a tenth of that time.
    gc.disable()
    if not prepared.settings.ui.kitty_keys:
        # Read by Textual when it is imported.
        os.environ["TEXTUAL_DISABLE_KITTY_KEY"] = "1"
    with keys_kept(sys.stdin.fileno()) as typed:
        app = make_app(prepared, resume, typed=typed)
        last = app.run(mouse=prepared.settings.ui.mouse)
    if app.failure is not None:
        raise app.failure
    if last is not None:
        say_aside(asyncio.run(_how_to_go_on(prepared.options, last)))


def make_app(prepared: Prepared, resume: str | None, *, typed: str = "") -> OttoApp:
    """The app for these settings, with a new session or the one to resume. ``typed`` are keys that came before it."""
    from otto_tui.app import NEW, OttoApp

    @cache
    def options() -> Options:
        # Asks a server on this machine, and so is not called before the first paint.
        return with_local_model(prepared)

    return OttoApp(
        prepared.options,
        open_library=lambda: _open_library(options()),
        startup=resume if resume is not None else NEW,
        workspace=prepared.workspace,
        notices=prepared.notices,
        theme=prepared.settings.ui.theme,
        preload=lambda: _preload(options()),
        typed=typed,
    )


def _open_library(options: Options) -> Library:
    from sessions.library import Library

    return Library(options)


def _preload(options: Options) -> None:
    """What is slow to import and needed for the first reply; nothing for ``offline``."""
    if options.chat != OFFLINE:
        from sessions.litellm_door import load_for_requests

        load_for_requests()


def require_terminal(environ: Mapping[str, str]) -> None:
    """Refuse where no screen can be shown."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise OttoError("The screen needs a terminal, and this is none; use otto chat in a pipe.")
    if environ.get("TERM", "") == "dumb":
        raise OttoError("This terminal is too simple for the screen (TERM=dumb); use otto chat.")


async def _how_to_go_on(options: Options, id: str) -> str:
    async with library_of(options) as library:
        title = next((row.title for row in await library.list() if row.id == id), id)
    return resume_sentence(id, title)
