"""A command in a shell: whatever it does, it ends in time, what it printed is kept within limits, and nothing leaks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.commands import shell
from sessions.commands.environment import model_environment, person_environment
from sessions.commands.shell import CommandFailed, Ran, run_in_shell

LONG = 60.0
"""Seconds that no test should come near to."""

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}


async def run(command: str, folder: Path, *, timeout: float = LONG, cap: int = 100_000) -> Ran:
    return await run_in_shell(command, folder, ENVIRON, timeout=timeout, cap=cap)


async def stopped_once_begun(command: str, folder: Path) -> Ran:
    """What becomes of a command that is stopped when it has made the file ``began``."""
    stop = asyncio.Event()
    task = asyncio.create_task(run_in_shell(command, folder, ENVIRON, timeout=LONG, cap=1_000, stop=stop))
    await until((folder / "began").exists)
    stop.set()
    return await task


async def gone(pid: int) -> None:
    """Wait until the process has ended."""
    await until(lambda: not alive(pid))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not holds():
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and was not fetched yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True


async def test_output_and_errors_come_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    ran = await run("echo one; echo two >&2; echo three; pwd; exit 3", tmp_path)
    assert ran.output == f"one\ntwo\nthree\n{tmp_path.resolve()}\n"
    assert (ran.exit, ran.ending, ran.lingers) == (3, "exited", False)
    assert ran.size == len(ran.output)


async def test_there_is_no_input_to_wait_for(tmp_path: Path) -> None:
    assert (await run("cat; read line || echo none", tmp_path)).output == "none\n"


async def test_a_command_that_never_returns_is_stopped_in_time(tmp_path: Path) -> None:
    ran = await run("sleep 1000", tmp_path, timeout=0.05)
    assert (ran.ending, ran.exit) == ("timeout", -signal.SIGTERM)


async def test_children_are_stopped_as_well(tmp_path: Path) -> None:
    ran = await stopped_once_begun("sleep 1000 & echo $!; echo $$; touch began; sleep 1000", tmp_path)
    assert (ran.ending, ran.exit) == ("stopped", -signal.SIGTERM)
    for pid in ran.output.split():
        await gone(int(pid))


async def test_a_command_that_does_not_listen_is_made_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "TERM_GRACE", 0.2)
    ran = await stopped_once_begun("trap '' TERM; echo $$; touch began; while :; do sleep 0.1; done", tmp_path)
    assert (ran.ending, ran.exit) == ("stopped", -signal.SIGKILL)
    await gone(int(ran.output))


async def test_a_child_that_does_not_listen_is_made_to_end_although_its_shell_has(tmp_path: Path) -> None:
    command = "(trap '' TERM; echo $BASHPID; touch began; while :; do sleep 0.1; done) & wait"
    ran = await stopped_once_begun(command, tmp_path)
    assert ran.ending == "stopped"
    await gone(int(ran.output))


async def test_what_holds_the_output_open_is_not_waited_for(tmp_path: Path) -> None:
    ran = await run("sleep 1000 & echo $!", tmp_path, timeout=10 * LONG)
    try:
        assert (ran.ending, ran.exit, ran.lingers) == ("exited", 0, True)
    finally:
        os.kill(int(ran.output), signal.SIGKILL)


async def test_a_hundred_megabytes_are_counted_and_not_held(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = await run("echo first; yes 'a line that comes again and again' | head -c 100000000; echo last", tmp_path)
    assert ran.size == 100_000_011
    assert len(ran.output) < 101_000
    assert ran.output.startswith("first\na line that")
    assert ran.output.endswith("last\n")
    assert f"[{100_000_011 - 100_000:,} bytes left out here: the output is 100.0 MB long]" in ran.output
    # In KB on Linux, in bytes on macOS: either way less than was printed.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000_000


async def test_the_event_loop_goes_on_while_a_command_prints_without_end(tmp_path: Path) -> None:
    task = asyncio.create_task(run("yes", tmp_path))
    beats = 0
    while beats < 50:
        await asyncio.sleep(0.001)
        beats += 1
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_caller_who_is_cancelled_learns_what_had_been_printed(tmp_path: Path) -> None:
    kept: list[Ran] = []
    command = f"echo $$; touch {tmp_path}/began; sleep 1000"
    running = run_in_shell(command, tmp_path, ENVIRON, timeout=LONG, cap=1_000, keep=kept.append)
    task = asyncio.create_task(running)
    await until((tmp_path / "began").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kept[0].ending == "stopped"
    assert not alive(int(kept[0].output))


async def test_a_stop_ends_it_and_is_no_failure(tmp_path: Path) -> None:
    ran = await stopped_once_begun("echo so far; touch began; sleep 1000", tmp_path)
    assert (ran.ending, ran.output) == ("stopped", "so far\n")


async def test_a_second_cancellation_does_not_leave_it_running(tmp_path: Path) -> None:
    command = (
        f"trap '' TERM; echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; while :; do sleep 1; done"
    )
    task = asyncio.create_task(run(command, tmp_path))
    await until((tmp_path / "pid").exists)
    task.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(int((tmp_path / "pid").read_text()))


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    descriptors = Path("/dev/fd")
    await run("true", tmp_path)
    before = len(list(descriptors.iterdir()))
    for _ in range(5):
        await run("echo x", tmp_path)
        await run("sleep 1000", tmp_path, timeout=0.01)
    with pytest.raises(CommandFailed):
        await run("true", tmp_path / "gone")
    assert len(list(descriptors.iterdir())) <= before


async def test_what_cannot_be_started_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="which is no folder any more"):
        await run("true", tmp_path / "gone")
    with pytest.raises(CommandFailed, match="NUL character"):
        await run("echo a\0b", tmp_path)
    with pytest.raises(CommandFailed, match="could not be started"):
        await run("true " + "x" * 10_000_000, tmp_path)
    assert (await run("no-such-program-anywhere", tmp_path)).exit == 127


async def test_a_command_gets_only_the_environment_that_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    ran = await run_in_shell(
        "env; echo $OPENAI_API_KEY", tmp_path, model_environment(os.environ), timeout=LONG, cap=9_999
    )
    assert "sk-secret" not in ran.output
    assert "TERM=dumb" in ran.output


SECRETS = {
    "OPENAI_API_KEY": "s1",
    "ANTHROPIC_API_KEY": "s2",
    "MY_SERVER": "s3",
    "GH_TOKEN": "s4",
    "AWS_SECRET_ACCESS_KEY": "s5",
    "DATABASE_URL": "s6",
    "SSH_AUTH_SOCK": "s7",
    "LC_PASSWORD": "postgres://ada:s8@host/db",
    "BASH_ENV": "s9",
    "LD_PRELOAD": "s10",
}
NEEDED = {"PATH": "/usr/bin:bin:.:/bin", "HOME": "/home/ada", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "USER": "ada"}


def test_a_model_s_command_gets_no_secret_at_all() -> None:
    passed = model_environment(SECRETS | NEEDED)
    assert not SECRETS.keys() & passed.keys()
    assert passed["PATH"] == "/usr/bin:/bin"
    assert {name: passed[name] for name in NEEDED if name != "PATH"} == {
        name: NEEDED[name] for name in NEEDED if name != "PATH"
    }


def test_the_person_s_command_gets_all_but_the_keys_of_models() -> None:
    passed = person_environment(SECRETS | NEEDED, {"MY_SERVER"})
    assert not {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_SERVER"} & passed.keys()
    assert passed["GH_TOKEN"] == "s4"
    assert passed["PATH"] == NEEDED["PATH"]
    assert passed["NO_COLOR"] == "1"
