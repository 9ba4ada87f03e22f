"""Which tools a session offers, what the person switches, attaches and runs, and who is asked before a command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.errors import OttoError, UnknownId
from memory.store import MemoryStore
from memory.verify import verify
from sessions import tapes
from sessions.approvals import Decision
from sessions.chat_model import ToolCall
from sessions.events import ApprovalSettled, ApprovalWanted, SessionEvent, ShellRan
from sessions.library import Library
from sessions.options import Options, ToolSettings
from sessions.session import Session
from sessions.workspace.attaching import AttachmentRefused
from tests.sessions.listening import heard, until
from tests.sessions.scripted_model import ScriptedModel

WORKSPACE = ("read_file", "list_files", "search_files")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "garden"
    made.mkdir()
    (made / "beds.txt").write_text("Bed 4 holds kale.\n")
    return made


@pytest.fixture
async def here(library: Library, folder: Path) -> AsyncIterator[Session]:
    """A session that works in ``folder``."""
    opened = await library.new(str(folder))
    yield opened
    await opened.close()


def offered(model: ScriptedModel) -> set[str]:
    return {spec["function"]["name"] for spec in model.offered[-1]}


async def test_a_session_offers_what_reads_its_folder_and_no_commands(here: Session, model: ScriptedModel) -> None:
    model.replies = [[ToolCall("c1", "read_file", '{"path": "beds.txt"}')], ["Kale."]]
    await here.send("What is in bed 4?")
    assert offered(model) == {"recall_memory", "recall_id", *WORKSPACE}
    assert "Bed 4 holds kale." in model.requests[-1][-1]["content"]
    enabled = {tool.name: tool.enabled for tool in here.tools()}
    assert enabled["read_file"]
    assert not enabled["run_command"]
    assert {tool.group for tool in here.tools()} == {"memory", "workspace", "command"}
    assert all(tool.description for tool in here.tools())


async def test_without_a_folder_only_memory_is_offered(session: Session, model: ScriptedModel) -> None:
    await session.send("Hello")
    assert offered(model) == {"recall_memory", "recall_id"}
    with pytest.raises(OttoError, match="folder of this session is not there"):
        await session.run_shell("true")
    assert not session.busy


async def test_the_settings_can_switch_the_folders_tools_off(
    options: Options, model: ScriptedModel, folder: Path
) -> None:
    closed = replace(options, tools=ToolSettings(enabled=False, run_command=True))
    session = await Library(closed, open_model=model.opened).new(str(folder))
    await session.send("Hello")
    assert offered(model) == {"recall_memory", "recall_id", "run_command"}
    await session.close()


async def test_what_was_switched_is_remembered(library: Library, here: Session, model: ScriptedModel) -> None:
    await here.switch_tool("run_command", True)
    await here.send("Hello")
    assert "run_command" in offered(model)
    await here.switch_tool("workspace", False)
    await here.switch_tool("read_file", True)
    await here.send("Hello again")
    assert offered(model) == {"recall_memory", "recall_id", "read_file", "run_command"}
    await here.close()
    again = await library.open(here.id)
    await again.send("And again")
    assert offered(model) == {"recall_memory", "recall_id", "read_file", "run_command"}
    await again.switch_tool("workspace", True)
    assert all(tool.enabled for tool in again.tools())
    await again.close()


async def test_what_is_no_tool_cannot_be_switched(here: Session) -> None:
    with pytest.raises(UnknownId, match=r"named rm_rf\. The groups are memory, workspace, command\."):
        await here.switch_tool("rm_rf", True)


async def test_a_tape_that_remembers_rubbish_of_its_tools_opens(
    library: Library, here: Session, model: ScriptedModel
) -> None:
    await here.send("Hello")
    await here.close()
    for rubbish in ("{", "[]", '{"read_file": "yes", "workspace": false}'):
        with MemoryStore(tapes.tape_path(library.options.home, here.id)) as store:
            store.set_meta("tools", rubbish)
        again = await library.open(here.id)
        enabled = {tool.name for tool in again.tools() if tool.enabled}
        assert ("read_file" in enabled) == (rubbish in ("{", "[]"))
        await again.close()


async def test_attached_files_go_along_and_stay_for_a_retry(here: Session, model: ScriptedModel, folder: Path) -> None:
    (folder / "more.txt").write_text("Bed 5 holds beans.")
    await here.send("What is where?", [Path("beds.txt"), folder / "more.txt"])
    said, first, second, _ = await here.transcript()
    assert (first.role, first.kind, first.source, first.text) == ("user", "document", "beds.txt", "Bed 4 holds kale.\n")
    assert second.text == "Bed 5 holds beans."
    asked = model.requests[0][-1]["content"]
    assert asked.startswith("What is where?")
    assert asked.index("quoted: beds.txt]\nBed 4") < asked.index("Bed 5 holds beans.")
    await here.retry()
    assert model.requests[1] == model.requests[0]
    assert said.text == "What is where?"


@pytest.mark.parametrize("path", ["missing.txt", "."])
async def test_what_cannot_be_attached_is_a_sentence_and_nothing_is_sent(
    here: Session, model: ScriptedModel, path: str
) -> None:
    with pytest.raises(AttachmentRefused):
        await here.send("Look.", [Path("beds.txt"), Path(path)])
    assert await here.transcript() == []
    assert not model.requests
    assert not here.busy


async def test_a_path_can_be_completed(here: Session) -> None:
    assert await asyncio.to_thread(here.complete_path, "be") == ["beds.txt"]


async def test_what_the_person_runs_stands_raw_and_opens_no_turn(
    library: Library, here: Session, model: ScriptedModel
) -> None:
    events = heard(here)
    event = await here.run_shell("echo kale-$((40 + 2)); exit 3")
    assert not model.requests
    assert (event.role, event.kind, event.source, event.meta["by"]) == ("tool", "tool", "shell", "person")
    assert "kale-42" in event.text
    assert event.meta["exit"] == 3
    assert any(isinstance(one, ShellRan) and one.event == event for one in events)
    assert not here.can_retry
    assert here.title == "!echo kale-$((40 + 2)); exit 3"
    await here.send("What did it print?")
    assert "[Output of a command that the person ran, quoted: echo kale-$((40 + 2)); exit 3]" in str(model.requests[0])
    assert not here.can_retry
    await here.run_shell("echo later")
    assert not here.can_retry
    await here.close()
    with MemoryStore(tapes.tape_path(library.options.home, here.id), read_only=True) as store:
        assert verify(store).ok
    (row,) = await library.list()
    assert row.turns == 1


async def test_a_command_of_the_person_can_be_stopped(here: Session, folder: Path) -> None:
    running = asyncio.create_task(here.run_shell("echo begun; touch begun; sleep 600"))
    await until((folder / "begun").exists)
    assert here.busy
    here.stop()
    event = await running
    assert event.text.startswith("begun")
    assert not event.meta["ok"]
    assert not here.busy


async def answered(here: Session, decision: Decision) -> list[SessionEvent]:
    events = heard(here)

    def answer(event: SessionEvent) -> None:
        if isinstance(event, ApprovalWanted):
            here.decide(event.approval.id, decision)

    here.subscribe(answer)
    here.can_ask = True
    await here.switch_tool("run_command", True)
    await here.send("Run it.")
    return events


@pytest.mark.parametrize(("decision", "ran"), [("once", True), ("never", False)])
async def test_a_command_runs_as_the_person_decides(
    here: Session, model: ScriptedModel, folder: Path, decision: Decision, ran: bool
) -> None:
    model.replies = [[ToolCall("c1", "run_command", '{"command": "touch ran.txt"}')], ["All right."]]
    events = await answered(here, decision)
    wanted = [event.approval for event in events if isinstance(event, ApprovalWanted)]
    assert [(one.command, one.folder) for one in wanted] == [("touch ran.txt", str(folder))]
    assert [(one.id, one.decision) for one in events if isinstance(one, ApprovalSettled)] == [(wanted[0].id, decision)]
    assert (folder / "ran.txt").exists() == ran
    assert here.can_ask


async def test_where_nobody_can_be_asked_no_command_runs(here: Session, model: ScriptedModel, folder: Path) -> None:
    await here.switch_tool("run_command", True)
    model.replies = [[ToolCall("c1", "run_command", '{"command": "touch ran.txt"}')], ["All right."]]
    await here.send("Run it.")
    assert "Nobody is here to be asked" in model.requests[-1][-1]["content"]
    assert not (folder / "ran.txt").exists()


async def test_esc_takes_a_question_back(here: Session, model: ScriptedModel, folder: Path) -> None:
    events = heard(here)
    here.can_ask = True
    await here.switch_tool("run_command", True)
    model.replies = [[ToolCall("c1", "run_command", '{"command": "touch ran.txt"}')], ["never asked"]]
    turn = asyncio.create_task(here.send("Run it."))
    await until(lambda: any(isinstance(event, ApprovalWanted) for event in events))
    here.stop()
    done = await turn
    assert done.stopped
    (settled,) = [event for event in events if isinstance(event, ApprovalSettled)]
    assert settled.decision is None
    here.decide(settled.id, "once")
    assert not (folder / "ran.txt").exists()
    assert (await here.transcript())[-1].text == "Stopped by the person."
