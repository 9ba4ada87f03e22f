"""Settings from files, environment and flags, each over the one before; what is wrong in them is said and left out.

Order, weakest first: ``~/.otto/config.toml``, ``<workspace>/.otto/config.toml``, the environment
(``OTTO_MEMORY__X_BUDGET=200``), flags. A folder's own file is not the person's: until they list the folder under
``trusted`` in ``[workspaces]`` of their own settings, it may not say where words and keys go or have commands run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otto_tui.config_sources import Layer, environment_layer, file_layer, names_a_setting
from otto_tui.paths import config_file, from_home, home_folder, workspace_config_file
from otto_tui.settings import Settings
from sessions.mcp_servers.settings import McpServer
from sessions.options import LedgerSettings, Options, Provider, ToolSettings

Flags = Mapping[str, Any]
"""Settings given on the command line, by dotted name: ``{"memory.x_budget": 200}``. Already checked."""


def load(workspace: Path, environ: Mapping[str, str], flags: Flags | None = None) -> tuple[Settings, tuple[str, ...]]:
    """All settings for a conversation in ``workspace``, and a sentence for each thing that was wrong.

    Never raises for what a file or variable holds: the value beneath it is used and the sentence says so.
    """
    sources = _sources(workspace, environ)
    notices = tuple(sentence for layer in sources for sentence in layer.complaints)
    settings = Settings()
    if any(layer.values for layer in sources):
        # Loading pydantic takes as long as half of Otto's start, so it waits until there is something to check.
        from otto_tui.config_check import settle

        settings, complaints = settle(sources, workspace, environ)
        notices += complaints
    return _with_flags(settings, flags or {}), notices


def to_options(settings: Settings, *, home: Path, environ: Mapping[str, str], chat: str) -> Options:
    """What ``sessions`` needs to know. ``chat`` is the model that answers."""
    model, memory, embedding = settings.model, settings.memory, settings.embedding
    return Options(
        home=home,
        environ=environ,
        chat=chat,
        summarize=settings.seats.summarize,
        observe=settings.seats.observe,
        reflect=settings.seats.reflect,
        drop=settings.seats.drop,
        api_base=model.api_base,
        providers={
            name: Provider(name, provider.api_base, provider.api_key_env)
            for name, provider in settings.providers.items()
            if provider.api_base
        },
        system_prompt=model.system_prompt,
        temperature=model.temperature,
        max_output_tokens=model.max_output_tokens,
        connect_timeout=model.connect_timeout,
        idle_timeout=model.idle_timeout,
        x_budget=memory.x_budget,
        y_budget=memory.y_budget,
        scale_to_window=memory.scale_to_window,
        reabstract=memory.reabstract,
        compaction=memory.compaction,
        ledger=LedgerSettings(**dataclasses.asdict(settings.ledger)),
        embedding=embedding.model,
        embedding_path=from_home(embedding.model_path, environ) if embedding.model_path else None,
        reranker=from_home(embedding.reranker, environ).as_posix() if embedding.reranker else None,
        recall_chunks=memory.recall_chunks,
        recall_window=memory.recall_window,
        recall_tokens=memory.recall_tokens,
        tools=ToolSettings(**dataclasses.asdict(settings.tools)),
        mcp={
            name: McpServer(name=name, **dataclasses.asdict(server))
            for name, server in settings.mcp.servers.items()
            if bool(server.command) != bool(server.url)
        },
    )


def _sources(workspace: Path, environ: Mapping[str, str]) -> list[Layer]:
    """Every place that says anything, weakest first."""
    own = config_file(home_folder(environ))
    folder = workspace_config_file(workspace)
    layers = [file_layer(own)]
    if not _same_file(own, folder):
        layers.append(file_layer(folder, of_workspace=True))
    if any(names_a_setting(name) for name in environ):
        layers.append(environment_layer(environ))
    return layers


def _with_flags(settings: Settings, flags: Flags) -> Settings:
    for name, value in flags.items():
        section, key = name.split(".")
        changed = dataclasses.replace(getattr(settings, section), **{key: value})
        settings = dataclasses.replace(settings, **{section: changed})
    return settings


def _same_file(one: Path, other: Path) -> bool:
    """True when a person works in their own home folder, whose ``.otto`` is Otto's home."""
    try:
        return one.samefile(other)
    except OSError:
        return one == other
