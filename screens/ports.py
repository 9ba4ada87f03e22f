"""What screens ask of a session and of the library, and nothing more. Real and scripted ones both fit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from memory.values import Compaction, Event, MemorySnapshot, RecalledSource, RecallResult
    from sessions.approvals import Decision
    from sessions.events import SessionEvent, TurnDone
    from sessions.loop_status import LoopStatus
    from sessions.mcp_servers.connection import McpStatus
    from sessions.observing.status import LedgerStatus
    from sessions.options import Options
    from sessions.toolbox import ToolInfo


class Spent(Protocol):
    """What a session has used so far."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...
    @property
    def cost(self) -> float | None:
        """US dollars; None when a price is not known."""


class Row(Protocol):
    """A session as the list shows it."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def workspace(self) -> str: ...
    @property
    def created(self) -> str: ...
    @property
    def updated(self) -> str: ...
    @property
    def turns(self) -> int: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def snippet(self) -> str | None:
        """Where the words that were searched for were said."""

    @property
    def notice(self) -> str | None:
        """What a person should know of how the row came to be."""


class ChatSession(Protocol):
    """One open conversation. Every method is called on the event loop that draws the screens, unless it says so."""

    can_ask: bool
    """Set to True by whoever shows ``ApprovalWanted`` and answers with ``decide``."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def model_name(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def busy(self) -> bool: ...
    @property
    def can_retry(self) -> bool: ...
    @property
    def workspace(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def options(self) -> Options: ...
    @property
    def totals(self) -> Spent: ...

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Call ``callback`` with each event until the returned function is called."""

    async def send(self, text: str, attachments: Sequence[Path] = ()) -> TurnDone:
        """Raises an OttoError when nothing was sent, such as for an attachment that cannot be read."""

    async def run_shell(self, command: str) -> Event:
        """Run what the person typed after ``!``; ``stop`` ends it. The event has the output."""

    def decide(self, approval_id: str, decision: Decision) -> None: ...
    def tools(self) -> Sequence[ToolInfo]:
        """Every tool there is, whether it is switched on or not."""

    def servers(self) -> Sequence[McpStatus]:
        """Every MCP server that is configured."""

    async def switch_tool(self, name_or_group: str, on: bool) -> None: ...
    def loop(self) -> LoopStatus:
        """The agent loop of the running turn, else of the last one."""

    def complete_path(self, prefix: str) -> list[str]:
        """Files and folders that a path after ``@`` may become. Called in a thread: it may read the disk."""

    async def retry(self) -> TurnDone: ...
    def stop(self) -> None: ...
    async def snapshot(self) -> MemorySnapshot: ...
    async def view(self) -> list[dict[str, Any]]:
        """The messages that the next request will carry, without the new prompt."""

    async def transcript(self, before: int | None = None, limit: int = 30, after: int | None = None) -> list[Event]:
        """At most ``limit`` events, oldest first: the newest below ``before``, or the first above ``after``."""

    async def compactions(self) -> Sequence[Compaction]: ...
    async def ledger(self) -> LedgerStatus: ...
    async def recall(self, question: str) -> RecallResult: ...
    async def recall_id(self, id: str) -> RecalledSource: ...
    async def set_model(self, name: str) -> None: ...
    async def compact_now(self) -> Compaction | None:
        """None when there is nothing to compact."""

    async def rename(self, title: str) -> None: ...
    async def reembed(self, progress: Callable[[int, int], None]) -> None: ...
    async def close(self) -> None: ...


class SessionLibrary(Protocol):
    """All sessions of one Otto home."""

    async def start(self) -> None: ...
    async def new(self, workspace: str) -> ChatSession: ...
    async def open(self, id: str) -> ChatSession:
        """By id, unique prefix or ``last``; raises an OttoError when there is none."""

    async def list(self, query: str = "") -> Sequence[Row]: ...
    def search(self, query: str) -> AsyncIterator[Row]:
        """Sessions with every word in the title, then those in which it was said, as they are found."""

    def take_notices(self) -> Sequence[str]:
        """Sentences about damaged or missing files, each once."""

    async def transcript(self, id: str, before: int | None = None, limit: int = 30) -> Sequence[Event]:
        """Events of a session that need not be open, as ``ChatSession.transcript`` gives them."""

    async def rename(self, id: str, title: str) -> None: ...
    async def delete(self, id: str) -> None: ...
    async def undo_delete(self) -> Row | None: ...
    async def fork(self, id: str, at_seq: int) -> Row: ...
    async def export(
        self,
        id: str,
        path: Path,
        *,
        format: Literal["json", "markdown"] = "json",
        tape: bool = False,
        overwrite: bool = False,
    ) -> Path: ...
    async def import_file(self, path: Path) -> Row: ...
    async def reembed(self, id: str, progress: Callable[[int, int], None]) -> None: ...
