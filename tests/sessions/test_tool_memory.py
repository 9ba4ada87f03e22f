"""What tools print, in memory: nothing lost, a line in the tiers, found again, and every promise kept with it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from memory.queue import TieredQueue
from memory.retrieval import recall, recall_chunks
from memory.store import CONVERSATION, MemoryStore
from memory.tool_events import ARGUMENTS_SHOWN, HELD_TOKENS
from memory.values import MemorySnapshot, NewEvent
from memory.verify import verify
from sessions import tapes
from sessions.chat_model import ToolCall
from sessions.library import Library
from sessions.live import INTERRUPTED_CALL
from sessions.options import Options, ToolSettings
from sessions.recalled_text import PRINTED, SAID
from sessions.session import Session
from tests.sessions.listening import talk
from tests.sessions.made_tools import MadeTool, called, give, printing
from tests.sessions.scripted_model import ScriptedModel

KILOBYTES_20 = 20_000


def page(n: int) -> str:
    """20 KB that hold one word which stands nowhere else."""
    lines = [f"line {line} of page {n}: the needle{n}x{line} is in drawer {line * 7 + n}" for line in range(400)]
    return "\n".join(lines)[:KILOBYTES_20]


@contextmanager
def tape_of(session: Session) -> Iterator[MemoryStore]:
    with MemoryStore(tapes.tape_path(session.options.home, session.id), read_only=True) as store:
        yield store


def failures(store: MemoryStore) -> list[str]:
    return [f"{check.name}: {row}" for check in verify(store).checks for row in check.rows]


def fits(snapshot: MemorySnapshot) -> bool:
    newest = [item for item in snapshot.recent if item.turn == snapshot.recent[-1].turn]
    return snapshot.x_tokens <= snapshot.x_budget + sum(item.tokens for item in newest)


@pytest.fixture
async def roomy(options: Options, model: ScriptedModel) -> AsyncIterator[Session]:
    """A session whose tiers are as large as usual."""
    opened = await Library(replace(options, x_budget=24_000, y_budget=80_000), open_model=model.opened).new(
        "/work/garden"
    )
    yield opened
    await opened.close()


@pytest.mark.parametrize("calls", [10, 50, 120])
async def test_the_transcript_stays_small_and_every_evicted_byte_is_found(
    roomy: Session, model: ScriptedModel, calls: int
) -> None:
    give(roomy, printing(page))
    model.replies = [[called("print_it", n)] for n in range(calls)] + [["Done."]]
    done = await roomy.send("Print them all.")
    assert done.error is None
    sizes = [len(json.dumps(request)) for request in model.requests]
    assert max(sizes) < 160_000 * 1.15 + KILOBYTES_20 + 400 * calls
    status = roomy.loop()
    assert status.calls == calls
    assert status.printed == sum(len(page(n)) for n in range(calls))
    assert status.evicted == sum(call.evicted for call in status.made)
    assert status.standing == status.printed - status.evicted * KILOBYTES_20 <= 160_000
    await roomy.close()
    with tape_of(roomy) as store:
        assert failures(store) == []
        printed = [event for event in store.events(kinds=["tool"]) if event.role == "tool"]
        assert [event.text for event in printed] == [page(n) for n in range(calls)]
        chunks = store.chunks_of(event.seq for event in printed)
        for n, event in enumerate(printed):
            assert "".join(map(store.chunk_text, chunks[event.seq])) == page(n)
        for n in range(0, calls, 13):
            found = recall_chunks(store, "tool", f"where is needle{n}x111?")
            assert any(f"needle{n}x111 is in drawer {777 + n}" in item.text for item in found.items)


async def test_every_chunk_of_an_evicted_result_can_be_recalled(roomy: Session, model: ScriptedModel) -> None:
    give(roomy, printing(page))
    model.replies = [[called("print_it", n)] for n in range(12)] + [["Done."]]
    await roomy.send("Print them all.")
    await roomy.close()
    with tape_of(roomy) as store:
        first = next(event for event in store.events(kinds=["tool"]) if event.role == "tool")
        for chunk in store.chunks_of([first.seq])[first.seq]:
            word = next(word for word in store.chunk_text(chunk).split() if word.startswith("needle0x"))
            found = recall_chunks(store, "tool", word)
            assert chunk.hash in {item.chunk for item in found.items}
            assert store.chunk_text(chunk) in {item.text for item in found.items}


async def test_the_running_turn_finds_what_was_evicted_and_not_what_it_has_before_it(
    options: Options, model: ScriptedModel
) -> None:
    tools = ToolSettings(loop_compact_at=3_000, keep_verbatim=1)
    small = replace(options, x_budget=24_000, y_budget=80_000, tools=tools)
    session = await Library(small, open_model=model.opened).new("/work/garden")

    def hook(n: int) -> str:
        return f"The key number {n} hangs on hook {n + 40}. " + f"padding{n} " * (240 if n % 2 else 40)

    give(session, printing(hook))
    question = "On which hook hangs the key number 0, or number 5?"
    ask = ToolCall("r", "recall_memory", json.dumps({"question": question}))
    model.replies = [[called("print_it", n)] for n in range(6)] + [[ask], ["Hook 40."]]
    await session.send("Where is the key?")
    answer = model.requests[-1][-1]["content"]
    # Number 0 is short enough to stand whole in the tiers, but it no longer does in the transcript.
    assert "> The key number 0 hangs on hook 40." in answer
    assert "number 5 hangs" not in answer
    assert PRINTED in answer
    await session.close()


async def test_recall_in_the_middle_of_a_task_is_narrow_and_else_it_is_not(
    session: Session, model: ScriptedModel
) -> None:
    give(session, MadeTool("dig"))
    for number in range(60):
        model.replies = [[f"The bed number {number} holds beans that want water."]]
        await session.send(f"What about the beans in bed {number}?")
    await session.drain()
    ask = ToolCall("r", "recall_memory", json.dumps({"question": "Which bed holds beans that want water?"}))
    model.replies = [[ask], [called("dig", 1)], [replace(ask, id="s")], ["Done."]]
    await session.send("Which beds?")
    wide, narrow = (
        message["content"].count("> ") for message in model.requests[-1] if message.get("tool_call_id") in ("r", "s")
    )
    assert 0 < narrow < wide


async def test_what_people_said_and_what_tools_printed_come_under_their_own_headings(
    session: Session, model: ScriptedModel
) -> None:
    give(session, printing(lambda n: "The orchid code is 77-ORCHID. " * 120))
    await session.send("My orchid code is ORCHID-PINK, remember it.")
    model.replies = [[called("print_it", 1)], ["Printed."]]
    await session.send("Print the orchid code.")
    await talk(session, 20)
    await session.drain()
    ask = ToolCall("r", "recall_memory", json.dumps({"question": "What is the orchid code?"}))
    model.replies = [[ask], ["Two of them."]]
    await session.send("Which orchid codes are there?")
    said, printed = model.requests[-1][-1]["content"].split(PRINTED)
    assert SAID in said
    assert "ORCHID-PINK" in said
    assert "77-ORCHID" not in said
    assert "77-ORCHID" in printed
    assert "ORCHID-PINK" not in printed


async def test_the_conversation_is_searched_without_tool_output(session: Session, model: ScriptedModel) -> None:
    give(session, printing(lambda n: "The lighthouse keeper is called Osric. " * 60))
    model.replies = [[called("print_it", 1)], ["Printed."]]
    await session.send("Print it.")
    await talk(session, 20)
    await session.drain()
    people = await session.recall("Who is the lighthouse keeper?")
    assert any(item.kind == "tool" and "Osric" in item.text for item in people.items)
    await session.close()
    with tape_of(session) as store:
        found = recall(store, CONVERSATION, "Who is the lighthouse keeper?")
        assert not any(item.kind == "tool" for item in found.items)


async def test_long_output_stands_as_a_line_and_short_output_as_it_is(roomy: Session, model: ScriptedModel) -> None:
    give(roomy, printing(lambda n: page(n) if n else "exit 0"))
    model.replies = [[called("print_it", 0), called("print_it", 1)], ["Done."]]
    await roomy.send("Print.")
    long = ToolCall("long", "print_it", json.dumps({"n": 2, "note": "w" * 5_000}))
    model.replies = [[long], ["Done."]]
    await roomy.send("Print more.")
    snapshot = await roomy.snapshot()
    stubs = [item for item in snapshot.recent if item.spans == ()]
    assert [item.event.meta["call"] for item in stubs] == ["call-print_it-1", "long", "long"]
    assert all(item.tokens < HELD_TOKENS for item in stubs)
    asked = (await roomy.view())[-2]["content"]
    assert "needle" not in asked
    text = (await roomy.view())[1]["content"]
    whole = next(item.event for item in stubs)
    assert "> print_it answered: exit 0" in text
    assert f"> print_it answered: printed number 1 [20,000 characters, kept whole: recall_id {whole.id}]" in text
    call = next(item for item in stubs if item.event.role == "assistant")
    assert len(asked.splitlines()[3]) < ARGUMENTS_SHOWN + 200
    assert f"kept whole: recall_id {call.event.id}]" in asked
    assert (await roomy.recall_id(whole.id)).events[0].text == page(1)


async def test_a_compaction_hands_the_summariser_the_line_and_not_the_output(
    session: Session, model: ScriptedModel
) -> None:
    give(session, printing(page))
    for n in range(6):
        model.replies = [[called("print_it", n)], [f"Page {n} is printed."]]
        await session.send(f"Print page {n}.")
        assert fits(await session.snapshot())
    await talk(session, 20)
    await session.drain()
    assert model.prompts
    assert max(map(len, model.prompts)) < KILOBYTES_20 / 2
    assert any("printed number 3" in prompt for prompt in model.prompts)
    assert not any("needle" in prompt for prompt in model.prompts)
    assert (await session.snapshot()).generation > 0
    await session.close()
    with tape_of(session) as store:
        assert failures(store) == []
        behind = {seq for bullet in store.bullets(CONVERSATION) for seq in bullet.seqs}
        tools = {event.seq for event in store.events(kinds=["tool"])}
        assert tools <= behind


@pytest.mark.parametrize("with_tape", [True, False])
async def test_a_session_with_tool_events_travels(
    library: Library, session: Session, model: ScriptedModel, tmp_path: Path, with_tape: bool
) -> None:
    give(session, printing(lambda n: page(n) if n % 2 else "short"))
    for n in range(8):
        model.replies = [[called("print_it", n)], [f"Page {n} is printed."]]
        await session.send(f"Print page {n}.")
    await session.drain()
    view = await session.view()
    await session.close()
    written = await library.export(session.id, tmp_path / "out.json", tape=with_tape)
    other = Library(replace(library.options, home=tmp_path / "other"), open_model=model.opened)
    row = await other.import_file(written)
    again = await other.open(row.id)
    assert await again.view() == view
    await again.close()
    with tape_of(again) as store:
        assert failures(store) == []


async def test_a_fork_has_the_tool_events_of_its_part(library: Library, session: Session, model: ScriptedModel) -> None:
    give(session, printing(page))
    for n in range(4):
        model.replies = [[called("print_it", n)], [f"Page {n} is printed."]]
        await session.send(f"Print page {n}.")
    await session.drain()
    call = [event for event in await session.transcript(limit=100) if event.kind == "tool"][2]
    await session.close()
    row = await library.fork(session.id, call.seq)
    forked = await library.open(row.id)
    texts = [event.text for event in await forked.transcript(limit=100)]
    assert texts[-1] == "Page 1 is printed."
    assert page(1) in texts
    assert page(2) not in texts
    await forked.close()
    with tape_of(forked) as store:
        assert failures(store) == []


async def test_a_call_that_was_killed_is_answered_at_the_next_opening(
    library: Library, session: Session, model: ScriptedModel
) -> None:
    await session.send("Hello")
    await session.close()
    path = tapes.tape_path(session.options.home, session.id)
    with MemoryStore(path) as store:
        queue = TieredQueue(store, x_budget=200, y_budget=400, restore=True, auto_compact=False)
        queue.append(NewEvent(text="Dig.", role="user", source="person"))
        meta = {"call": "c1", "round": 1, "group": "workspace"}
        queue.append(NewEvent(id="e1", text='{"n": 1}', role="assistant", kind="tool", source="dig", meta=meta))
    looked = await library.open(session.id, read_only=True)
    assert "> dig has no answer" in (await looked.view())[-1]["content"]
    await looked.close()
    for _ in range(2):
        again = await library.open(session.id)
        answers = [event for event in await again.transcript() if event.role == "tool"]
        assert [(event.text, event.refs, event.meta["ok"]) for event in answers] == [(INTERRUPTED_CALL, ("e1",), False)]
        assert again.can_retry
        assert f"> dig answered: {INTERRUPTED_CALL}" in (await again.view())[-1]["content"]
        await again.close()
    with tape_of(session) as store:
        assert failures(store) == []


async def test_tapes_of_before_open_and_verify(library: Library, session: Session, model: ScriptedModel) -> None:
    """Recalls stood on the tape as notes, and tool output raw however long."""
    await session.send("Hello")
    await session.close()
    path = tapes.tape_path(session.options.home, session.id)
    with MemoryStore(path) as store:
        queue = TieredQueue(store, x_budget=200, y_budget=400, restore=True, auto_compact=False)
        queue.append(NewEvent(text='{"question": "x"}', role="tool", kind="note", source="recall_memory"))
        queue.append(NewEvent(text=page(1), role="tool", kind="tool", source="shell"))
        queue.append(NewEvent(text="[]", role="tool", kind="tool", source="odd", meta={"call": ["no", "text"]}))
    again = await library.open(session.id)
    assert "[Output of the tool shell, quoted]\n[Excerpt of 20,000 characters" in (await again.view())[-1]["content"]
    assert [event.kind for event in await again.transcript()][-3:] == ["note", "tool", "tool"]
    await talk(again, 20)
    await again.drain()
    await again.close()
    with tape_of(session) as store:
        assert failures(store) == []
