"""``recall_memory`` and ``recall_id``, the tools that a model has from the start, and the store that they read.

Which store is decided by where the call runs: ``bind_store`` sets it for everything that is called inside, also in
threads that inherit the context (seed 000, "Storage").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.embeddings import Embedder
from memory.errors import OttoError, UnknownId
from memory.retrieval import recall, recall_id
from memory.store import CONVERSATION, MemoryStore
from memory.vector_cache import VectorCache
from sessions.chat_model import ToolSpec
from sessions.recalled_text import recall_text, source_text

if TYPE_CHECKING:
    from memory.cross_encoder import CrossEncoder

RECALL_MEMORY = "recall_memory"

RECALL_SPEC: ToolSpec = {
    "type": "function",
    "function": {
        "name": RECALL_MEMORY,
        "description": (
            "Search everything said earlier in this conversation, word for word, including what is no longer in"
            " view. Ask a question in plain words, with the names, numbers or terms that may occur."
        ),
        "parameters": {
            "type": "object",
            "properties": {"question": {"type": "string", "description": "What you want to know."}},
            "required": ["question"],
        },
    },
}

RECALL_ID = "recall_id"

RECALL_ID_SPEC: ToolSpec = {
    "type": "function",
    "function": {
        "name": RECALL_ID,
        "description": (
            "Look up an id that stands in brackets in this conversation's memory: the exact words behind a note, a"
            " conclusion or an excerpt, with who said them and when. Use it before an action that rests on such a line."
        ),
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "string", "description": "The id, as it stands in the brackets."}},
            "required": ["id"],
        },
    },
}

TOOLS: Sequence[ToolSpec] = (RECALL_SPEC, RECALL_ID_SPEC)


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How much one recall returns."""

    max_chunks: int = 100
    window: int = 2
    token_budget: int = 3_000


@dataclass(frozen=True, slots=True)
class BoundStore:
    """The memory that a tool call reads."""

    store: MemoryStore
    embedder: Embedder | None = None
    policy: RecallPolicy = RecallPolicy()
    left_out: tuple[int, ...] = ()
    """Events that stand raw in Y but not in the view for now."""
    cache: VectorCache | None = None
    """The store's vectors, kept between calls."""
    reranker: CrossEncoder | None = None


_bound: ContextVar[BoundStore | None] = ContextVar("otto_bound_store", default=None)


@contextmanager
def bind_store(
    store: MemoryStore,
    embedder: Embedder | None = None,
    policy: RecallPolicy | None = None,
    left_out: tuple[int, ...] = (),
    cache: VectorCache | None = None,
    reranker: CrossEncoder | None = None,
) -> Iterator[BoundStore]:
    """Let tools called inside read this store."""
    bound = BoundStore(store, embedder, policy or RecallPolicy(), left_out, cache, reranker)
    token = _bound.set(bound)
    try:
        yield bound
    finally:
        _bound.reset(token)


def current_store() -> BoundStore | None:
    """The store of the session that the caller runs in, if there is one."""
    return _bound.get()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool call comes to."""

    text: str
    """For the model."""
    summary: str
    """One line for the person."""
    refs: tuple[str, ...] = ()
    """Ids of the events it quotes."""
    ok: bool = True


def recall_memory(question: str) -> str:
    """What the current session's memory says to ``question``, under separate headings for people and for tools.

    Raises:
        OttoError: no session is bound.
    """
    return _recalled(question).text


def call_tool(name: str, arguments: str) -> ToolAnswer:
    """Answer a model's call. A call that makes no sense is answered with what was wrong, never raised."""
    if name not in _ANSWERS:
        return _refusal(f"There is no tool named {name}. The tools are {' and '.join(_ANSWERS)}.")
    wanted, answer = _ANSWERS[name]
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return _refusal(f"The arguments were not valid JSON. Give an object with one string: {wanted}.")
    value = given.get(wanted) if isinstance(given, dict) else None
    if not isinstance(value, str) or not value.strip():
        return _refusal(f'The argument "{wanted}" is missing. Give an object with one string: {wanted}.')
    try:
        return answer(value)
    except UnknownId:
        return _refusal("Nothing in this conversation has that id. Copy one from the memory, or use recall_memory.")
    except OttoError as error:
        return _refusal(f"The memory could not be searched: {error}")


def _recalled(question: str) -> ToolAnswer:
    bound = _bound_store()
    policy = bound.policy
    result = recall(
        bound.store,
        CONVERSATION,
        question,
        embedder=bound.embedder,
        max_chunks=policy.max_chunks,
        window=policy.window,
        token_budget=policy.token_budget,
        left_out=bound.left_out,
        cache=bound.cache,
        reranker=bound.reranker,
    )
    refs = tuple(dict.fromkeys(item.id for item in result.items))
    found = f"{len(refs)} found" if refs else "nothing found"
    return ToolAnswer(recall_text(result), f"{found}, {result.tokens} tokens ({result.ranked_by})", refs)


def _recalled_by_id(id: str) -> ToolAnswer:
    bound = _bound_store()
    source = recall_id(bound.store, id.strip().strip("[]"))
    refs = tuple(event.id for event in source.events)
    many = f"{len(refs)} source{'s' if len(refs) != 1 else ''}"
    return ToolAnswer(source_text(source, bound.policy.token_budget), f"{source.found_as} {source.id}, {many}", refs)


def _bound_store() -> BoundStore:
    bound = current_store()
    if bound is None:
        raise OttoError("No session is bound here, so there is no memory to search.")
    return bound


def _refusal(sentence: str) -> ToolAnswer:
    return ToolAnswer(sentence, sentence, ok=False)


_ANSWERS: Mapping[str, tuple[str, Callable[[str], ToolAnswer]]] = {
    RECALL_MEMORY: ("question", _recalled),
    RECALL_ID: ("id", _recalled_by_id),
}
"""By the tool's name: its one argument, and what answers it."""
