"""The line above the prompt: what is going on right now, and how to stop it."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from screens.conversation import Conversation
from screens.live_reply import LiveReply
from screens.wording import counted
from sessions.display import one_line

BEAT = 0.5
"""Seconds between two looks at the clock while something goes on."""


class StatusLine(Static):
    """Says one thing, in words."""

    def say(self, text: str, *, busy: bool) -> None:
        self.set_class(busy, "-busy")
        self.update(Content(text))


def status_of(conversation: Conversation | None, idle: str) -> tuple[str, bool]:
    """The sentence for the line, and whether something is going on. ``idle`` stands there when nothing is."""
    if conversation is None:
        return "opening the session", True
    doing = [*_turn(conversation), *_memory(conversation)]
    if doing:
        return "  ·  ".join(doing), True
    if conversation.session.read_only:
        return "read-only: this session is open in another Otto; /fork to go on from here", False
    return idle, False


def _turn(conversation: Conversation) -> list[str]:
    live = conversation.live
    if conversation.approvals:
        return [f"{counted(len(conversation.approvals), 'question')} for you, esc stops"]
    if conversation.shell is not None:
        return [f"$ {one_line(conversation.shell, 40)}, esc stops"]
    if live is not None:
        return [f"{_reply(live, conversation.clock())}, esc stops"]
    return ["asking, esc stops"] if conversation.busy else []


def _reply(live: LiveReply, now: float) -> str:
    seconds = f"{int(now - live.began)} s"
    model = one_line(live.model, 40)
    if live.thinking:
        return f"{model} is thinking, {seconds}"
    if live.running:
        names = dict.fromkeys(one_line(tool.called.name, 30) for tool in live.running)
        return f"{', '.join(names)} {'works' if len(live.running) == 1 else 'work'}, {seconds}"
    if live.speaking:
        return f"{model} answers, {seconds}"
    return f"waiting {seconds} for {model}"


def _memory(conversation: Conversation) -> list[str]:
    doing = []
    if conversation.compacting is not None:
        items = conversation.compacting.items
        doing.append(f"compacting {items} {'item' if items == 1 else 'items'}")
    if conversation.embedding is not None:
        doing.append(f"embedding {conversation.embedding.done} of {conversation.embedding.total}")
    return doing
