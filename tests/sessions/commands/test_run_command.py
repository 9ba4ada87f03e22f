"""``run_command``: nothing runs unasked, answers are remembered as they were meant, and the run goes on."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.approvals import Approval, Decision
from sessions.chat_model import ToolCall
from sessions.commands.allowed import FILE_NAME, AllowedCommands
from sessions.commands.for_person import run_for_person
from sessions.commands.run_command import RunCommand
from sessions.commands.shell import CommandFailed
from sessions.events import Notice, SessionEvent
from sessions.options import ToolSettings
from sessions.toolbox import CallContext, ToolAnswer, Toolbox


class Person:
    """Answers what is asked, one decision after the other, and keeps what was asked and told."""

    def __init__(self, *decisions: Decision) -> None:
        self.decisions = list(decisions)
        self.asked: list[Approval] = []
        self.told: list[SessionEvent] = []
        self.kept: list[ToolAnswer] = []

    async def ask(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        return self.decisions.pop(0)

    @property
    def context(self) -> CallContext:
        return CallContext("call_1", self.told.append, self.ask, self.kept.append)

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.told if isinstance(event, Notice)]


class Session:
    """One session's tool over a folder and a home."""

    def __init__(self, folder: Path, home: Path, **settings: float) -> None:
        self.tool = RunCommand(
            folder,
            ToolSettings(**settings),  # type: ignore[arg-type]
            AllowedCommands(home, folder),
            {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-1"},
        )
        self.toolbox = Toolbox((self.tool,))

    async def run(self, command: str, person: Person) -> ToolAnswer:
        return await self.toolbox.answer(ToolCall("1", "run_command", json.dumps({"command": command})), person.context)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def opened(folder: Path, home: Path) -> Callable[[], Session]:
    return lambda: Session(folder, home)


async def test_once_runs_once(opened: Callable[[], Session], folder: Path) -> None:
    person, session = Person("once", "once"), opened()
    answer = await session.run("echo hello $OPENAI_API_KEY; exit 3", person)
    assert answer.text == "hello\n[exit 3]"
    assert answer.summary.startswith('ran "echo hello $OPENAI_API_KEY; exit 3", exit 3, ')
    assert not answer.ok
    assert (await session.run("echo hello", person)).ok
    asked = person.asked[0]
    assert (asked.tool, asked.command, asked.prefix) == ("run_command", "echo hello $OPENAI_API_KEY; exit 3", "")
    assert asked.folder == str(folder)
    assert person.asked[1].prefix == "echo"
    assert person.asked[0].id != person.asked[1].id


async def test_always_holds_for_the_prefix_also_in_the_next_session(
    opened: Callable[[], Session], home: Path, folder: Path
) -> None:
    person, session = Person("always", "once", "once"), opened()
    await session.run("echo one", person)
    assert (await session.run("echo two", person)).text == "two"
    assert (await opened().run("echo three", person)).text == "three"
    assert len(person.asked) == 1
    # Neither another program, nor more than words, nor a link that leads out.
    (folder / "out").symlink_to("/etc")
    await session.run("echo four; echo five", person)
    await session.run("echo out/passwd", person)
    assert [asked.command for asked in person.asked[1:]] == ["echo four; echo five", "echo out/passwd"]
    kept = home / FILE_NAME
    assert json.loads(kept.read_text()) == {"workspaces": {str(folder.resolve()): ["echo"]}}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


async def test_always_in_one_workspace_is_nothing_in_another(
    opened: Callable[[], Session], tmp_path: Path, home: Path
) -> None:
    await opened().run("echo one", Person("always"))
    (tmp_path / "other").mkdir()
    person = Person("once")
    await Session(tmp_path / "other", home).run("echo two", person)
    assert len(person.asked) == 1


async def test_always_without_a_prefix_is_once(opened: Callable[[], Session], home: Path) -> None:
    person, session = Person("always", "once"), opened()
    await session.run("echo a | cat", person)
    await session.run("echo a | cat", person)
    assert len(person.asked) == 2
    assert not (home / FILE_NAME).exists()


async def test_never_holds_for_the_session(opened: Callable[[], Session], folder: Path) -> None:
    person, session = Person("never", "never", "once"), opened()
    refused = await session.run("echo a", person)
    assert not refused.ok
    assert refused.text.startswith("The person does not want commands that begin with echo to run. Do not ask again")
    assert (await session.run("echo b", person)).text == refused.text
    for _ in range(2):
        refused = await session.run(f"touch {folder}/made", person)
        assert refused.text.startswith("The person does not want this command to run.")
    assert not (folder / "made").exists()
    assert len(person.asked) == 2
    assert (await opened().run("echo a", person)).ok


async def test_where_nobody_can_be_asked_nothing_runs_unless_a_rule_lets_it(
    opened: Callable[[], Session], folder: Path
) -> None:
    nobody = CallContext("1", lambda event: None, None)
    call = ToolCall("1", "run_command", json.dumps({"command": "echo a"}))
    refused = await opened().toolbox.answer(call, nobody)
    assert refused.text.startswith("Nobody is here to be asked, so the command was not run.")
    await opened().run("echo b", Person("always"))
    assert (await opened().toolbox.answer(call, nobody)).text == "a"


async def test_an_answer_settles_other_questions_about_the_same(opened: Callable[[], Session]) -> None:
    answers: dict[str, asyncio.Future[Decision]] = {}
    gone: list[str] = []

    async def ask(approval: Approval) -> Decision:
        answers[approval.command] = asyncio.get_running_loop().create_future()
        try:
            return await answers[approval.command]
        except asyncio.CancelledError:
            gone.append(approval.command)
            raise

    session = opened()
    context = CallContext("1", lambda event: None, ask)
    calls = [
        asyncio.create_task(
            session.toolbox.answer(ToolCall("1", "run_command", json.dumps({"command": command})), context)
        )
        for command in ("echo a", "echo b", "ls")
    ]
    async with asyncio.timeout(60):
        while len(answers) < 3:
            await asyncio.sleep(0.01)
    answers["echo a"].set_result("always")
    assert [(await calls[0]).text, (await calls[1]).text] == ["a", "b"]
    assert gone == ["echo b"]
    answers["ls"].set_result("never")
    assert not (await calls[2]).ok


async def test_cancelling_takes_the_question_back(opened: Callable[[], Session]) -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def ask(approval: Approval) -> Decision:
        asked.set()
        try:
            await asyncio.get_running_loop().create_future()
            return "once"
        finally:
            gone.set()

    context = CallContext("1", lambda event: None, ask)
    call = ToolCall("1", "run_command", json.dumps({"command": "echo a"}))
    task = asyncio.create_task(opened().toolbox.answer(call, context))
    await asyncio.wait_for(asked.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(gone.wait(), 60)


async def test_cancelling_keeps_what_was_printed(opened: Callable[[], Session], folder: Path) -> None:
    person = Person("once")
    task = asyncio.create_task(opened().run("echo so far; touch began; sleep 1000", person))
    async with asyncio.timeout(60):
        while not (folder / "began").exists():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert person.kept[0].text == "so far\n[stopped by the person]"
    assert not person.kept[0].ok


async def test_a_command_that_never_returns(folder: Path, home: Path) -> None:
    hung = await Session(folder, home, command_timeout=0.05).run("sleep 1000", Person("once"))
    assert hung.text == "[no output; stopped after 0.05 s]"
    assert hung.summary.startswith('ran "sleep 1000", stopped after 0.05 s, ')
    assert not hung.ok


async def test_one_that_prints_too_much_and_one_that_prints_escapes(folder: Path, home: Path) -> None:
    session, person = Session(folder, home, output_cap=1_000), Person("once", "once")
    much = await session.run("yes | head -c 1000000", person)
    assert len(much.text) < 1_200
    assert "[999,000 bytes left out here: the output is 1.0 MB long]" in much.text
    escapes = await session.run(r"printf '\033]52;c;AAAA\007\033[2Jclean'", person)
    assert escapes.text == "clean"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("  ", "empty"),
        ("x" * 10_001, "too long for anybody to check"),
        ("echo \x1b[8mhidden", "control characters"),
        ("echo a\u202eb", "nobody can see"),
        ("echo a\0b", "control characters"),
    ],
)
async def test_a_person_is_only_asked_about_what_they_can_read(
    opened: Callable[[], Session], command: str, words: str
) -> None:
    person = Person()
    answer = await opened().run(command, person)
    assert words in answer.text
    assert not person.asked


