"""``otto chat`` as a process, with a vendor on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.otto_tui.processes import PATIENCE, clean_environ, here, otto
from tests.otto_tui.terminals import typed_into
from tests.vendors import Failure, LoopbackVendor, Reply

LANGUAGE = {"LC_ALL": "C.UTF-8"}


@pytest.fixture
def vendor() -> Iterator[LoopbackVendor]:
    with LoopbackVendor("openai") as vendor:
        yield vendor


def lines(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def sessions(home: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(here("sessions", "--json", home=home).stdout)
    return found


def start(
    *args: str, home: Path, vendor: LoopbackVendor, stdin: int | None = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "otto_tui", *args],
        env=clean_environ(home, **vendor.environ, **LANGUAGE),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ask(
    *args: str, home: Path, vendor: LoopbackVendor, stdin: bytes = b"", environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return here(
        "chat",
        *args,
        home=home,
        stdin=stdin,
        environ={**vendor.environ, "OTTO_MODEL__CHAT": vendor.model, **(environ or {})},
    )


def test_one_shot(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("It adds a test.")
    done = ask("review", "this", home=tmp_path, vendor=vendor, stdin=b"+ def test\n")
    (session,) = sessions(tmp_path)
    assert (done.returncode, done.stdout) == (0, b"It adds a test.\n")
    assert vendor.chats[0].chat.prompt == "review this\n\n+ def test"
    assert done.stderr.decode() == f'The session "review this" is kept. Go on with: otto --resume {session["id"]}\n'
    assert (session["title"], session["turns"], session["workspace"]) == ("review this", 1, str(Path.cwd()))


def test_model_address_and_system_prompt_on_the_command_line(tmp_path: Path, vendor: LoopbackVendor) -> None:
    done = here(
        *("chat", "hello", "-m", "openai/tiny", "--api-base", vendor.api_base, "--system", "Be brief."),
        home=tmp_path,
    )
    assert done.returncode == 0
    assert vendor.chats[0].chat.model == "tiny"
    assert vendor.chats[0].chat.system == "Be brief."


def test_going_on_with_a_session(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.script(Reply("Noted."), Reply("Teal."))
    assert ask("my colour is teal", home=tmp_path, vendor=vendor).returncode == 0
    done = ask("which colour?", "--session", "last", home=tmp_path, vendor=vendor)
    assert done.stdout == b"Teal.\n"
    assert [said.text for said in vendor.chats[1].chat.messages[1:]] == ["my colour is teal", "Noted.", "which colour?"]
    assert [row["turns"] for row in sessions(tmp_path)] == [2]


def test_a_typed_model_answers_in_an_old_session(tmp_path: Path, vendor: LoopbackVendor) -> None:
    ask("one", home=tmp_path, vendor=vendor)
    assert ask("two", "--session", "last", "-m", "openai/other", home=tmp_path, vendor=vendor).returncode == 0
    assert [request.chat.model for request in vendor.chats][1] == "other"


def test_json_lines(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("Two words", usage=(11, 2))
    done = ask("hello", "--json", home=tmp_path, vendor=vendor)
    found = lines(done)
    (session,) = sessions(tmp_path)
    assert [line["type"] for line in found] == ["delta", "delta", "turn"]
    assert "".join(line["text"] for line in found[:-1]) == "Two words"
    assert {key: found[-1][key] for key in ("session", "seq", "text", "stopped")} == {
        "session": session["id"],
        "seq": 2,
        "text": "Two words",
        "stopped": False,
    }
    assert found[-1]["usage"]["prompt_tokens"] == 11
    assert found[-1]["usage"]["completion_tokens"] == 2
    assert set(found[-1]["usage"]) == {"prompt_tokens", "completion_tokens", "cost"}


def test_tools_and_compactions_come_before_the_last_line(tmp_path: Path, vendor: LoopbackVendor) -> None:
    small = {"OTTO_MEMORY__X_BUDGET": "60", "OTTO_MEMORY__Y_BUDGET": "120"}
    compactions: list[dict[str, Any]] = []
    for turn in range(6):
        vendor.say(f"Reply {turn}: " + "so the harbour gauge is read every minute " * 3)
        going_on = ["--session", "last"] if turn else []
        found = lines(ask(f"Prompt {turn}", "--json", *going_on, home=tmp_path, vendor=vendor, environ=small))
        assert found[-1]["type"] == "turn"
        compactions += [line for line in found if line["type"] == "compaction"]
    assert compactions
    assert compactions[0]["generation"] == 1
    assert compactions[0]["tokens_after"] < compactions[0]["tokens_before"]
    vendor.use_tool("recall_memory", question="What did prompt 0 say?")
    vendor.say("It said little.")
    found = lines(ask("look it up", "--session", "last", "--json", home=tmp_path, vendor=vendor, environ=small))
    tools = [line for line in found if line["type"] == "tool"]
    assert [tool["name"] for tool in tools] == ["recall_memory"]
    assert json.loads(tools[0]["arguments"]) == {"question": "What did prompt 0 say?"}
    assert tools[0]["ok"] is True
    assert tools[0]["size"] > 0
    assert found[-1]["text"] == "It said little."


@pytest.mark.parametrize(("status", "word"), [(401, "key"), (404, "model"), (500, ""), (429, "")])
def test_a_failure_is_a_sentence_and_the_turn_is_kept(
    tmp_path: Path, vendor: LoopbackVendor, status: int, word: str
) -> None:
    vendor.reply_with(lambda asked: Failure(status))
    done = ask("remember this", "--json", home=tmp_path, vendor=vendor)
    assert done.returncode == 1
    (error,) = lines(done)
    assert error["type"] == "error"
    assert word in error["message"]
    sentence, resume = done.stderr.decode().splitlines()
    assert sentence == f"Error: {error['message']}"
    id = resume.rpartition(" ")[2]
    assert error["session"] == id
    view = json.loads(here("view", id, "--json", home=tmp_path).stdout)
    assert view[-1] == {"role": "user", "content": "remember this"}


def test_a_cut_reply_is_kept_and_marked(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.cut("one two three four five six", after=4)
    done = ask("count", home=tmp_path, vendor=vendor)
    assert done.returncode == 1
    assert done.stdout.startswith(b"one two")
    assert done.stdout.endswith(b"\n")
    assert b"Error: " in done.stderr


def test_terminal_escapes_do_not_pass_a_pipe(tmp_path: Path, vendor: LoopbackVendor) -> None:
    hostile = "a\x1b]52;c;cHduZWQ=\x07b\x1b[2Jc\x9b31md\r\ne\u202ef [/bold] [0]"
    vendor.script(*[Reply(hostile, pieces=tuple(hostile)) for _ in range(3)])
    plain = ask("x", home=tmp_path, vendor=vendor, environ=LANGUAGE).stdout.decode()
    assert plain == "a␛]52;c;cHduZWQ=␇b␛[2Jc�31md\nef [/bold] [0]\n"
    assert ask("x", "--raw", home=tmp_path, vendor=vendor, environ=LANGUAGE).stdout.decode() == hostile + "\n"
    as_json = ask("x", "--json", home=tmp_path, vendor=vendor).stdout
    assert all(32 <= byte < 127 or byte == 10 for byte in as_json)
    assert json.loads(as_json.splitlines()[-1])["text"] == hostile


def test_a_terminal_gets_no_escapes_even_when_asked(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("a\x1b[2Jb")
    seen, _ = talk(["chat", "x", "--raw"], [], home=tmp_path, vendor=vendor)
    assert "a␛[2Jb" in seen
    assert "\x1b" not in seen


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_reply_that_the_terminal_cannot_spell(tmp_path: Path, vendor: LoopbackVendor, encoding: str) -> None:
    vendor.say("naïve 日本 …")
    poor = {"PYTHONIOENCODING": f"{encoding}:strict", "LC_ALL": "C"}
    done = otto("chat", "x", "-m", vendor.model, home=tmp_path, environ={**vendor.environ, **poor})
    assert done.returncode == 0
    assert done.stdout.decode(encoding).startswith("na")
    assert "\\u65e5\\u672c" in done.stdout.decode(encoding)


@pytest.mark.parametrize(
    "prompt", [b"\0", "\ufdd0\u202e[/bold]".encode(), b"\xff\xfe", "日本".encode(), b"x" * 5_000_000]
)
def test_any_bytes_can_be_sent(tmp_path: Path, vendor: LoopbackVendor, prompt: bytes) -> None:
    vendor.say("Got it.")
    done = ask(home=tmp_path, vendor=vendor, stdin=prompt)
    assert (done.returncode, done.stdout) == (0, b"Got it.\n")
    assert here("verify", "last", home=tmp_path).returncode == 0


def test_half_a_character_in_an_argument(tmp_path: Path, vendor: LoopbackVendor) -> None:
    assert ask("a\udcffb", home=tmp_path, vendor=vendor).returncode == 0
    assert vendor.chats[0].chat.prompt == "a\ufffdb"


def test_nothing_to_send(tmp_path: Path, vendor: LoopbackVendor) -> None:
    done = ask(home=tmp_path, vendor=vendor)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"Error: There is nothing to send")
    assert not list(tmp_path.iterdir())


def test_an_address_without_a_model(tmp_path: Path) -> None:
    done = here("chat", "hi", "--api-base", "http://127.0.0.1:1/v1", home=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(b"Error: An address needs a model as well")


def test_without_a_key_it_is_offline_and_says_how_to_change_that(tmp_path: Path) -> None:
    done = here("chat", "hello", home=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith(b"Note: No key and no local server were found")


def test_an_unknown_session(tmp_path: Path) -> None:
    done = here("chat", "hi", "--session", "nope", home=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b'Error: There is no session "nope".')


def test_a_home_that_cannot_be_written(tmp_path: Path, vendor: LoopbackVendor) -> None:
    (tmp_path / "file").write_text("in the way")
    done = ask("hi", home=tmp_path / "file" / "home", vendor=vendor)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().count("\n") == 1
    assert "Error: " in done.stderr.decode()
    assert not vendor.chats


def test_a_full_disk_behind_the_output(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("word " * 50)
    environ = clean_environ(tmp_path, **vendor.environ, OTTO_MODEL__CHAT=vendor.model)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "otto_tui", "chat", "hi"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environ,
            check=False,
            timeout=PATIENCE,
        )
    assert done.returncode == 1
    assert b"Error: Standard output cannot be written: No space left on device." in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_a_reader_that_goes_away(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.hang("one two three " * 200, after=20)
    child = start("chat", "count", "-m", vendor.model, home=tmp_path, vendor=vendor)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.read(5)
    child.stdout.close()
    vendor.release()
    errors = child.stderr.read()
    assert child.wait(PATIENCE) == 1
    assert b"Traceback" not in errors
    assert b"Broken" not in errors
    assert here("verify", "last", home=tmp_path).returncode == 0


@pytest.mark.parametrize("form", ["plain", "json"])
def test_ctrl_c_keeps_what_has_come(tmp_path: Path, vendor: LoopbackVendor, form: str) -> None:
    vendor.hang("one two three four five", after=4)
    args = ["--json"] if form == "json" else []
    child = start("chat", "count", "-m", vendor.model, *args, home=tmp_path, vendor=vendor)
    assert vendor.wait_for().holding.wait(PATIENCE)
    assert child.stdout is not None
    seen = b""
    while b"two" not in seen:
        seen += os.read(child.stdout.fileno(), 1000)
    child.send_signal(signal.SIGINT)
    rest, errors = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    (session,) = sessions(tmp_path)
    assert errors.decode().endswith(f"Go on with: otto --resume {session['id']}\n")
    view = json.loads(here("view", "last", "--json", home=tmp_path).stdout)
    assert view[1]["content"] == "count"
    assert view[2]["content"].startswith("one two")
    if form == "json":
        last = json.loads((seen + rest).splitlines()[-1])
        assert (last["type"], last["stopped"]) == ("turn", True)
        assert last["text"].startswith("one two")


def test_two_at_once(tmp_path: Path, vendor: LoopbackVendor) -> None:
    ask("first", home=tmp_path, vendor=vendor)
    vendor.hang("one two three", after=1)
    child = start("chat", "wait", "--session", "last", "-m", vendor.model, home=tmp_path, vendor=vendor)
    assert vendor.wait_for(2).holding.wait(PATIENCE)
    done = ask("me too", "--session", "last", home=tmp_path, vendor=vendor)
    assert done.returncode == 1
    assert b"is open in another Otto" in done.stderr
    assert here("status", "last", home=tmp_path).returncode == 0
    vendor.release()
    assert child.wait(PATIENCE) == 0
    assert [row["turns"] for row in sessions(tmp_path)] == [2]


def test_the_model_reads_files_of_the_folder(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.use_tool("read_file", path="pyproject.toml")
    vendor.say("It is called otto-tui.")
    found = lines(ask("what is it called?", "--json", home=tmp_path, vendor=vendor))
    (tool,) = [line for line in found if line["type"] == "tool"]
    assert (tool["name"], tool["ok"]) == ("read_file", True)
    assert 'name = "otto-tui"' in vendor.chats[1].chat.messages[-1].text
    assert found[-1]["text"] == "It is called otto-tui."


def test_files_that_are_named_go_along(tmp_path: Path, vendor: LoopbackVendor) -> None:
    note = tmp_path / "note.txt"
    note.write_text("The harbour opens at six.")
    vendor.say("At six.")
    done = ask(f"when? @{note}", home=tmp_path / "home", vendor=vendor)
    assert done.returncode == 0
    assert f"Attached {note}.".encode() in done.stderr
    assert "The harbour opens at six." in vendor.chats[0].chat.prompt
    gone = ask(f"when? @{note}.gone", home=tmp_path / "other", vendor=vendor)
    assert gone.returncode == 1
    assert b"There is no file" in gone.stderr
    assert len(vendor.chats) == 1


def test_what_is_piped_in_names_no_files_and_runs_no_commands(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("Odd.")
    piped = f"!touch {tmp_path}/ran\n@/etc/hostname\n".encode()
    assert ask(home=tmp_path / "home", vendor=vendor, stdin=piped).returncode == 0
    assert vendor.chats[0].chat.prompt == piped.decode().rstrip()
    assert not (tmp_path / "ran").exists()


def test_in_a_pipe_no_command_runs_and_it_is_said_how_one_can(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.use_tool("run_command", command=f"touch {tmp_path}/ran")
    vendor.say("Then not.")
    done = ask("run it", "--allow-commands", home=tmp_path / "home", vendor=vendor)
    assert done.stdout == b"Then not.\n"
    assert done.stderr.count(b"nobody can be asked in a pipe") == 1
    assert b"otto chat --allow-commands" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_commands_are_not_offered_unless_they_are_switched_on(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.use_tool("run_command", command=f"touch {tmp_path}/ran")
    vendor.say("Then not.")
    ask("run it", home=tmp_path / "home", vendor=vendor)
    assert "There is no tool named run_command" in vendor.chats[1].chat.messages[-1].text
    assert not (tmp_path / "ran").exists()


# -- a conversation at a terminal ------------------------------------------------------------------------------------


def talk(args: list[str], typed: list[tuple[str, str]], *, home: Path, vendor: LoopbackVendor) -> tuple[str, int]:
    """What a dumb terminal shows, and the exit code."""
    environ = clean_environ(home, **vendor.environ, **LANGUAGE, OTTO_MODEL__CHAT=vendor.model, TERM="dumb")
    return typed_into(args, typed, environ)


def test_line_after_line(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.script(Reply("Hello."), Reply("Both."))
    seen, code = talk(
        ["chat"],
        [("You: ", "hi\n"), ("You: ", "\n"), ("You: ", "two\\\nlines\n"), ("You: ", "\x04")],
        home=tmp_path,
        vendor=vendor,
    )
    assert [request.chat.prompt for request in vendor.chats] == ["hi", "two\nlines"]
    assert f"{vendor.model}: Hello.\n" in seen
    assert f"{vendor.model}: Both.\n" in seen
    assert "Go on with: otto --resume" in seen
    assert code == 0
    assert "\x1b" not in seen


def test_an_empty_line_tries_again(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.script(Failure(401), Reply("Here I am."))
    seen, _ = talk(
        ["chat"],
        [("You: ", "hi\n"), ("Error: ", ""), ("You: ", "\n"), ("You: ", "\x04")],
        home=tmp_path,
        vendor=vendor,
    )
    assert seen.count("Error: ") == 1
    assert f"{vendor.model}: Here I am.\n" in seen
    assert all(request.chat.prompt == "hi" for request in vendor.chats)
    assert [row["turns"] for row in sessions(tmp_path)] == [1]


def test_ctrl_c_at_the_prompt(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("Hello.")
    seen, code = talk(["chat"], [("You: ", "hi\n"), ("You: ", "\x03")], home=tmp_path, vendor=vendor)
    assert "Go on with: otto --resume" in seen
    assert code == 130


def test_leaving_at_once_leaves_nothing(tmp_path: Path, vendor: LoopbackVendor) -> None:
    seen, code = talk(["chat"], [("You: ", "\x04")], home=tmp_path / "home", vendor=vendor)
    assert "Go on with" not in seen
    assert code == 0
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(("answer", "ran"), [("y", True), ("n", False)])
def test_a_command_is_asked_for(tmp_path: Path, vendor: LoopbackVendor, answer: str, ran: bool) -> None:
    vendor.use_tool("run_command", command="echo gauge-$((40 + 2))")
    vendor.say("So it is.")
    seen, code = talk(
        ["chat", "--allow-commands"],
        [("You: ", "run it\n"), ("n never: ", "what?\n"), ("n never: ", f"{answer}\n"), ("You: ", "\x04")],
        home=tmp_path,
        vendor=vendor,
    )
    assert code == 0
    assert "    echo gauge-$((40 + 2))\n" in seen
    assert ("gauge-42" in vendor.chats[1].chat.messages[-1].text) == ran
    assert ("Used run_command: " in seen) == ran
    assert ("Failed with run_command: " in seen) != ran


def test_always_is_remembered_for_commands_that_begin_alike(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.use_tool("run_command", command="git status")
    vendor.say("Clean.")
    typed = [("You: ", "run it\n"), ("a always for git status", "a\n"), ("You: ", "\x04")]
    talk(["chat", "--allow-commands"], typed, home=tmp_path, vendor=vendor)
    vendor.use_tool("run_command", command="git status --short")
    vendor.say("Clean still.")
    done = ask("again", "--allow-commands", home=tmp_path, vendor=vendor)
    assert done.stdout == b"Clean still.\n"
    assert b"nobody can be asked" not in done.stderr
    assert "not run" not in vendor.chats[3].chat.messages[-1].text


def test_a_line_with_an_exclamation_mark_runs_and_the_model_reads_it(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("Forty-two.")
    seen, code = talk(
        ["chat"],
        [("You: ", "!echo gauge-$((40 + 2))\n"), ("gauge-42", "what is it?\n"), ("You: ", "\x04")],
        home=tmp_path,
        vendor=vendor,
    )
    assert code == 0
    assert "gauge-42\n" in seen
    assert "echo gauge-$((40 + 2))]\ngauge-42" in vendor.chats[0].chat.prompt
    assert len(vendor.chats) == 1


def test_a_file_that_is_not_there_is_said_and_the_talk_goes_on(tmp_path: Path, vendor: LoopbackVendor) -> None:
    vendor.say("Hello.")
    seen, code = talk(
        ["chat"],
        [("You: ", "see @./no-such-file\n"), ("so nothing was sent", "hi\n"), ("You: ", "\x04")],
        home=tmp_path,
        vendor=vendor,
    )
    assert code == 0
    assert "Error: There is no file ./no-such-file, so nothing was sent." in seen
    assert [request.chat.prompt for request in vendor.chats] == ["hi"]
