"""The plain conversation behind ``otto chat``: one prompt, or line after line."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memory.errors import OttoError
from otto_tui.chat_approvals import TypedApprovals
from otto_tui.chat_output import ChatOutput, Guarded
from otto_tui.prepared import Prepared, library_of
from otto_tui.prompt_input import TypedLines
from otto_tui.terminal import is_terminal, say_aside
from otto_tui.vendors import NO_MODEL
from sessions.display import displayable, one_line
from sessions.errors import SessionBusy
from sessions.events import SessionEvent, ToolUsed, TurnDone
from sessions.models import preload
from sessions.options import OFFLINE
from sessions.private_files import reason
from sessions.workspace.attaching import AttachmentRefused
from sessions.workspace.mentions import mentioned_files, path_of

if TYPE_CHECKING:
    from sessions.session import Session

_Result = TypeVar("_Result")

FAILED = 1
INTERRUPTED = 130

RUN_COMMAND = "run_command"
UNASKED = "Nobody is here to be asked"
"""How the tool's answer begins where nobody could be asked."""

HOW_TO_ALLOW = (
    "The model wanted to run a command, and nobody can be asked in a pipe. Run otto chat --allow-commands at a terminal"
    ' and answer "a" to that command once: commands that begin like it then run without a question.'
)

LONGEST_DRAIN = 120.0
"""Seconds that the end of a chat waits for a compaction that is running."""


