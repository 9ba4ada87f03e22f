"""Everything a session needs to be told from outside: where files live, which models, which budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memory.budgets import X_BUDGET, Y_BUDGET

OFFLINE = "offline"


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
    embedding: str | None = None
    """``provider:model``, a fastembed model's name, or ``none``; None chooses (DESIGN: "Recall")."""
    embedding_path: Path | None = None
    """Folder with a local ONNX model for fastembed."""
    recall_chunks: int = 20
    recall_window: int = 2
    recall_tokens: int = 3_000
    now: Callable[[], datetime] = utc_now
    """Timezone-aware."""