async def test_a_folder_that_is_gone_is_a_sentence(opened: Callable[[], Session], folder: Path) -> None:
    session = opened()
    folder.rmdir()
    answer = await session.run("echo a", Person("once"))
    assert "which is no folder any more" in answer.text


@pytest.mark.parametrize(
    "damage", [b"{", b"[]", b'{"workspaces": 7}', b'{"workspaces": {"/x": "ls"}}', b"\xff", b"x" * 1_000_001]
)
async def test_a_damaged_list_is_kept_aside_and_allows_nothing(
    opened: Callable[[], Session], home: Path, damage: bytes
) -> None:
    home.mkdir()
    (home / FILE_NAME).write_bytes(damage)
    person = Person("always", "once")
    await opened().run("echo a", person)
    assert len(person.asked) == 1
    assert len(person.notices) == 1
    assert "damaged-1" in person.notices[0]
    assert (home / f"{FILE_NAME}.damaged-1").read_bytes() == damage
    await opened().run("echo b", person)
    assert len(person.asked) == 1
    # A second one does not take the place of the first.
    (home / FILE_NAME).write_bytes(b"again")
    await opened().run("echo c", person)
    assert (home / f"{FILE_NAME}.damaged-1").read_bytes() == damage
    assert (home / f"{FILE_NAME}.damaged-2").read_bytes() == b"again"


