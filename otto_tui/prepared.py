"""What every command begins with: the settings of this folder, environment and command line, as ``Options``."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory.errors import OttoError
from otto_tui.commands.flags import given_flags
from otto_tui.config import load, to_options
from otto_tui.paths import home_folder
from otto_tui.settings import Settings
from otto_tui.vendors import choose_chat
from sessions.options import Options
from sessions.vendors import default_model

if TYPE_CHECKING:
    from sessions.library import Library
    from sessions.session import Session


@dataclass(frozen=True, slots=True)
class Prepared:
    """Settings, the options made of them, and what was wrong with them."""

    settings: Settings
    options: Options
    notices: tuple[str, ...]
    workspace: Path
    typed_model: bool
    """A chat model was named on the command line."""

    @property
    def chosen_by_otto(self) -> bool:
        """Nobody named a chat model."""
        return self.settings.model.chat is None


def prepare(ctx: click.Context, *, ask_servers: bool = True) -> Prepared:
    """Read the settings, and choose a chat model where they name none.

    Without ``ask_servers`` no connection is made: ``with_local_model`` catches up on it.

    Raises:
        OttoError: the current folder is gone, or there is an address and no model to ask for there.
    """
    workspace = _workspace()
    flags = given_flags(ctx)
    settings, notices = load(workspace, os.environ, flags)
    if settings.model.api_base is not None and settings.model.chat is None:
        raise OttoError("An address needs a model as well: add -m openai/NAME, as the server calls it.")
    options = to_options(
        settings,
        home=home_folder(os.environ),
        environ=dict(os.environ),
        chat=settings.model.chat or (choose_chat if ask_servers else default_model)(os.environ),
    )
    return Prepared(settings, options, notices, workspace, typed_model="model.chat" in flags)


def with_local_model(prepared: Prepared) -> Options:
    """The options, with a model of a local server where nobody named one and there is no key."""
    options = prepared.options
    return replace(options, chat=choose_chat(options.environ)) if prepared.chosen_by_otto else options


@asynccontextmanager
async def library_of(options: Options) -> AsyncIterator[Library]:
    """The sessions of ``options.home``."""
    from sessions.library import Library

    library = Library(options)
    await library.start()
    yield library


@asynccontextmanager
async def session_of(options: Options, id: str) -> AsyncIterator[Session]:
    """One session to look into, without touching it."""
    async with library_of(options) as library:
        session = await library.open(id, read_only=True)
        try:
            yield session
        finally:
            await session.close()


def _workspace() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise OttoError("The folder that you are in no longer exists; change to another one.") from error
