"""Carries out what the person asks of the chat, whether by key, slash command, palette or mouse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memory.errors import OttoError
from screens.commands import COMMANDS
from screens.conversation import Conversation
from screens.conversations import OpenConversations
from screens.event_blocks import is_reply
from screens.header import priced
from screens.ledger_words import status_lines
from screens.live_reply import LiveText
from screens.wording import counted, grouped
from sessions.display import one_line
from sessions.events import Notice

if TYPE_CHECKING:
    from screens.chat import ChatScreen
    from screens.export_modal import ExportWish

LOOKED_BACK = 60
"""Events among which the last reply is looked for."""


class ChatCommands:
    """One method a command of ``screens.commands``. All raise OttoError with a sentence for the person."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._does: dict[str, Callable[[str], Awaitable[None]]] = {
            "help": self.help,
            "memory": self.memory,
            "recall": self.recall,
            "resume": self.resume,
            "new": self.new,
            "retry": self.retry,
            "model": self.model,
            "tools": self.tools,
            "compact": self.compact,
            "copy": self.copy,
            "export": self.export,
            "theme": self.theme,
            "fork": self.fork,
            "rename": self.rename,
            "status": self.status,
            "view": self.view,
            "quit": self.quit,
        }

    async def run(self, name: str, argument: str = "") -> None:
        """Carry out the command with this name."""
        await self._does[name](argument)

    # looking

    async def help(self, argument: str) -> None:
        from screens.help_screen import HelpScreen

        usage = [(f"/{command.name} {command.argument}".strip(), command.help) for command in COMMANDS]
        self._screen.app.push_screen(HelpScreen(commands=usage))

    async def memory(self, argument: str) -> None:
        await self._screen.side.toggle("memory")

    async def recall(self, argument: str) -> None:
        if not argument:
            await self._screen.side.toggle("recall")
        else:
            await self._screen.side.ask_recall(argument)

    async def view(self, argument: str) -> None:
        if not argument:
            await self._screen.side.show_view()
            return
        if argument not in ("full", "diff"):
            raise OttoError("Type /view, /view full for what the ledger holds, or /view diff for what differs.")
        from screens.records_screen import RecordsScreen

        ledger = await self._conversation.session.ledger()
        self._screen.app.push_screen(RecordsScreen(ledger, diff=argument == "diff"))

    async def status(self, argument: str) -> None:
        session = self._conversation.session
        memory, ledger = await session.snapshot(), await session.ledger()
        totals = session.totals
        await self._screen.transcript.say(
            Notice(
                f"Session {session.id}: {counted(memory.turns, 'turn')}, {counted(memory.events, 'event')},"
                f" generation {memory.generation}.\n"
                f"X holds {grouped(memory.x_tokens)} of {grouped(memory.x_budget)} tokens,"
                f" Y {grouped(memory.y_tokens)} of {grouped(memory.y_budget)},"
                f" with {counted(len(memory.bullets), 'bullet')}.\n"
                f"{session.model_name} read {counted(totals.prompt_tokens, 'token')}"
                f" and wrote {grouped(totals.completion_tokens)}; cost so far {priced(totals.cost)}.\n"
                + "\n".join(status_lines(ledger)),
                "information",
            )
        )

    async def theme(self, argument: str) -> None:
        app = self._screen.app
        app.theme = "textual-light" if app.current_theme.dark else "textual-dark"

    # other sessions

    async def resume(self, argument: str) -> None:
        conversations = self._conversations
        if argument:
            await self._screen.show(await conversations.open(argument))
            return
        from screens.sessions_screen import SessionsScreen

        shown = self._screen.conversation
        self._screen.app.push_screen(
            SessionsScreen(
                conversations.library,
                current=shown.session if shown is not None else None,
                let_go=conversations.let_go,
                now=self._screen.surroundings.now,
                folder=self._screen.surroundings.workspace,
            ),
            self._resume_chosen,
        )

    def _resume_chosen(self, id: str | None) -> None:
        if id is not None:
            self._screen.ask("resume", id)
        self._screen.show_status()

    async def new(self, argument: str) -> None:
        workspace = str(self._screen.surroundings.workspace)
        await self._screen.show(await self._conversations.new(workspace))

    async def fork(self, argument: str) -> None:
        session = self._conversation.session
        newest = await session.transcript(limit=1)
        if not newest:
            raise OttoError("There is nothing to fork yet: say something first.")
        if argument and not argument.isdecimal():
            raise OttoError("A fork needs the number of an event, as the memory panel shows it, or nothing at all.")
        row = await self._conversations.library.fork(session.id, int(argument or newest[-1].seq))
        await self._screen.show(await self._conversations.open(row.id))
        self._screen.say(f"This is the fork. The session it comes from is as it was: {session.title}")

    # this session

    async def retry(self, argument: str) -> None:
        conversation = self._conversation
        if not conversation.session.can_retry or conversation.busy:
            raise OttoError("There is nothing to retry: the last prompt has its whole reply.")
        conversation.retry()
        self._screen.show_status()

    async def model(self, argument: str) -> None:
        session = self._conversation.session
        if argument:
            await session.set_model(argument)
            self._screen.show_status()
            self._screen.say(f"{session.model_name} answers from now on.")
            return
        from screens.model_picker import ModelPicker

        picker = ModelPicker(session.model_name, self._screen.surroundings.find_models)
        self._screen.app.push_screen(picker, self._model_chosen)

    def _model_chosen(self, name: str | None) -> None:
        if name is not None:
            self._screen.ask("model", name)

    async def tools(self, argument: str) -> None:
        from screens.tools_screen import ToolsScreen

        self._screen.app.push_screen(ToolsScreen(self._conversation.session))

    async def compact(self, argument: str) -> None:
        done = await self._conversation.session.compact_now()
        if done is None:
            raise OttoError("There is nothing to compact yet: no turn has left X.")

    async def copy(self, argument: str) -> None:
        text = await self._last_reply()
        if not text:
            raise OttoError("There is no reply to copy yet.")
        self._screen.app.copy_to_clipboard(text)

    async def rename(self, argument: str) -> None:
        session = self._conversation.session
        if argument:
            await session.rename(argument)
            self._screen.show_status()
            return
        from screens.ask_modal import AskModal

        question = AskModal("Rename this session", answer=session.title, action="Rename", attempt=session.rename)
        self._screen.app.push_screen(question, lambda title: self._screen.show_status())

    async def export(self, argument: str) -> None:
        session, library = self._conversation.session, self._conversations.library
        if argument:
            path = Path(argument).expanduser()
            format: Literal["json", "markdown"] = "markdown" if path.suffix in (".md", ".markdown") else "json"
            self._exported(await library.export(session.id, path, format=format))
            return
        from screens.export_modal import ExportModal

        async def write(wish: ExportWish) -> Path:
            return await library.export(
                session.id, wish.path, format=wish.format, tape=wish.tape, overwrite=wish.overwrite
            )

        folder = self._screen.surroundings.workspace
        self._screen.app.push_screen(ExportModal(session.title, folder=folder, write=write), self._exported)

    async def quit(self, argument: str) -> None:
        await self._screen.app.action_quit()

    # pieces

    @property
    def _conversations(self) -> OpenConversations:
        if self._screen.conversations is None:
            raise OttoError("Otto is still opening; try again in a moment.")
        return self._screen.conversations

    @property
    def _conversation(self) -> Conversation:
        if self._screen.conversation is None:
            raise OttoError("No session is open yet. Ctrl+N begins one, F4 lists those there are.")
        return self._screen.conversation

    async def _last_reply(self) -> str:
        """What is coming in, else the last reply on the tape."""
        conversation = self._conversation
        if conversation.live is not None:
            words = [part.text for part in conversation.live.blocks if isinstance(part, LiveText)]
            if words:
                return "\n\n".join(words)
        recent = await conversation.session.transcript(limit=LOOKED_BACK)
        return next((event.text for event in reversed(recent) if is_reply(event)), "")

    def _exported(self, path: Path | None) -> None:
        if path is not None:
            self._screen.say(f"Exported to {one_line(str(path), 300)}")
