"""Any call whatever is answered with words that a model can act on."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import OttoError
from sessions.chat_model import ToolCall
from sessions.toolbox import CallContext, ToolAnswer, Toolbox, ToolRefused
from tests.sessions.made_tools import Answering, MadeTool

CONTEXT = CallContext("c1", lambda event: None, None)


def answer(tool: MadeTool, arguments: str, name: str | None = None) -> ToolAnswer:
    return asyncio.run(Toolbox([tool]).answer(ToolCall("c1", tool.name if name is None else name, arguments), CONTEXT))


def raising(error: BaseException) -> Answering:
    async def raises(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        raise error

    return raises


def test_a_call_that_makes_sense_is_answered() -> None:
    assert answer(MadeTool("dig"), '{"n": 4}') == ToolAnswer("dig says 4", "dig 4")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{", "The arguments of dig were not valid JSON (Expecting property name"),
        ("[1]", "The arguments of dig were not a JSON object."),
        ("", "The arguments of dig were wrong: 'n' is a required property."),
        ('{"n": "four"}', "The arguments of dig were wrong: n: 'four' is not of type 'integer'."),
        ('{"n": "' + "x" * 100_000 + '"}', "The arguments of dig were wrong: n: 'xxxx"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_wanted(arguments: str, said: str) -> None:
    found = answer(MadeTool("dig"), arguments)
    assert found.text.startswith(said)
    assert found.text.endswith("Give a JSON object with n (integer).")
    assert len(found.text) < 600
    assert not found.ok


def test_an_unknown_tool_names_what_was_probably_meant() -> None:
    found = answer(MadeTool("read_file"), "{}", "readfile")
    assert found.text == "There is no tool named readfile. Did you mean read_file? The tools are read_file."


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolRefused("There is no such bed."), "There is no such bed."),
        (OttoError("The shed is locked."), "dig failed: The shed is locked."),
        (ValueError("\x1b[31m bad\nvalue"), "dig failed: ␛[31m bad value"),
        (KeyError(), "dig failed: KeyError"),
        (RecursionError("too deep"), "dig failed: too deep"),
    ],
)
def test_a_tool_that_raises_is_a_sentence(error: Exception, said: str) -> None:
    found = answer(MadeTool("dig", raising(error)), '{"n": 1}')
    assert (found.text, found.ok) == (said, False)


def test_a_tool_that_is_cancelled_is_not_answered() -> None:
    with pytest.raises(asyncio.CancelledError):
        answer(MadeTool("dig", raising(asyncio.CancelledError())), '{"n": 1}')


def test_what_the_model_reads_is_what_the_tape_takes() -> None:
    async def odd(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        return ToolAnswer("a\0b\ud800", "two\nlines " + "x" * 1_000)

    found = answer(MadeTool("dig", odd), '{"n": 1}')
    assert found.text == "a␀b\N{REPLACEMENT CHARACTER}"
    assert "\n" not in found.summary
    assert len(found.summary) <= 300


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    first, second = MadeTool("dig"), MadeTool("dig", raising(ValueError("wrong one")))
    box = Toolbox([first, second])
    assert box.names == ("dig",)
    assert len(box.specs()) == 1
    assert box.tool("dig") is first


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "no such type"},
        {"type": 7},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "#/nowhere"},
        {"properties": []},
        {"properties": {"n": True}},
        {"pattern": "("},
    ],
)
def test_a_broken_schema_of_a_server_refuses_nothing_and_fetches_nothing(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[object] = []

    def refuse(address: object, *_: object, **__: object) -> NoReturn:
        fetched.append(address)
        raise OSError

    class Odd(MadeTool):
        @property
        def spec(self) -> dict[str, Any]:
            return {"type": "function", "function": {"name": "odd", "parameters": parameters}}

    monkeypatch.setattr(socket, "create_connection", refuse)
    assert answer(Odd("odd"), '{"n": 1}').ok
    assert not answer(Odd("odd"), "{").ok
    assert fetched == []


@given(st.text(max_size=60), st.one_of(st.text(max_size=60), st.from_regex(r'\{"n": -?[0-9]{1,30}\}', fullmatch=True)))
def test_any_call_is_answered(name: str, arguments: str) -> None:
    for asked in (name, "dig"):
        found = answer(MadeTool("dig"), arguments, asked)
        assert found.text
        assert "\n" not in found.summary
        if not found.ok:
            assert found.text.endswith(".")
        else:
            assert asked == "dig"
            assert isinstance(json.loads(arguments)["n"], int)
