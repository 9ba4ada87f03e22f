"""Everything a session needs to be told from outside: where files live, which models, which budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memory.budgets import MAX_CHUNKS, TOKEN_BUDGET, WINDOW, X_BUDGET, Y_BUDGET
from memory.values import CompactionMode
from sessions.mcp_servers.settings import McpServer

OFFLINE = "offline"

SMALLEST_CHUNK = 256
"""Tokens. What an observer reads at once is never capped below."""

LOOP_COMPACT_AT = 160_000
"""Characters of tool results in a running turn at which the oldest are rewritten (seed 000, "The context tier")."""

KEEP_VERBATIM = 4
"""The newest results, which stay as they are."""


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenAI-compatible server under a name of the person's own; ``NAME/model`` reaches it."""

    name: str
    api_base: str
    api_key_env: str | None = None
    """The environment variable that holds its key; None for a server that wants none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSettings:
    """How remembering ahead of time works (seed 003, section 3). All sizes are in tokens."""

    observe_after_tokens: int = 10_000
    """Text that has not been observed yet wakes the observer at this size."""
    reflect_after_tokens: int = 20_000
    """Text since the last reflection wakes the reflector at this size."""
    observer_chunk_max_tokens: int | None = None
    """The most that an observer is given at once, known memory included; None takes 20% of its model's window, else
    60,000. Never below ``SMALLEST_CHUNK``."""
    compact_after_tokens: int = 81_000
    """Text that stands word for word in the view is compacted at this size, where the ledger covers it."""
    observations_pool_max_tokens: int = 20_000
    """Observations in the view of this size have the ledger folded again from its start."""
    observations_pool_target_tokens: int | None = None
    """Live observations above this size are pruned after a reflection; None takes half of the maximum."""
    agent_max_turns: int = 16
    """Requests that one run of a worker may make."""
    show_worker_notifications: bool = True
    """Tell subscribers when a worker begins. A failure is told in any case."""
    passive: bool = False
    """Nothing is observed, reflected on, dropped or compacted ahead of need. Recall and status go on."""
    debug_log: bool = False
    """Write what the workers do, with sizes and times, to a file for each session under ``logs``."""
    debug_log_text: bool = False
    """Let that file hold what was said as well."""

    @property
    def pool_target(self) -> int:
        """The size above which live observations are pruned."""
        target = self.observations_pool_target_tokens
        return self.observations_pool_max_tokens // 2 if target is None else target


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Which tools a model may call, and how much (seed 000, "The context tier")."""

    enabled: bool = True
    """Offer the tools that read the workspace."""
    max_calls: int = 120
    """Calls in one turn; then the model must answer without tools."""
    loop_compact_at: int = LOOP_COMPACT_AT
    """Characters of tool output in the running transcript at which the oldest results are rewritten to one line."""
    keep_verbatim: int = KEEP_VERBATIM
    """The newest results, which are never rewritten."""
    run_command: bool = False
    """Offer the tool that runs shell commands. Each one is asked for."""
    command_timeout: float = 120.0
    """Seconds after which a command is stopped."""
    output_cap: int = 200_000
    """Bytes of one tool's output that are kept: its two ends, with a line that says what is left out."""
    parallel: int = 8
    """Calls of one reply that run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings as plain values. ``otto_tui/config.py`` makes one from file, environment and flags."""

    home: Path
    """``~/.otto`` or ``OTTO_HOME``."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """Where keys are looked up."""
    chat: str = OFFLINE
    """The model that answers, as litellm names it, ``NAME/model`` for a provider, or ``offline``."""
    summarize: str | None = None
    """The model that compacts; None takes the chat model."""
    observe: str | None = None
    """The model that observes; None takes the chat model."""
    reflect: str | None = None
    """The model that reflects; None takes the chat model."""
    drop: str | None = None
    """The model that prunes observations; None takes the chat model."""
    api_base: str | None = None
    """Sends every request for ``chat`` to this server."""
    providers: Mapping[str, Provider] = field(default_factory=dict)
    system_prompt: str | None = None
    """None takes Otto's own."""
    temperature: float | None = None
    max_output_tokens: int | None = None
    connect_timeout: float = 10.0
    """Seconds to reach the server."""
    idle_timeout: float = 90.0
    """Seconds without a byte before a stream counts as hung."""
    x_budget: int = X_BUDGET
    """Tokens."""
    y_budget: int = Y_BUDGET
    scale_to_window: bool = True
    """Scale both budgets down to 40% of the chat model's window where that is smaller."""
    reabstract: bool = True
    compaction: CompactionMode = "auto"
    """Where a compaction takes its bullets from (DESIGN, "The live view")."""
    ledger: LedgerSettings = LedgerSettings()
    embedding: str | None = None
    """``provider:model``, a fastembed model's name, or ``none``; None chooses (DESIGN: "Recall")."""
    embedding_path: Path | None = None
    """Folder with a local ONNX model for fastembed."""
    reranker: str | None = None
    """Folder with a cross-encoder for fastembed, or the name of one whose weights are here; None for none."""
    recall_chunks: int = MAX_CHUNKS
    recall_window: int = WINDOW
    recall_tokens: int = TOKEN_BUDGET
    tools: ToolSettings = ToolSettings()
    mcp: Mapping[str, McpServer] = field(default_factory=dict)
    """MCP servers by name."""
    workspace: Path | None = None
    """The folder that tools may read; None takes the one in which the session began."""
    now: Callable[[], datetime] = utc_now
    """Timezone-aware."""
