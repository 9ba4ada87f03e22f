"""What a loopback vendor answers when a test has scripted nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tests.vendors.replies import NUMBERED, Asked, Failure, Reply, ToolUse

Answer = Reply | Failure

ITEMS_A_BULLET = 3


def default_reply(asked: Asked) -> Answer:
    """Says which turn it is and what it read; after a tool, what the tool said."""
    last = asked.messages[-1] if asked.messages else None
    if last is not None and last.role == "tool":
        return Reply(f"The tool said: {_opening(last.text, 300)}")
    turn = sum(1 for said in asked.messages if said.role == "user")
    return Reply(f"Reply {turn} to: {_opening(asked.prompt, 200)}")


def cited_bullets(asked: Asked) -> Answer:
    """A dutiful summariser: every numbered item is cited, three items a bullet."""
    items = [(number, text) for number, text in NUMBERED.findall(asked.prompt)]
    lines = []
    for at in range(0, len(items), ITEMS_A_BULLET):
        group = items[at : at + ITEMS_A_BULLET]
        gist = "; ".join(_opening(text, 60) for _, text in group)
        lines.append(f"- {gist} [{', '.join(number for number, _ in group)}]")
    return Reply("\n".join(lines))


def obedient_reply(asked: Asked) -> Answer:
    """For trying by hand: does what a prompt says whose last line begins with ``:``, else the default.

    ``:fail 429 7``, ``:cut``, ``:end``, ``:hang``, ``:garble``, ``:words 500``, ``:code``, ``:escapes``,
    ``:tool NAME {"key": "value"}``, ``:calls 5 NAME {"key": "value"}`` for so many at once.
    """
    said = asked.messages[-1] if asked.messages else None
    # What stands before the prompt in the same message, such as a command's output, is not looked at.
    line = said.text.strip().rpartition("\n")[2] if said is not None and said.role == "user" else ""
    if not line.startswith(":"):
        return default_reply(asked)
    command, _, rest = line[1:].partition(" ")
    obey = _COMMANDS.get(command)
    return obey(rest.strip()) if obey else default_reply(asked)


def _fail(rest: str) -> Answer:
    status, _, wait = rest.partition(" ")
    return Failure(int(status or 500), retry_after=float(wait) if wait else None)


def _tool(rest: str) -> Answer:
    name, _, arguments = rest.partition(" ")
    return Reply(tools=(ToolUse(name or "recall_memory", json.loads(arguments or '{"question": "anything"}')),))


def _calls(rest: str) -> Answer:
    count, _, call = rest.partition(" ")
    one = _tool(call)
    return Reply(tools=one.tools * int(count or 2)) if isinstance(one, Reply) else one


def _words(rest: str) -> Answer:
    return Reply(" ".join(f"word{n}" + (".\n\n" if n % 60 == 59 else "") for n in range(int(rest or 300))), pause=0.01)


def _broken(ending: str) -> Callable[[str], Answer]:
    text = "This reply stops before it has said what it"
    return lambda _: Reply(text, ending=ending)  # type: ignore[arg-type]


_COMMANDS: dict[str, Callable[[str], Answer]] = {
    "fail": _fail,
    "tool": _tool,
    "calls": _calls,
    "words": _words,
    "cut": _broken("cut"),
    "end": _broken("early_end"),
    "garble": _broken("garbled"),
    "hang": lambda _: Reply("This reply hangs after a few words, and then", hold_after=5),
    "code": lambda _: Reply("Here:\n\n```python\nprint('hello')\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", pause=0.05),
    "escapes": lambda _: Reply("\x1b]0;owned\x07\x1b[2J\x1b]52;c;aGk=\x07 [bold]markup[/] \x9b31m [/] [link=x] done"),
}


def _opening(text: str, limit: int) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= limit else line[:limit].rstrip() + "..."
