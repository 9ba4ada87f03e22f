"""A conversation in LoCoMo's format, written for these tests: two people, some sessions, things shared and asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TOOLS = ("spirit level", "plane", "chisel", "mallet", "bench vice", "rasp", "drawknife", "marking gauge")
_WOODS = ("ash", "beech", "larch", "walnut", "pear", "maple")
_TOWNS = ("Tromsø", "Ghent", "Lucca", "Porto", "Ulm")
SESSIONS = 5
TURNS_A_SESSION = 12


def invented_talk() -> dict[str, Any]:
    """As one file of its own holds it. Turn ``D2:4`` tells of the fourth tool of the second session, and so on."""
    talk: dict[str, Any] = {"speaker_a": "Ines", "speaker_b": "Bo"}
    for session in range(1, SESSIONS + 1):
        talk[f"session_{session}_date_time"] = f"{session}:05 {'am' if session % 2 else 'pm'} on {session} March, 2021"
        talk[f"session_{session}"] = [_turn(session, place) for place in range(1, TURNS_A_SESSION + 1)]
    # Some published files name a session's date and have nothing that was said in it.
    talk["session_9_date_time"] = "9:05 am on 9 March, 2021"
    talk["qa"] = [
        _asked("Which tool lay on shelf 203?", 4, ["D2:3"], "the chisel"),
        _asked("Which tools lay on the shelves 101 and 402?", 1, ["D1:1; D4:02"], "two of them"),
        _asked("When was shelf 511 painted?", 2, ["D5:11", "D"], "in March"),
        _asked("Would Ines rather paint shelf 306 or shelf 308?", 3, ["D3:6", "D:3:8", "D9:17"], "306"),
        _asked("What does nobody say?", 3, [], "nothing"),
        {"question": "Which piano does Bo play?", "adversarial_answer": "a grand", "category": 5, "evidence": ["D1:2"]},
    ]
    return talk


def as_list(*talks: dict[str, Any]) -> list[dict[str, Any]]:
    """As ``locomo10.json`` holds them."""
    return [
        {
            "sample_id": f"conv-{number}",
            "qa": talk["qa"],
            "conversation": {key: value for key, value in talk.items() if key != "qa"},
        }
        for number, talk in enumerate(talks, 7)
    ]


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _turn(session: int, place: int) -> dict[str, Any]:
    shelf = 100 * session + place
    tool, wood = _TOOLS[place % len(_TOOLS)], _WOODS[(session + place) % len(_WOODS)]
    turn: dict[str, Any] = {
        "speaker": "Ines" if place % 2 else "Bo",
        "dia_id": f"D{session}:{place}",
        "text": f"The {tool} lies on shelf {shelf}, which I made of {wood} in {_TOWNS[session - 1]}.",
    }
    if place == 4:
        turn |= {"img_url": ["unused"], "blip_caption": f"a photo of a shelf with number {shelf}"}
    return turn


def _asked(question: str, category: int, evidence: list[str], answer: str) -> dict[str, Any]:
    return {"question": question, "answer": answer, "category": category, "evidence": evidence}
