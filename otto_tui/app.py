"""The app on the screen: puts the library behind the chat, after the first paint."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from textual._xterm_parser import XTermParser
from textual.app import App, SystemCommand
from textual.screen import Screen

from memory.errors import OttoError
from screens.chat import ChatScreen
from screens.clipboard import terminal_takes, tmux_passthrough, write_copy
from screens.commands import COMMANDS
from screens.conversation import Conversation
from screens.conversations import OpenConversations
from screens.surroundings import Surroundings
from screens.terminal_keys import teach_newline_keys
from sessions.options import Options

if TYPE_CHECKING:
    from screens.model_picker import ModelChoice
    from screens.ports import SessionLibrary

NEW = "new"
LAST = "last"

CHAT_STYLE = Path(__file__).parents[1] / "screens" / "chat.tcss"

DARK, LIGHT = "textual-dark", "textual-light"


class OttoApp(App[str | None]):
    """Otto in a terminal. Gives the id of the session that was open last, or None when nothing was said in it.

    ``startup`` is ``new``, ``last`` or the id of a session. ``open_library`` is called in a thread once the first
    screen is painted, so that nothing it imports delays that; ``preload`` likewise, once the session is open.
    ``opened`` is awaited beside all else with the chat and its first conversation, once that is shown. ``typed`` are
    keys that came before the app, as a terminal sends them.
    """

    TITLE = "Otto"
    ENABLE_COMMAND_PALETTE = True
    # The first screen's style stands here as well: met only with the screen, it would have every style read again.
    CSS_PATH = CHAT_STYLE

    def __init__(
        self,
        options: Options,
        *,
        open_library: Callable[[], SessionLibrary],
        startup: str = NEW,
        workspace: Path | None = None,
        notices: Sequence[str] = (),
        theme: str | None = None,
        preload: Callable[[], object] | None = None,
        opened: Callable[[ChatScreen, Conversation], Awaitable[None]] | None = None,
        clock: Callable[[], float] = monotonic,
        environ: Mapping[str, str] | None = None,
        typed: str = "",
    ) -> None:
        super().__init__()
        self.options = options
        self.workspace = workspace if workspace is not None else Path.cwd()
        self._open_library = open_library
        self._startup = startup
        self._preload = preload
        self._opened = opened
        self._clock = clock
        self._environ = os.environ if environ is None else environ
        self._typed = typed
        self._notices = list(notices)
        self._choose_theme(theme)
        self.conversations: OpenConversations | None = None
        self.chat = ChatScreen(self._surroundings())
        teach_newline_keys()

    def _choose_theme(self, name: str | None) -> None:
        if name is None:
            return
        if name in self.available_themes:
            self.theme = name
        else:
            self._notices.append(f"There is no theme {name}; the dark one is used. /theme switches to the light one.")

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            home=self.options.home,
            workspace=self.workspace,
            now=self.options.now,
            find_models=self._find_models,
            notices=self._notices,
        )

    def get_default_screen(self) -> Screen[None]:
        return self.chat

    def on_load(self) -> None:
        """Before the terminal is listened to, so that these keys are the first ones."""
        for event in XTermParser().feed(self._typed):
            self.post_message(event)

    async def on_mount(self) -> None:
        # Keys wait in the app's own queue meanwhile; without a focus they would go nowhere.
        await self.chat.ready.wait()
        # Textual paints nothing until the app is mounted; what comes by the app's own queue is after that.
        self.call_later(self._paint_first)

    def _paint_first(self) -> None:
        self.chat.refresh()
        self.chat.call_after_refresh(self._begin)

    def _begin(self) -> None:
        # ``start_screen.run`` turned it off; what was made until now stays as long as the app.
        gc.freeze()
        gc.enable()
        self.run_worker(self._open(), group="open", exit_on_error=False)

    async def _open(self) -> None:
        """Everything that may be slow, with the prompt usable all the while."""
        try:
            library = await asyncio.to_thread(self._load)
            self.conversations = OpenConversations(library, watcher=self.chat.post_message, clock=self._clock)
            self.chat.conversations = self.conversations
            await library.start()
            first = await self._first(self.conversations)
            await self.chat.show(first)
            if self._opened is not None:
                self.run_worker(self._opened(self.chat, first), group="opened", exit_on_error=False)
        except OttoError as error:
            await self.chat.fail_to_open(str(error))
        except Exception as error:
            self.log.error(error)
            await self.chat.fail_to_open(f"Otto could not open its sessions ({type(error).__name__}: {error}).")
        if self._preload is not None:
            await asyncio.to_thread(self._preload)

    def _load(self) -> SessionLibrary:
        """What the first reply needs is imported here as well, in the thread."""
        import_module("screens.reply_markdown")
        return self._open_library()

    async def _first(self, conversations: OpenConversations) -> Conversation:
        if self._startup == NEW:
            return await conversations.new(str(self.workspace))
        return await conversations.open(self._startup)

    async def _find_models(self) -> Sequence[ModelChoice]:
        from otto_tui.model_choices import model_choices

        return await model_choices(self.options)

    async def action_quit(self) -> None:
        """Close every session, keeping what has come of a reply, and leave."""
        # Whoever speaks into the session by itself, as the demo does, must not go on while it is being closed.
        self.workers.cancel_group(self, "opened")
        last = self.chat.conversation
        said_something = last is not None and bool(await last.session.transcript(limit=1))
        if self.conversations is not None:
            await self.conversations.close_all()
        self.exit(last.session.id if last is not None and said_something else None)

    @property
    def failure(self) -> Exception | None:
        """What ended the app before its time."""
        return self._exception

    def _fatal_error(self) -> None:
        # Textual would print a trace with the values of variables, keys among them.
        self.chat.ready.set()
        self._close_messages_no_wait()

    def copy_to_clipboard(self, text: str) -> None:
        """Send ``text`` to the terminal's clipboard, or to a file where that cannot be; say which."""
        size = f"{len(text):,} {'character' if len(text) == 1 else 'characters'}"
        if not terminal_takes(text, self._environ):
            self.run_worker(self._copy_to_file(text, size), group="copy", exit_on_error=False)
            return
        super().copy_to_clipboard(text)
        if "TMUX" in self._environ and self._driver is not None:
            self._driver.write(tmux_passthrough(text))
        self.notify(f"Sent {size} to the terminal's clipboard.", markup=False)

    async def _copy_to_file(self, text: str, size: str) -> None:
        try:
            path = await asyncio.to_thread(write_copy, text, self.options.home)
        except OSError as error:
            self.notify(f"Not copied: {error.strerror}.", severity="error", markup=False)
            return
        self.notify(f"The terminal's clipboard cannot take this; the {size} are in {path}.", markup=False, timeout=15)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette has what the chat can do."""
        for command in COMMANDS:
            yield SystemCommand(command.title, command.help, lambda name=command.name: self.chat.ask(name))
