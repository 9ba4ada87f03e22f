"""A session's use of tools: the loop of the turn that runs, the questions that wait, and what the person runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from memory.errors import OttoError
from memory.queue import TieredQueue
from memory.values import NewEvent
from sessions.embedding import EmbeddingWorker
from sessions.events import SessionEvent
from sessions.live import LiveMemory
from sessions.loop_status import LoopStatus
from sessions.options import Options
from sessions.pending_approvals import PendingApprovals
from sessions.recalling import InView, RecallPolicy
from sessions.session_tools import SessionTools
from sessions.tool_loop import ToolLoop
from sessions.tools import BoundStore, bind_store

LEAST_COMPACT_AT = 4_000
"""Characters. However small a model's window is, so much of what tools print may stand."""


class ToolUse:
    """All methods are called on the event loop."""

    def __init__(self, options: Options, workspace: str, emit: Callable[[SessionEvent], None]) -> None:
        self.tools = SessionTools(options, workspace, emit)
        self.approvals = PendingApprovals(emit)
        self.can_ask = False
        """Whether somebody answers what is asked; set by whoever shows ``ApprovalWanted``."""
        self._options = options
        self._emit = emit
        self._loop: ToolLoop | None = None

    async def new_loop(self, memory: LiveMemory, embedding: EmbeddingWorker | None) -> ToolLoop:
        """The loop for the turn that is about to run."""
        options = self._options
        policy = RecallPolicy.of(options)

        ranks_now = embedding.ranks_now if embedding is not None else None
        cache = embedding.cache if embedding is not None else None
        reranker = embedding.reranker if embedding is not None else None

        def bind(*, narrow: bool, in_view: InView) -> AbstractContextManager[object]:
            return bind_store(BoundStore(memory.store, ranks_now, policy, in_view, narrow, cache, reranker))

        self._loop = ToolLoop(
            memory,
            await self.tools.toolbox(),
            replace(options.tools, loop_compact_at=_scaled(options, memory.queue)),
            self._emit,
            bind=bind,
            ask=self.approvals.ask if self.can_ask else None,
            patience=self.tools.patience,
        )
        return self._loop

    def status(self) -> LoopStatus:
        """The loop of the running turn, else of the last one."""
        settings = self._options.tools
        if self._loop is None:
            return LoopStatus(max_calls=settings.max_calls, compact_at=settings.loop_compact_at)
        return self._loop.status()

    async def run_shell(self, command: str, stop: asyncio.Event) -> NewEvent:
        """Run what the person typed; the event to put on the tape. Set ``stop`` to end it.

        Raises:
            CommandFailed: it cannot be started.
            OttoError: the session's folder is not there any more.
        """
        from sessions.commands.for_person import run_for_person

        if self.tools.root is None:
            raise OttoError("The folder of this session is not there any more, so no command can be run in it.")
        keys = {provider.api_key_env for provider in self._options.providers.values() if provider.api_key_env}
        return await run_for_person(
            command,
            self.tools.root,
            self._options.tools,
            environ=self._options.environ or None,
            key_variables=keys,
            stop=stop,
        )

    def read_attachments(self, paths: Sequence[Path]) -> list[NewEvent]:
        """The files as documents of the person's. Blocks.

        Raises:
            AttachmentRefused: one of them cannot be attached.
        """
        from sessions.workspace.attaching import read_attachment

        return [read_attachment(path, self.tools.root or Path()) for path in paths]

    def complete_path(self, prefix: str) -> list[str]:
        """Files and folders that a path after ``@`` may become. Blocks."""
        from sessions.workspace.completing import complete_path

        return [] if self.tools.root is None else list(complete_path(prefix, self.tools.root))


def _scaled(options: Options, queue: TieredQueue) -> int:
    """The threshold of the context tier, scaled down as far as both budgets have been for a small window."""
    at = options.tools.loop_compact_at
    if not options.scale_to_window:
        return at
    share = min(1.0, (queue.x_budget + queue.y_budget) / (options.x_budget + options.y_budget))
    return max(min(at, LEAST_COMPACT_AT), int(at * share))
