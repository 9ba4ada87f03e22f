"""One command in a shell of its own: stopped with all that it started, its output kept within limits."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

from memory.errors import OttoError
from sessions.commands.output import CappedOutput
from sessions.private_files import reason

BLOCK = 256 * 1024
"""Bytes read at once."""

TERM_GRACE = 2.0
"""Seconds between asking a command to end and making it."""

KILL_GRACE = 5.0
"""Seconds after which a process that even SIGKILL does not end is left behind."""

PIPE_GRACE = 0.3
"""Seconds of silence after a command's end in which something that it left behind may still print."""

Ending = Literal["exited", "timeout", "stopped"]


class CommandFailed(OttoError):
    """The command could not be started."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command."""

    output: str
    """Standard output and standard error as they came, within the cap and made readable."""
    size: int
    """Bytes printed."""
    ending: Ending
    exit: int | None
    """Its exit status; negative for the signal that ended it; None where it could not be ended."""
    seconds: float
    lingers: bool
    """Whether something that it started holds on to its output still."""


async def run_in_shell(
    command: str,
    folder: Path,
    environment: Mapping[str, str],
    *,
    timeout: float,
    cap: int,
    stop: asyncio.Event | None = None,
    keep: Callable[[Ran], object] | None = None,
) -> Ran:
    """Run ``command`` in ``folder`` through bash, else sh, without any input, in a process group of its own.

    After ``timeout`` seconds, when ``stop`` is set, or when the caller is cancelled, the whole group is asked to end
    and then made to. Output that a process in the background holds open is not waited for. At most ``cap`` bytes of
    output are kept. A caller who is cancelled learns through ``keep`` what had been printed.

    Raises:
        CommandFailed: it cannot be started.
    """
    if sys.platform == "win32":
        raise CommandFailed("Commands need a POSIX shell, which this system does not have.")
    started = monotonic()
    output = CappedOutput(cap)
    process, pipe = await _start(command, folder, environment, output)
    ending: Ending = "exited"
    cancelled: asyncio.CancelledError | None = None
    try:
        ending = await _until_end(process, timeout, stop)
    except asyncio.CancelledError as error:
        ending, cancelled = "stopped", error
    try:
        if ending != "exited":
            await _end_group(process)
        await pipe.quiet(PIPE_GRACE)
    finally:
        if process.returncode is None:
            _signal_group(process, signal.SIGKILL)
        lingers = pipe.close()
    ran = Ran(output.text(), output.size, ending, process.returncode, monotonic() - started, lingers)
    if cancelled is not None:
        if keep is not None:
            keep(ran)
        raise cancelled
    return ran


def shell_path() -> str:
    return shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin:/opt/homebrew/bin") or "/bin/sh"


async def _start(
    command: str, folder: Path, environment: Mapping[str, str], output: CappedOutput
) -> tuple[asyncio.subprocess.Process, _Pipe]:
    reader, writer = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            shell_path(),
            "-c",
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writer,
            # The same pipe, so that both come in the order in which they were written.
            stderr=writer,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    except BaseException as error:
        os.close(reader)
        if isinstance(error, OSError):
            where = "" if folder.is_dir() else f" in {folder}, which is no folder any more"
            raise CommandFailed(f"The command could not be started{where}: {reason(error)}.") from error
        if isinstance(error, ValueError):
            raise CommandFailed("The command holds a NUL character, so it could not be started.") from error
        raise
    finally:
        os.close(writer)
    return process, _Pipe(reader, output)


async def _until_end(process: asyncio.subprocess.Process, timeout: float, stop: asyncio.Event | None) -> Ending:
    waits = {asyncio.create_task(process.wait())}
    if stop is not None:
        waits.add(asyncio.create_task(stop.wait()))
    try:
        await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()
    if process.returncode is not None:
        return "exited"
    return "stopped" if stop is not None and stop.is_set() else "timeout"


async def _end_group(process: asyncio.subprocess.Process) -> None:
    """Ask all of the group to end, and make those that do not. A second cancellation makes them at once."""
    try:
        _signal_group(process, signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), TERM_GRACE)
    finally:
        # Also after the leader has ended: others of its group may not have listened.
        _signal_group(process, signal.SIGKILL)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), KILL_GRACE)


def _signal_group(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class _Pipe:
    """The reading end of a command's output, read as it comes."""

    def __init__(self, reader: int, output: CappedOutput) -> None:
        self._reader = reader
        self._output = output
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        os.set_blocking(reader, False)
        self._loop.add_reader(reader, self._read)

    async def quiet(self, seconds: float) -> None:
        """Wait for the end of the output, or until nothing has come for so long; never much longer than that."""
        for _ in range(10):
            before = self._output.size
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), seconds)
            if self._ended.is_set() or self._output.size == before:
                return

    def close(self) -> bool:
        """Read no more. Whether somebody could have written on."""
        lingers = not self._ended.is_set()
        if lingers:
            self._loop.remove_reader(self._reader)
            os.close(self._reader)
        return lingers

    def _read(self) -> None:
        try:
            data = os.read(self._reader, BLOCK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._output.add(data)
            return
        self._loop.remove_reader(self._reader)
        os.close(self._reader)
        self._ended.set()