async def test_a_list_that_names_more_than_may_be_covered_covers_no_more(
    opened: Callable[[], Session], home: Path, folder: Path
) -> None:
    home.mkdir()
    rules = ["rm", "bash", "sudo", "", "git", "echo a;", "touch"]
    (home / FILE_NAME).write_text(json.dumps({"workspaces": {str(folder.resolve()): rules}}))
    commands = ["rm x", "bash -c ls", "git status", "echo a; ls", "touch made"]
    person = Person("once", "once", "once", "once", "once")
    for command in commands:
        await opened().run(command, person)
    assert [asked.command for asked in person.asked] == commands


async def test_a_list_that_cannot_be_written_is_said_and_the_command_runs(
    opened: Callable[[], Session], home: Path
) -> None:
    home.mkdir()
    (home / FILE_NAME).mkdir()
    person = Person("always")
    answer = await opened().run("echo a", person)
    assert answer.text == "a"
    assert any("cannot be written" in notice or "cannot be read" in notice for notice in person.notices)


def test_rules_of_two_ottos_add_up(home: Path, folder: Path, tmp_path: Path) -> None:
    AllowedCommands(home, folder).add("echo")
    AllowedCommands(home, tmp_path).add("ls")
    AllowedCommands(home, folder).add("git status")
    AllowedCommands(home, folder).add("echo")
    assert AllowedCommands(home, folder).read().prefixes == {"echo", "git status"}
    assert AllowedCommands(home, tmp_path).read().prefixes == {"ls"}


async def test_what_the_person_types_runs_unasked_and_becomes_an_event(folder: Path) -> None:
    environ = {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-1", "GH_TOKEN": "mine"}
    event = await run_for_person("echo $OPENAI_API_KEY $GH_TOKEN; exit 4", folder, ToolSettings(), environ=environ)
    assert (event.role, event.kind, event.source, event.text) == ("tool", "tool", "shell", "mine\n[exit 4]")
    meta = dict(event.meta)
    assert meta.pop("summary").startswith('ran "echo $OPENAI_API_KEY $GH_TOKEN; exit 4", exit 4, ')
    assert meta == {"by": "person", "command": "echo $OPENAI_API_KEY $GH_TOKEN; exit 4", "exit": 4, "ok": False}
    assert (await run_for_person("true", folder, ToolSettings())).text == "[no output]"
    with pytest.raises(CommandFailed):
        await run_for_person("true", folder / "gone", ToolSettings())


async def test_what_the_person_types_can_be_stopped_and_keeps_what_it_printed(folder: Path) -> None:
    stop = asyncio.Event()
    task = asyncio.create_task(run_for_person("echo a; touch began; sleep 1000", folder, ToolSettings(), stop=stop))
    async with asyncio.timeout(60):
        while not (folder / "began").exists():
            await asyncio.sleep(0.01)
    stop.set()
    event = await task
    assert event.text == "a\n[stopped by the person]"
    assert event.meta["ok"] is False