class Chat:
    """One run of ``otto chat``. Both ways of talking return an exit code."""

    def __init__(self, prepared: Prepared, output: ChatOutput, *, session_id: str | None, labels: bool) -> None:
        """``labels`` says in words who speaks, where a person reads along."""
        self._prepared = prepared
        self._output = output
        self._session_id = session_id
        self._labels = labels
        self._interrupt = asyncio.Event()

    async def ask(self, prompt: str, typed: str = "") -> int:
        """Send one prompt and print the reply. Files that ``typed``, its part from the command line, names go along."""
        async with self._session() as (session, guarded):
            files = self._attachments(session, typed)
            with self._asking(session, lambda: TypedLines(sys.stdin.fileno())):
                done = await session.send(prompt, files)
            if guarded.failure is None:
                await self._unless_interrupted(session.drain(LONGEST_DRAIN))
            self._end(session, guarded, done)
            if self._interrupt.is_set():
                return INTERRUPTED
            return FAILED if done.error is not None else 0

    async def talk(self) -> int:
        """Send line after line, until there are no more."""
        async with self._session() as (session, guarded):
            # What the first request needs takes seconds to import: let it come while the person types.
            loading = None if session.model_name == OFFLINE else asyncio.create_task(preload())
            await self._lines(session, guarded)
            if loading is not None:
                loading.cancel()
            return INTERRUPTED if self._interrupt.is_set() else 0

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[tuple[Session, Guarded]]:
        """The session to talk in, with its events going to the output; closed, and its id said, at the end."""
        async with library_of(self._prepared.options) as library:
            if self._session_id is None:
                session = await library.new(str(self._prepared.workspace))
            else:
                session = await library.open(self._session_id)
            guarded = Guarded(self._output, session.stop)
            unsubscribe = session.subscribe(guarded)
            try:
                await self._ready(session)
                with self._listening(session):
                    yield session, guarded
            except BrokenPipeError:
                raise
            except OSError as error:
                raise OttoError(
                    f"Standard output cannot be written: {reason(error)}. What had come of the reply is kept."
                ) from error
            finally:
                unsubscribe()
                await session.close()
                if guarded.turns:
                    say_aside(resume_sentence(session.id, session.title))

    async def _ready(self, session: Session) -> None:
        if session.read_only:
            raise SessionBusy(
                f"The session {session.id} is open in another Otto, so nothing can be sent to it from here; close that"
                " one, or leave out --session."
            )
        if self._prepared.typed_model and session.model_name != self._prepared.options.chat:
            await session.set_model(self._prepared.options.chat)
        if session.model_name == OFFLINE and self._prepared.chosen_by_otto:
            say_aside(f"Note: {NO_MODEL}")

    async def _lines(self, session: Session, guarded: Guarded) -> None:
        self._label(f"Talking with {session.model_name}. Enter sends, Ctrl-D ends.\n")
        with TypedLines(sys.stdin.fileno()) as lines, self._asking(session, lambda: nullcontext(lines)):
            while True:
                self._label("You: ")
                line = await self._unless_interrupted(lines.next())
                if line is None:
                    self._label("\n")
                    return
                if line.startswith("!"):
                    await self._run_shell(session, line[1:].strip())
                    continue
                if not line.strip() and not session.can_retry:
                    continue
                try:
                    done = await self._turn(session, line)
                except AttachmentRefused as error:
                    say_aside(f"Error: {error}")
                    continue
                self._end(session, guarded, done)

    async def _turn(self, session: Session, line: str) -> TurnDone:
        """Send a line with the files that it names; an empty one tries the last turn again."""
        files = self._attachments(session, line)
        self._label(f"{session.model_name}: ")
        return await (session.send(line, files) if line.strip() else session.retry())

    async def _run_shell(self, session: Session, command: str) -> None:
        """What the person typed after an exclamation mark; the output prints what came of it."""
        if not command:
            return
        try:
            await session.run_shell(command)
        except OttoError as error:
            say_aside(f"Error: {error}")

    def _attachments(self, session: Session, text: str) -> list[Path]:
        """The files that ``text`` names with an @.

        Raises:
            AttachmentRefused: what can only be meant as a file is not there.
        """
        found = mentioned_files(text, self._prepared.workspace)
        if found.missing:
            raise AttachmentRefused(f"There is no file {one_line(found.missing[0], 200)}, so nothing was sent.")
        for name in found.files:
            self._label(f"Attached {name}.\n")
        # A session may have begun in another folder, and what is typed is relative to this one.
        if session.workspace == str(self._prepared.workspace):
            return [Path(name) for name in found.files]
        return [path_of(name, self._prepared.workspace) for name in found.files]

    @contextmanager
    def _asking(self, session: Session, lines: Callable[[], AbstractContextManager[TypedLines]]) -> Iterator[None]:
        """Ask the person before commands run, where somebody sits at a terminal; else say once why none runs."""
        session.can_ask = is_terminal(sys.stdin) and is_terminal(sys.stderr)
        watching = TypedApprovals(session, lines) if session.can_ask else _UnaskedNote()
        unsubscribe = session.subscribe(watching)
        try:
            yield
        finally:
            unsubscribe()

    def _end(self, session: Session, guarded: Guarded, done: TurnDone) -> None:
        """Print how a turn ended.

        Raises:
            OSError: standard output has failed or been closed.
        """
        if guarded.failure is not None:
            raise guarded.failure
        self._output.end_of_turn(session.id, done)
        if done.error is not None:
            say_aside(f"Error: {done.error}")

    async def _unless_interrupted(self, work: Coroutine[Any, Any, _Result]) -> _Result | None:
        """What ``work`` gives, or None as soon as Ctrl-C is pressed."""
        task = asyncio.ensure_future(work)
        pressed = asyncio.ensure_future(self._interrupt.wait())
        await asyncio.wait({task, pressed}, return_when=asyncio.FIRST_COMPLETED)
        pressed.cancel()
        if task.done():
            return task.result()
        task.cancel()
        return None

    @contextmanager
    def _listening(self, session: Session) -> Iterator[None]:
        """Let Ctrl-C stop the reply and keep what has come. The second Ctrl-C waits for nothing."""

        def pressed() -> None:
            if self._interrupt.is_set():
                raise KeyboardInterrupt
            self._interrupt.set()
            session.stop()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, pressed)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _label(self, text: str) -> None:
        """Words for a person who reads along; never among what a pipe carries."""
        if self._labels:
            sys.stderr.write(displayable(text))
            sys.stderr.flush()


class _UnaskedNote:
    """Tells once how a command can be allowed where nobody can be asked."""

    def __init__(self) -> None:
        self._told = False

    def __call__(self, event: SessionEvent) -> None:
        if isinstance(event, ToolUsed) and event.name == RUN_COMMAND and not event.ok and not self._told:
            self._told = UNASKED in event.text
            if self._told:
                say_aside(f"Note: {HOW_TO_ALLOW}")


def resume_sentence(id: str, title: str) -> str:
    """How to go on with a session, for the end of a run."""
    return f'The session "{one_line(title, 60)}" is kept. Go on with: otto --resume {id}'
