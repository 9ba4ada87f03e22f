"""A worker's exchange with its model: it records by calling one tool, or, where a model calls none, by JSON as text.

Whichever way it takes, the same schema decides what is accepted, and what was accepted before a failure is kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from sessions.chat_model import (
    ChatModel,
    ErrorKind,
    Finished,
    Message,
    ModelError,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolSpec,
    tool_request,
)
from sessions.observing.json_schema import objects_in, parsed, problem_with
from sessions.observing.record_tools import RecordingTool

CORRECTIONS = 2
"""How often a model that answers in text is told what was wrong with its JSON."""

MOST_TEXT = 400_000
"""Characters of a reply and of the thoughts before it; a model that goes on beyond them is not listened to."""

NOT_ABOUT_TOOLS: frozenset[ErrorKind] = frozenset({"auth", "rate", "unreachable", "timeout", "too_long", "cut"})
"""Failures that would be the same without a tool in the request."""

IN_TEXT = """

Answer with one JSON object and nothing else, of the form that this JSON schema describes:
{schema}
If there is nothing to put into it, answer {nothing}"""

NOT_UNDERSTOOD = (
    "That could not be used: {problem}. Answer with one JSON object of the form described, and nothing else."
)


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker asks its model to do."""

    system: str
    prompt: str


@dataclass(slots=True)
class Exchange:
    """What one run cost, and why it ended early, if so."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None when the price of any request is not known."""
    by_text: bool = False
    failure: ModelError | None = None

    def add(self, finished: Finished) -> None:
        """Count what one request took, as far as the vendor says so."""
        if finished.usage is not None:
            self.prompt_tokens += finished.usage.prompt_tokens
            self.completion_tokens += finished.usage.completion_tokens
        self.cost = None if self.cost is None or finished.cost is None else self.cost + finished.cost


class Agent:
    """Runs tasks with any model, and remembers which ones call no tools.

    Args:
        max_turns: requests that one run may make.
    """

    def __init__(self, max_turns: int) -> None:
        self._max_turns = max_turns
        self._by_text: set[str] = set()
        self._calling: set[str] = set()

    async def run(self, model: ChatModel, task: Task, tool: RecordingTool) -> Exchange:
        """Have ``model`` do ``task``. A model's failure is told in the result, beside what was recorded before it."""
        exchange = Exchange()
        try:
            if model.name in self._by_text or not await self._with_tool(model, task, tool, exchange):
                await self._in_text(model, task, tool, exchange)
        except ModelError as error:
            exchange.failure = error
        return exchange

    def forget(self) -> None:
        """Find out anew which models call tools."""
        self._by_text.clear()
        self._calling.clear()

    async def _with_tool(self, model: ChatModel, task: Task, tool: RecordingTool, exchange: Exchange) -> bool:
        """Whether the model has recorded anything this way, be it nothing on purpose."""
        messages = _opening(task)
        while exchange.requests < self._max_turns:
            try:
                text, calls = await _ask(model, messages, [tool.spec], exchange)
            except ModelError as error:
                if model.name in self._calling or exchange.requests > 1 or error.kind in NOT_ABOUT_TOOLS:
                    raise
                break
            if not calls and (exchange.requests > 1 or _took_text(text, tool, exchange)):
                return True
            if not calls:
                break
            self._calling.add(model.name)
            messages.append(tool_request(text, calls))
            for call in calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": _answer(call, tool)})
        else:
            return True
        if model.name not in self._calling:
            self._by_text.add(model.name)
        return False

    async def _in_text(self, model: ChatModel, task: Task, tool: RecordingTool, exchange: Exchange) -> None:
        messages = _opening(Task(task.system, task.prompt + _how_in_text(tool.spec)))
        for _ in range(min(1 + CORRECTIONS, self._max_turns - exchange.requests)):
            # Until the text turns out to be of use: the next run begins with the tool again.
            self._by_text.discard(model.name)
            text, _ = await _ask(model, messages, (), exchange)
            if _took_text(text, tool, exchange):
                if model.name not in self._calling:
                    self._by_text.add(model.name)
                return
            problem = _problem_with_text(text, tool.spec)
            messages += [
                {"role": "assistant", "content": text or "(nothing)"},
                {"role": "user", "content": NOT_UNDERSTOOD.format(problem=problem)},
            ]
        raise ModelError(f"{model.name} answered with something else than the notes it was asked for.", "garbled")


async def _ask(
    model: ChatModel, messages: Sequence[Message], tools: Sequence[ToolSpec], exchange: Exchange
) -> tuple[str, list[ToolCall]]:
    exchange.requests += 1
    said: list[str] = []
    calls: list[ToolCall] = []
    length = 0
    # Closed here, so that a reply that is left early lets its connection go at once.
    async with aclosing(model.stream(messages, tools)) as stream:
        async for piece in stream:
            if isinstance(piece, TextDelta | ReasoningDelta):
                length += len(piece.text)
            if isinstance(piece, TextDelta):
                said.append(piece.text)
            elif isinstance(piece, ToolCall):
                calls.append(piece)
            elif isinstance(piece, Finished):
                exchange.add(piece)
            if length > MOST_TEXT:
                break
    return "".join(said), calls


def _took_text(text: str, tool: RecordingTool, exchange: Exchange) -> bool:
    """Record what stands in ``text`` as JSON; False where it holds nothing of the kind."""
    given = _records_in(text, tool.spec)
    if given is None:
        return False
    tool.call(json.dumps(given))
    exchange.by_text = True
    return True


def _answer(call: ToolCall, tool: RecordingTool) -> str:
    name = tool.spec["function"]["name"]
    if call.name != name:
        return f"There is no such tool. The only tool is {name}."
    return tool.call(call.arguments)


def _opening(task: Task) -> list[Message]:
    return [{"role": "system", "content": task.system}, {"role": "user", "content": task.prompt}]


def _how_in_text(spec: ToolSpec) -> str:
    parameters = spec["function"]["parameters"]
    return IN_TEXT.format(schema=json.dumps(parameters), nothing=json.dumps({_list_of(spec): []}))


def _list_of(spec: ToolSpec) -> str:
    """The one list that a recording tool is given."""
    return str(spec["function"]["parameters"]["required"][0])


def _records_in(text: str, spec: ToolSpec) -> dict[str, object] | None:
    """The tool's arguments as they stand in a text: the object asked for, else single records of a list cut short."""
    key = _list_of(spec)
    item = spec["function"]["parameters"]["properties"][key]["items"]
    single = []
    for found in objects_in(text):
        if isinstance(found.get(key), list):
            return found
        if item["type"] == "object" and problem_with(found, item) is None:
            single.append(found)
    return {key: single} if single else None


def _problem_with_text(text: str, spec: ToolSpec) -> str:
    value = parsed(text.strip())
    if value is None:
        return "it is not JSON"
    return problem_with(value, spec["function"]["parameters"], "the answer") or "it has another form"
