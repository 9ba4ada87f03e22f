"""Summarisers for tests: an honest one, and the ways in which a real one goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

Summarizer = Callable[[str], str]


def items_in(prompt: str) -> list[tuple[int, str]]:
    """The numbered items of a compaction prompt."""
    return [(int(number), text) for number, text in re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE)]


def honest(prompt: str) -> str:
    """Six items a bullet, a few words of each, all cited."""
    items = items_in(prompt)
    lines = []
    for start in range(0, len(items), 6):
        some = items[start : start + 6]
        words = "; ".join(" ".join(text.split()[:4]) for _, text in some)
        lines.append(f"- {words} [{', '.join(str(number) for number, _ in some)}]")
    return "\n".join(lines)


def omits_a_third(prompt: str) -> str:
    items = [item for item in items_in(prompt) if item[0] % 10 not in (2, 5, 8)]
    return "\n".join(f"- {' '.join(text.split()[:5])} [{number}]" for number, text in items)


def cites_what_is_not_there(prompt: str) -> str:
    return "- something happened [9999]\n- and more [0, -3, 123456789012345678901234567890]\n- a range [500-99999999]"


def cites_everything_at_once(prompt: str) -> str:
    return f"- all of it [1-{len(items_in(prompt))}]"


def prose(prompt: str) -> str:
    return "The two of them talked about a number of things, and in the end it all worked out [as 1 might say]."


def nothing(prompt: str) -> str:
    return ""


def raises(prompt: str) -> str:
    raise RuntimeError("the model is on holiday")


def hundred_kilobytes(prompt: str) -> str:
    return "- " + "blah " * 20_000 + f"[1-{len(items_in(prompt))}]"


def half_a_reply(prompt: str) -> str:
    whole = honest(prompt)
    return whole[: len(whole) // 2]


def markup_and_escapes(prompt: str) -> str:
    return "- [bold]\x1b[31mred[/] \x00 \ud800 [1]\n- [link=x] [2]"


ADVERSARIES: tuple[Summarizer, ...] = (
    omits_a_third,
    cites_what_is_not_there,
    cites_everything_at_once,
    prose,
    nothing,
    raises,
    hundred_kilobytes,
    half_a_reply,
    markup_and_escapes,
)
