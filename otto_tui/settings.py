"""Every setting, with its default and what it does.

They are plain dataclasses, so that Otto starts on its defaults without loading the library that checks values. The
marks in the annotations (``Ge``, ``Le``, ...) are what ``otto_tui/config.py`` has that library check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Gt, Le

from memory.budgets import MIN_X_BUDGET, MIN_Y_BUDGET, X_BUDGET, Y_BUDGET
from otto_tui.limits import LARGEST_BUDGET

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
    recall_chunks: Annotated[int, Gt(0), Le(1_000)] = 20
    """How many pieces of text a recall returns at most, neighbours not counted."""
    recall_window: Annotated[int, Ge(0), Le(100)] = 2
    """How many neighbours on either side come along with a piece that was found."""
    recall_tokens: Annotated[int, Gt(0), Le(LARGEST_BUDGET)] = 3_000
    """Tokens that one recall returns at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """Which embedding model ranks what recall finds."""

    __pydantic_config__ = FORBID_UNKNOWN

    model: str | None = None
    """A fastembed model's name, a hosted `provider:model`, or `none` for keyword and recency only. Unset: the best
    one at hand."""
    model_path: str | None = None
    """A folder with the model's ONNX weights, for a machine without a network."""


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
    embedding: EmbeddingSettings = EmbeddingSettings()
    ui: UiSettings = UiSettings()
    workspaces: WorkspaceSettings = WorkspaceSettings()
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
