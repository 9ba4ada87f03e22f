"""Rounds of tool calls: what is on the tape when, in which order answers come, and that no call is left open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from memory.values import Event
from memory.verify import verify
from sessions import tapes, tool_loop
from sessions.chat_model import ModelError, ToolCall
from sessions.events import Delta, LoopChanged, ToolCalled, ToolUsed
from sessions.library import Library
from sessions.options import Options, ToolSettings
from sessions.session import Session
from sessions.toolbox import CallContext, ToolAnswer
from tests.sessions.listening import heard, until
from tests.sessions.made_tools import MadeTool, called, give, printing
from tests.sessions.scripted_model import ScriptedModel


async def tool_events(session: Session) -> list[Event]:
    return [event for event in await session.transcript(limit=1_000) if event.kind == "tool"]


def verified(session: Session) -> bool:
    from memory.store import MemoryStore

    with MemoryStore(tapes.tape_path(session.options.home, session.id), read_only=True) as store:
        return verify(store).ok


@pytest.fixture
async def few(options: Options, model: ScriptedModel) -> AsyncIterator[Session]:
    """A session that allows three calls in a turn, two of them at once."""
    settings = ToolSettings(max_calls=3, parallel=2)
    opened = await Library(replace(options, tools=settings), open_model=model.opened).new("/work/garden")
    yield opened
    await opened.close()


async def test_each_call_and_its_result_are_events_that_name_each_other(session: Session, model: ScriptedModel) -> None:
    give(session, MadeTool("dig"))
    model.replies = [["I dig. ", called("dig", 1)], ["Done."]]
    done = await session.send("Dig.")
    assert done.event is not None
    assert done.event.text == "I dig. Done."
    asked, answered = await tool_events(session)
    assert (asked.role, asked.source, asked.text) == ("assistant", "dig", '{"n": 1}')
    assert asked.meta == {"call": "call-dig-1", "round": 1, "group": "workspace"}
    assert (answered.role, answered.source, answered.text) == ("tool", "dig", "dig says 1")
    assert answered.refs == (asked.id,)
    assert answered.meta["summary"] == "dig 1"
    assert answered.meta["ok"]
    assert answered.meta["seconds"] >= 0
    assert model.requests[-1][-2:] == [
        {
            "role": "assistant",
            "content": "I dig. ",
            "tool_calls": [
                {"id": "call-dig-1", "type": "function", "function": {"name": "dig", "arguments": '{"n": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call-dig-1", "content": "dig says 1"},
    ]


async def test_a_call_is_on_the_tape_before_it_runs(session: Session, model: ScriptedModel) -> None:
    seen: list[list[str]] = []

    async def look(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        seen.append([event.text for event in await tool_events(session)])
        return ToolAnswer("fine", "fine")

    give(session, MadeTool("dig", look))
    model.replies = [[called("dig", 1)], [called("dig", 2)], ["Done."]]
    await session.send("Dig.")
    assert seen == [['{"n": 1}'], ['{"n": 1}', "fine", '{"n": 2}']]


async def test_calls_of_one_reply_run_at_once_and_are_answered_in_their_order(
    session: Session, model: ScriptedModel
) -> None:
    gates = [asyncio.Event() for _ in range(3)]

    async def wait(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        n = arguments["n"]
        if n < 2:
            await gates[n + 1].wait()
        gates[n].set()
        return ToolAnswer(f"answer {n}", "")

    give(session, MadeTool("wait", wait))
    events = heard(session)
    model.replies = [[called("wait", 0), called("wait", 1), called("wait", 2)], ["Done."]]
    await session.send("Go.")
    assert [message["content"] for message in model.requests[-1][-3:]] == ["answer 0", "answer 1", "answer 2"]
    kinds = [(type(event), event.call) for event in events if isinstance(event, ToolCalled | ToolUsed)]
    assert kinds == [
        *((ToolCalled, f"call-wait-{n}") for n in range(3)),
        *((ToolUsed, f"call-wait-{n}") for n in (2, 1, 0)),
    ]


async def test_no_more_calls_run_at_once_than_the_settings_allow(few: Session, model: ScriptedModel) -> None:
    running = 0
    most = 0

    async def count(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if arguments["n"] < 2:
            await until(lambda: most >= 2)
        running -= 1
        return ToolAnswer("counted", "counted")

    give(few, MadeTool("count", count))
    model.replies = [[called("count", n) for n in range(3)], ["Done."]]
    await few.send("Go.")
    assert most == 2


async def test_beyond_the_ceiling_no_call_runs_and_the_model_is_told_why(few: Session, model: ScriptedModel) -> None:
    tool = MadeTool("dig")
    give(few, tool)
    model.replies = [[called("dig", 0)], [called("dig", n) for n in range(1, 6)], ["That is all."]]
    done = await few.send("Dig.")
    assert done.event is not None
    assert done.event.text == "That is all."
    assert [given["n"] for given in tool.calls] == [0, 1, 2]
    refused = [event for event in await tool_events(few) if event.role == "tool" and not event.meta["ok"]]
    assert [event.text for event in refused] == ["Not run: 3 calls are the most in one turn."] * 3
    assert model.offered[-1] == []
    assert "none can be called now" in model.requests[-1][-1]["content"]
    assert "dig says 2" in model.requests[-1][-1]["content"]
    assert few.loop().calls == 6


@pytest.mark.parametrize("arguments", ["{not json", "[]", "{}", '{"n": "many"}', "[" * 10_000, '{"n": 1}'])
async def test_a_model_that_calls_wrongly_twenty_times_is_told_so_each_time(
    session: Session, model: ScriptedModel, arguments: str
) -> None:
    give(session, MadeTool("dig"))
    name = "rm_rf" if arguments == '{"n": 1}' else "dig"
    model.replies = [[ToolCall(f"c{n}", name, arguments)] for n in range(20)] + [["I give up."]]
    done = await session.send("Go on.")
    assert done.error is None
    assert done.event is not None
    assert done.event.text == "I give up."
    answers = [event for event in await tool_events(session) if event.role == "tool"]
    assert len(answers) == 20
    assert not any(event.meta["ok"] for event in answers)
    assert all(event.text.endswith(".") and "\n" not in event.text for event in answers)
    assert all(("no tool named rm_rf" in event.text) == (name == "rm_rf") for event in answers)
    sent = [call for message in model.requests[-1] for call in message.get("tool_calls", ())]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in sent)
    await session.close()
    assert verified(session)


async def test_a_tool_that_fails_is_a_sentence_and_the_run_goes_on(session: Session, model: ScriptedModel) -> None:
    async def fail(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        raise ZeroDivisionError("division by\nzero")

    give(session, MadeTool("divide", fail))
    model.replies = [[called("divide", 0)], ["It cannot."]]
    done = await session.send("Divide.")
    assert done.event is not None
    assert model.requests[-1][-1]["content"] == "divide failed: division by zero"


async def test_a_tool_that_never_returns_is_stopped(
    options: Options, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_loop, "GRACE", 0.0)
    asked: list[bool] = []

    async def hang(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        asked.append(True)
        context.keep(ToolAnswer("half of it", "half"))
        await asyncio.Event().wait()
        raise AssertionError

    hasty = replace(options, tools=ToolSettings(command_timeout=0.05))
    session = await Library(hasty, open_model=model.opened).new("/work/garden")
    give(session, MadeTool("hang", hang))
    model.replies = [[called("hang", 0)], ["Then not."]]
    done = await session.send("Hang.")
    assert done.event is not None
    assert asked == [True]
    answer = model.requests[-1][-1]["content"]
    assert answer.startswith("half of it\n\nhang had not answered after 0.05 seconds and was stopped.")
    await session.close()


async def test_esc_stops_the_calls_that_run_and_their_results_say_so(session: Session, model: ScriptedModel) -> None:
    ended: list[int] = []

    async def hang(arguments: Mapping[str, Any], context: CallContext) -> ToolAnswer:
        n = arguments["n"]
        if n == 0:
            return ToolAnswer("quick", "quick")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(n)
            if n == 2:
                context.keep(ToolAnswer("so far", "half"))
            raise
        raise AssertionError

    give(session, MadeTool("hang", hang))
    model.replies = [["One moment. ", *(called("hang", n) for n in range(3))], ["never asked"]]
    events = heard(session)
    turn = asyncio.create_task(session.send("Hang."))
    while not any(isinstance(event, ToolUsed) for event in events):
        await asyncio.sleep(0)
    session.stop()
    done = await turn
    assert done.stopped
    assert sorted(ended) == [1, 2]
    answers = {event.meta["call"]: event for event in await tool_events(session) if event.role == "tool"}
    assert answers["call-hang-0"].text == "quick"
    assert answers["call-hang-1"].text == "Stopped by the person."
    assert answers["call-hang-2"].text == "so far\n\nStopped by the person."
    assert [answers[f"call-hang-{n}"].meta["ok"] for n in range(3)] == [True, False, False]
    assert len(model.requests) == 1
    assert not session.loop().running
    used = {event.call for event in events if isinstance(event, ToolUsed)}
    assert used == {event.call for event in events if isinstance(event, ToolCalled)}
    await session.close()
    assert verified(session)


async def test_esc_between_calls_keeps_what_was_found(session: Session, model: ScriptedModel) -> None:
    give(session, MadeTool("dig"))
    model.replies = [[called("dig", 1)], ["It is", asyncio.Event(), " never said"]]
    events = heard(session)
    turn = asyncio.create_task(session.send("Dig."))
    await until(lambda: any(isinstance(event, Delta) for event in events))
    session.stop()
    done = await turn
    assert done.stopped
    assert done.event is not None
    assert (done.event.text, done.event.meta["partial"]) == ("It is", "stopped")
    assert len(await tool_events(session)) == 2


async def test_retry_keeps_what_tools_found_and_drops_the_partial_reply(session: Session, model: ScriptedModel) -> None:
    give(session, MadeTool("dig"))
    model.replies = [["I dig. ", called("dig", 1)], ["Half a ", ModelError("The connection broke.", "cut")]]
    failed = await session.send("Dig.")
    assert failed.error == "The connection broke."
    model.replies = [["Found."]]
    again = await session.retry()
    assert again.event is not None
    asked = json.dumps(model.requests[-1])
    assert "Half a" not in asked
    assert "I dig." not in asked
    assert '> dig was called with {\\"n\\": 1}' in asked
    assert "> dig answered: dig says 1" in asked
    assert model.requests[-1][-1]["role"] == "user"


async def test_of_a_flood_the_two_ends_are_kept(options: Options, model: ScriptedModel) -> None:
    capped = replace(options, tools=ToolSettings(output_cap=10_000))
    session = await Library(capped, open_model=model.opened).new("/work/garden")
    give(session, printing(lambda n: "BEGIN" + "ä" * 1_000_000 + "END"))
    model.replies = [[called("print_it", 1)], ["Much of it."]]
    await session.send("Flood.")
    text = model.requests[-1][-1]["content"]
    assert len(text.encode()) < 10_200
    assert text.startswith("BEGINää")
    assert text.endswith("ääEND")
    assert "bytes in the middle are left out here: the output has 2,000,008]" in text
    assert (await tool_events(session))[-1].text == text
    await session.close()


async def test_two_calls_under_one_id_are_told_apart(session: Session, model: ScriptedModel) -> None:
    give(session, MadeTool("dig"))
    model.replies = [[called("dig", 1, "x"), called("dig", 2, "x")], [called("dig", 3, "x")], ["Done."]]
    await session.send("Dig.")
    asked = [event for event in await tool_events(session) if event.role == "assistant"]
    assert len({event.meta["call"] for event in asked}) == 3
    tools = [message for message in model.requests[-1] if message["role"] == "tool"]
    calls = [call for message in model.requests[-1] for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in tools] == [call["id"] for call in calls]
    assert [message["content"] for message in tools] == [f"dig says {n}" for n in (1, 2, 3)]


async def test_a_session_without_a_tool_says_so_to_a_model_that_calls_one(
    session: Session, model: ScriptedModel
) -> None:
    give(session)
    await session.switch_tool("memory", False)
    model.replies = [[called("dig", 1)], ["All right."]]
    done = await session.send("Dig.")
    assert done.event is not None
    assert model.offered[0] == []
    assert model.requests[-1][-1]["content"] == "There is no tool named dig: no tools can be called here."


async def test_the_threshold_shrinks_with_the_models_window(options: Options, model: ScriptedModel) -> None:
    wide = replace(options, x_budget=24_000, y_budget=80_000)
    for window, at in ((None, 160_000), (1_000_000, 160_000), (130_000, 80_000), (2_000, 4_000)):
        model.context_window = window
        session = await Library(wide, open_model=model.opened).new("/work/garden")
        await session.send("Hello")
        assert session.loop().compact_at == at
        await session.close()


async def test_the_loop_can_be_watched_while_it_runs(options: Options, model: ScriptedModel) -> None:
    narrow = replace(options, tools=ToolSettings(loop_compact_at=5_000, keep_verbatim=1))
    session = await Library(narrow, open_model=model.opened).new("/work/garden")
    give(session, printing(lambda n: f"{n}" * 3_000))
    seen = []
    session.subscribe(lambda event: seen.append(session.loop()) if isinstance(event, LoopChanged) else None)
    model.replies = [[called("print_it", n)] for n in range(4)] + [["Done."]]
    assert session.loop().calls == 0
    await session.send("Print.")
    assert [(one.calls, one.requests, one.running) for one in (seen[0], seen[-2], seen[-1])] == [
        (0, 1, True),
        (4, 5, True),
        (4, 5, False),
    ]
    last = session.loop()
    assert (last.evicted, last.cuts, last.prefix_breaks) == (3, 3, 3)
    assert last.chars_before > last.chars_after
    assert [call.evicted for call in last.made] == [True, True, True, False]
    await session.close()
