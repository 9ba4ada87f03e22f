"""Runs in a peer's own environment: reads conversations and questions as JSON, prints what the peer finds as JSON.

Each peer is used as its own documentation shows, with nothing set. It imports nothing of Otto.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Talk = dict[str, Any]
"""``turns``: pairs of an id and its words; ``questions``: texts."""

Found = list[dict[str, list[str]]]
"""For each question, by how many were asked for, the ids of the turns that came back."""


def actrone_memory(talk: Talk, depths: Sequence[int]) -> Found:
    """Turns as facts (``inject_memory``), found by ``search_memories``."""
    package = import_module("actrone_memory")

    async def run() -> Found:
        async with package.create_memory_manager() as memory:
            ids = {await memory.inject_memory("agent", words): id for id, words in talk["turns"]}
            return [
                {
                    str(depth): [
                        ids[entry.id] for entry in await memory.search_memories("agent", question, limit=depth)
                    ]
                    for depth in depths
                }
                for question in talk["questions"]
            ]

    return asyncio.run(run())


def agentrecall(talk: Talk, depths: Sequence[int]) -> Found:
    """Turns added to one file, found by ``search``."""
    package = import_module("agentrecall")
    with TemporaryDirectory() as folder, package.Memory(str(Path(folder) / "agent.db")) as memory:
        ids = {memory.add(words).id: id for id, words in talk["turns"]}
        return [
            {str(depth): [ids[hit.id] for hit in memory.search(question, k=depth)] for depth in depths}
            for question in talk["questions"]
        ]


PEERS: dict[str, Callable[[Talk, Sequence[int]], Found]] = {
    "actrone-memory": actrone_memory,
    "agentrecall-db": agentrecall,
}
"""By the name of the package on the index."""


def main() -> None:
    given = json.load(sys.stdin)
    answer = os.dup(1)
    # What a peer prints is no part of the answer.
    os.dup2(2, 1)
    name = given["peer"]
    found = [PEERS[name](talk, given["depths"]) for talk in given["talks"]]
    with os.fdopen(answer, "w", encoding="utf-8") as file:
        json.dump({"version": version(name), "talks": found}, file)


if __name__ == "__main__":
    main()
