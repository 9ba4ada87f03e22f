"""``recall_memory`` and ``recall_id``, the tools that a model has from the start, and the store that they read.

Which store is decided by where the call runs: ``bind_store`` sets it for everything that is called inside, also in
threads that inherit the context (seed 000, "Storage").
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memory.embeddings import Embedder
from memory.errors import OttoError, UnknownId
from memory.retrieval import recall_id
from memory.store import MemoryStore
from memory.tool_events import RECALL_TOOLS
from memory.vector_cache import VectorCache
from sessions.chat_model import ToolSpec
from sessions.recalled_text import recall_text, source_text
from sessions.recalling import InView, RecallPolicy, recall_everything
from sessions.toolbox import CallContext, Tool, ToolAnswer, ToolRefused

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder

MEMORY_GROUP = "memory"

RECALL_MEMORY, RECALL_ID = RECALL_TOOLS

RECALL_SPEC: ToolSpec = {
    "type": "function",
    "function": {
        "name": RECALL_MEMORY,
        "description": (
            "Search everything said earlier in this conversation and all that tools printed in it, word for word,"
            " including what is no longer in view. Ask a question in plain words, with the names, numbers or terms"
            " that may occur."
        ),
        "parameters": {
            "type": "object",
            "properties": {"question": {"type": "string", "minLength": 1, "description": "What you want to know."}},
            "required": ["question"],
        },
    },
}

RECALL_ID_SPEC: ToolSpec = {
    "type": "function",
    "function": {
        "name": RECALL_ID,
        "description": (
            "Look up an id that stands in brackets in this conversation's memory: the exact words behind a note, a"
            " conclusion, an excerpt or a tool's output, with who said them and when. Use it before an action that"
            " rests on such a line."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "minLength": 1, "description": "The id, as it stands in the brackets."}
            },
            "required": ["id"],
        },
    },
}


@dataclass(frozen=True, slots=True)
class BoundStore:
    """The memory that a tool call reads."""

    store: MemoryStore
    ranks_now: Callable[[], Embedder | None] | None = None
    """The model whose vectors the store has; it reads the disk, so it is asked on the tool's own thread."""
    policy: RecallPolicy = field(default_factory=RecallPolicy)
    in_view: InView = field(default_factory=InView)
    narrow: bool = False
    """The call comes in the middle of a task, which memory must not starve (seed 000, "Two read policies")."""
    cache: VectorCache | None = None
    """The store's vectors, kept between calls."""
    reranker: CrossEncoder | None = None


_bound: ContextVar[BoundStore | None] = ContextVar("otto_bound_store", default=None)


@contextmanager
def bind_store(bound: BoundStore) -> Iterator[BoundStore]:
    """Let tools called inside read this store."""
    token = _bound.set(bound)
    try:
        yield bound
    finally:
        _bound.reset(token)


def current_store() -> BoundStore | None:
    """The store of the session that the caller runs in, if there is one."""
    return _bound.get()


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """A tool that reads the bound store with one text. Implements ``Tool``."""

    spec: ToolSpec
    argument: str
    answer: Callable[[str], ToolAnswer]
    group: str = MEMORY_GROUP

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        value = str(arguments[self.argument])
        if not value.strip():
            raise ToolRefused(
                f'The argument "{self.argument}" is empty. Give a JSON object with {self.argument} (string).'
            )
        return await asyncio.to_thread(self.answer, value)


def recall_memory(question: str) -> str:
    """What the current session's memory says to ``question``, under separate headings for people and for tools.

    Raises:
        OttoError: no session is bound.
    """
    return _recalled(question).text


def _recalled(question: str) -> ToolAnswer:
    bound = _bound_store()
    result = recall_everything(
        bound.store,
        question,
        bound.policy,
        embedder=bound.ranks_now() if bound.ranks_now is not None else None,
        narrow=bound.narrow,
        in_view=bound.in_view,
        cache=bound.cache,
        reranker=bound.reranker,
    )
    refs = tuple(dict.fromkeys(item.id for item in result.items))
    found = f"{len(refs)} found" if refs else "nothing found"
    return ToolAnswer(recall_text(result), f"{found}, {result.tokens} tokens ({result.ranked_by})", refs)


def _recalled_by_id(id: str) -> ToolAnswer:
    bound = _bound_store()
    try:
        source = recall_id(bound.store, id.strip().strip("[]"))
    except UnknownId as error:
        raise ToolRefused(
            "Nothing in this conversation has that id. Copy one from the memory, or use recall_memory."
        ) from error
    refs = tuple(event.id for event in source.events)
    many = f"{len(refs)} source{'s' if len(refs) != 1 else ''}"
    return ToolAnswer(source_text(source, bound.policy.token_budget), f"{source.found_as} {source.id}, {many}", refs)


def _bound_store() -> BoundStore:
    bound = current_store()
    if bound is None:
        raise OttoError("No session is bound here, so there is no memory to search.")
    return bound


MEMORY_TOOLS: tuple[Tool, ...] = (
    MemoryTool(RECALL_SPEC, "question", _recalled),
    MemoryTool(RECALL_ID_SPEC, "id", _recalled_by_id),
)
"""The tools of the group ``memory``."""
