"""What ``otto sessions`` does, each thing with what it prints."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from memory.errors import EmbeddingUnavailable, OttoError
from otto_tui.prepared import library_of
from otto_tui.shapes import session_shape
from otto_tui.terminal import say, say_aside, say_json, say_notices, table
from otto_tui.times import local_time
from sessions.display import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions.library import Library
    from sessions.options import Options
    from sessions.rows import SessionRow

TITLE_WIDTH = 50
SNIPPET_WIDTH = 100
PROGRESS_STEPS = 10
"""Lines that a long re-embedding prints on its way."""


class SessionActions:
    """One call is one command. Each raises OttoError with the sentence to show."""

    def __init__(self, options: Options, *, as_json: bool) -> None:
        self._options = options
        self._as_json = as_json

    async def list(self, query: str) -> None:
        """Print the sessions, last used first."""
        async with library_of(self._options) as library:
            rows = await library.list(query)
            say_notices(library.take_notices())
        if self._as_json:
            say_json([session_shape(row) for row in rows])
        elif rows:
            _print_rows(rows)
        else:
            say("No session has these words." if query else "There is no session yet. Type otto to start one.")

    async def export(self, id: str, output: str | None, *, form: str, tape: bool, overwrite: bool) -> None:
        """Write a session to a file and say where."""
        async with library_of(self._options) as library:
            row = await _row(library, id)
            written = await library.export(
                row.id,
                Path(output or "."),
                format=cast(Literal["json", "markdown"], form),
                tape=tape,
                overwrite=overwrite,
            )
        if output == "-":
            return
        self._tell(f"Written to {written}.", {"id": row.id, "path": str(written), "format": form})

    async def import_file(self, path: Path) -> None:
        """Bring in an export and make the vectors that it cannot carry."""
        async with library_of(self._options) as library:
            row = await library.import_file(path)
            if row.notice:
                say_aside(f"Note: {row.notice}")
            try:
                await library.reembed(row.id, _progress_of(row.id))
            except EmbeddingUnavailable as error:
                say_aside(f"Note: {error}")
        self._tell(f'Imported "{row.title}" with {row.turns} turns as {row.id}.', session_shape(row))

    async def reembed(self, id: str) -> None:
        """Make vectors anew, of one session or of all."""
        async with library_of(self._options) as library:
            rows = await library.list() if id == "all" else [await _row(library, id)]
            failed: dict[str, str] = {}
            for row in rows:
                try:
                    await library.reembed(row.id, _progress_of(row.id))
                except asyncio.CancelledError:
                    say_aside("Stopped. What was made is kept; the same command goes on from there.")
                    raise
                except OttoError as error:
                    if len(rows) == 1:
                        raise
                    failed[row.id] = str(error)
                    say_aside(f"{row.id}: {error}")
        done = [row.id for row in rows if row.id not in failed]
        self._tell(f"{len(done)} of {len(rows)} sessions have new vectors.", {"done": done, "failed": failed})
        if failed:
            raise OttoError(f"{len(failed)} sessions keep their old vectors; what is said above says why.")

    async def rename(self, id: str, title: str) -> None:
        """Give a session a title."""
        async with library_of(self._options) as library:
            row = await _row(library, id)
            await library.rename(row.id, title)
            row = await _row(library, row.id)
        self._tell(f'{row.id} is now called "{row.title}".', session_shape(row))

    async def delete(self, id: str) -> None:
        """Move a session to the trash."""
        async with library_of(self._options) as library:
            row = await _row(library, id)
            await library.delete(row.id)
        self._tell(f'Deleted "{row.title}" ({row.id}). To bring it back: otto sessions --undo', session_shape(row))

    async def undo(self) -> None:
        """Bring back what was deleted last."""
        async with library_of(self._options) as library:
            row = await library.undo_delete()
        if row is None:
            raise OttoError("Nothing has been deleted that could be brought back.")
        if row.notice:
            say_aside(f"Note: {row.notice}")
        self._tell(f'"{row.title}" is back as {row.id}.', session_shape(row))

    async def fork(self, id: str, at_seq: int) -> None:
        """Make a new session that has the old one up to an event."""
        async with library_of(self._options) as library:
            row = await library.fork(id, at_seq)
        self._tell(f'"{row.title}" is {row.id}. Go on with: otto --resume {row.id}', session_shape(row))

    def _tell(self, sentence: str, shape: Mapping[str, object]) -> None:
        if self._as_json:
            say_json(shape)
        else:
            say(sentence)


async def _row(library: Library, typed: str) -> SessionRow:
    """The one session that was meant.

    Raises:
        UnknownSession: none or several were.
    """
    from sessions.ids import chosen_id

    rows = await library.list()
    id = chosen_id(typed, [row.id for row in rows])
    return next(row for row in rows if row.id == id)


def _print_rows(rows: list[SessionRow]) -> None:
    cells = [
        (row.id, local_time(row.updated), str(row.turns), one_line(row.title, TITLE_WIDTH), one_line(row.workspace, 99))
        for row in rows
    ]
    head, *lines = table(cells, ("id", "updated", "turns", "title", "workspace"))
    say(head)
    for row, line in zip(rows, lines, strict=True):
        say(line)
        if row.snippet:
            say(f"    {one_line(row.snippet, SNIPPET_WIDTH)}")


def _progress_of(id: str) -> Callable[[int, int], None]:
    """Prints a line whenever another tenth is done."""
    last = -1

    def progress(done: int, total: int) -> None:
        nonlocal last
        step = done * PROGRESS_STEPS // total if total else PROGRESS_STEPS
        if step != last:
            last = step
            say_aside(f"{id}: {done} of {total} pieces")

    return progress
