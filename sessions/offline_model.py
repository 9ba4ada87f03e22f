"""The model in the box: no key, no server, no language model. It quotes the session's own memory."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.values import RecallResult
from memory.words import index_words, match_query
from sessions.chat_model import Finished, Message, Piece, TextDelta, ToolSpec
from sessions.display import one_line
from sessions.extracts import extract_bullets
from sessions.options import OFFLINE

MOST_QUOTES = 5
LONGEST_QUOTE = 600
"""Characters."""

WHAT_I_AM = "I am not a language model: I can only quote what this session remembers."

HOW_TO_GET_A_REAL_ONE = (
    "For real answers set a key such as OPENAI_API_KEY, or start Ollama, then choose its model with `-m VENDOR/MODEL`."
)

_GREETING = re.compile(
    r"\s*(hi|hello|hey|hallo|moin|bonjour|salut|hola|ciao|good (morning|evening))\b[\s,.!?]*\w*\W*", re.I
)


@dataclass(frozen=True, slots=True)
class _Quote:
    who: str
    when: str
    text: str


class OfflineModel:
    """Implements ``ChatModel``. The same session and question give the same answer."""

    name = OFFLINE

    def __init__(self, recall: Callable[[str], Awaitable[RecallResult]] | None = None) -> None:
        self._recall = recall

    async def window(self) -> int | None:
        return None

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> AsyncGenerator[Piece, None]:
        answer = await self._answer(messages)
        for piece in re.findall(r"\s*\S+\s*\Z|\s*\S+", answer):
            yield TextDelta(piece)
            await asyncio.sleep(0)
        yield Finished("stop", None, 0.0, OFFLINE)

    async def complete(self, prompt: str) -> str:
        """Bullets for a prompt with numbered items; for any other, the quotes that ``stream`` would give."""
        if bullets := extract_bullets(prompt):
            return bullets
        return await self._answer([{"role": "user", "content": prompt}])

    async def _answer(self, messages: Sequence[Message]) -> str:
        question, earlier = _question_of(messages)
        if _GREETING.fullmatch(question):
            return f"Hello. {WHAT_I_AM} Ask about something that was said here. {HOW_TO_GET_A_REAL_ONE}"
        quotes = await self._remembered(question)
        quotes += _said_lately(question, earlier, MOST_QUOTES - len(quotes))
        if not quotes:
            return (
                f"{WHAT_I_AM} It holds nothing on this yet, but what you say is kept and can be recalled. "
                f"{HOW_TO_GET_A_REAL_ONE}"
            )
        lines = "\n\n".join(_quoted(quote) for quote in quotes)
        return f"{WHAT_I_AM} On this it holds:\n\n{lines}\n\n{HOW_TO_GET_A_REAL_ONE}"

    async def _remembered(self, question: str) -> list[_Quote]:
        """The best hits of recall, oldest first, without this model's own answers."""
        if self._recall is None or not match_query(question):
            return []
        result = await self._recall(question)
        hits = [item for item in result.items if not item.neighbour and item.speaker != OFFLINE]
        if result.ranked_by == "recency":
            hits = [item for item in hits if _overlap(question, item.text)]
        best = sorted(hits, key=lambda item: (-item.score, item.seq))[:MOST_QUOTES]
        return [_Quote(item.speaker, item.t_event, item.text) for item in sorted(best, key=lambda item: item.seq)]


def _question_of(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The last thing that the person said, and what came before it."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("role") == "user":
            return str(messages[place].get("content") or ""), messages[:place]
    return "", messages


def _said_lately(question: str, messages: Sequence[Message], most: int) -> list[_Quote]:
    """Messages of the request itself that share words with the question: recall leaves out what is in view."""
    found = []
    for place, message in enumerate(messages):
        text = str(message.get("content") or "")
        if message.get("role") not in ("user", "assistant") or WHAT_I_AM in text:
            continue
        if shared := _overlap(question, text):
            found.append((-shared, -place, place, message, text))
    best = sorted(found[: len(found)], key=lambda hit: hit[:2])[: max(0, most)]
    return [
        _Quote("you" if message["role"] == "user" else "the reply", "", text)
        for _, _, _, message, text in sorted(best, key=lambda hit: hit[2])
    ]


def _overlap(question: str, text: str) -> int:
    """How many of the question's words ``text`` has."""
    words = f" {index_words(text)} "
    return sum(f" {term}" in words for term in re.findall(r'"([^"]+)"', match_query(question)))


def _quoted(quote: _Quote) -> str:
    text = quote.text.strip()
    if len(text) > LONGEST_QUOTE:
        text = text[:LONGEST_QUOTE].rstrip() + "…"
    who = one_line(quote.who, 60) + (f", {_moment(quote.when)}" if quote.when else ", lately")
    return f"{who}:\n" + "\n".join(f"> {line}" for line in text.splitlines())


def _moment(t_event: str) -> str:
    try:
        return datetime.fromisoformat(t_event).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return t_event
