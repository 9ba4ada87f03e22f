"""Which model does which job of a session. A seat for which none is named is taken by the chat model."""

from __future__ import annotations

from typing import Literal

from sessions.chat_model import ChatModel
from sessions.models import OpenModel, Recall
from sessions.options import Options

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
        self._named: dict[str, ChatModel] = {}
        self.chat = self._open(options.chat)

    def seat_chat(self, name: str) -> None:
        """Have another model chat, and do every job for which none is named. Raises ``ModelError``."""
        self.chat = self._open(name)

    def of(self, seat: Seat) -> ChatModel:
        """Who does this job now. Raises ``ModelError`` where its name makes no sense."""
        name: str | None = getattr(self._options, seat)
        if name is None:
            return self.chat
        if name not in self._named:
            self._named[name] = self._open(name)
        return self._named[name]

    def _open(self, name: str) -> ChatModel:
        return self._open_model(name, self._options, recall=self._recall)
