"""Which model does which job of a session. A seat for which none is named is taken by the chat model."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from memory.errors import OttoError
from sessions.chat_model import ChatModel, ModelError
from sessions.live import LiveMemory, scaled_budgets
from sessions.models import OpenModel, Recall
from sessions.options import Options
from sessions.remembered_model import remembered_model

Seat = Literal["summarize", "observe", "reflect", "drop"]


class Seats:
    """The models of one session.

    Args:
        recall: what the model in the box answers from.

    Raises:
        ModelError: the chat model's name makes no sense.
    """

    def __init__(self, options: Options, open_model: OpenModel, recall: Recall) -> None:
        self._options = options
        self._open_model = open_model
        self._recall = recall
        # How long and how freely a reply may be is said of chatting; notes that are cut short are worth nothing.
        self._at_work = replace(options, max_output_tokens=None, temperature=None)
        self._working: dict[str, ChatModel] = {}
        self._summarizer_refused = False
        self.chat = self._open(options.chat, options)

    def seat_chat(self, name: str) -> None:
        """Have another model chat, and do every job for which none is named. Raises ``ModelError``."""
        self.chat = self._open(name, self._options)

    async def take_up(self, memory: LiveMemory) -> str | None:
        """Go on with the model that a session was last talked with; what of the seats cannot be, in words, if so."""
        hindrances = [await self._go_on_with_last(memory), self._refused_summarizer()]
        return " ".join(filter(None, hindrances)) or None

    async def _go_on_with_last(self, memory: LiveMemory) -> str | None:
        used = await memory.run(remembered_model, memory.store, self._options.chat)
        if used is None or used == self.chat.name:
            return None
        try:
            self.seat_chat(used)
        except OttoError as error:
            return f"{error} {self.chat.name} answers instead."
        if not memory.store.read_only:
            await memory.run(memory.queue.set_budgets, *await self.budgets())
        return None

    async def budgets(self) -> tuple[int, int]:
        """X and Y in tokens, scaled down where the chat model's window is small."""
        return scaled_budgets(self._options, await self.chat.window())

    def of(self, seat: Seat) -> ChatModel:
        """Who does this job now; the chat model where the name of the summariser makes no sense.

        Raises:
            ModelError: the name given for another job makes no sense.
        """
        refused = seat == "summarize" and self._summarizer_refused
        named: str | None = None if refused else getattr(self._options, seat)
        if named is None and self._at_work == self._options:
            return self.chat
        name = named or self.chat.name
        if name not in self._working:
            self._working[name] = self._open(name, self._at_work)
        return self._working[name]

    def _refused_summarizer(self) -> str | None:
        """Why the summariser that was named cannot be used; the chat model takes its seat, for Y must be compacted."""
        named = self._options.summarize
        if named is None:
            return None
        try:
            self._working[named] = self._open(named, self._at_work)
        except ModelError as error:
            self._summarizer_refused = True
            return f"{error} The chat model takes the seat summarize instead."
        return None

    def _open(self, name: str, options: Options) -> ChatModel:
        return self._open_model(name, options, recall=self._recall)
