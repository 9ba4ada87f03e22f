"""``Library``: all sessions of one Otto home. Everything that touches a file runs in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memory.store import MemoryStore
from memory.values import TIERED_KINDS, Event
from sessions import search, tapes
from sessions.errors import SessionBusy
from sessions.ids import checked_title
from sessions.index import SessionIndex
from sessions.lock import SessionLock, taken_sentence
from sessions.options import Options
from sessions.rows import SessionRow
from sessions.shelf import Shelf
from sessions.trash import Trash

if TYPE_CHECKING:
    from memory.verify import VerifyReport
    from sessions.models import OpenModel
    from sessions.session import Session

SEARCH_LIMIT = 50
"""Most hits of a search."""

Rows = list[SessionRow]
Sentences = list[str]
Events = list[Event]

_TAPES_AT_A_TIME = 25
"""How many tapes are searched before hits are shown and a search that nobody waits for any more can end."""


class Library:
    """The sessions of ``options.home``. Nothing is created there until the first turn of a session has ended.

    Wherever an ``id`` is taken, a beginning that fits just one session will do, and ``last`` means the one that was
    used last. Methods raise UnknownSession where it fits none, and StoreUnavailable, StoreDamaged or StoreTooNew where
    a file cannot be used.
    """

    def __init__(self, options: Options, *, open_model: OpenModel | None = None) -> None:
        """``open_model`` stands in for the real models, as in a demonstration."""
        self.options = options
        self._models: dict[str, OpenModel] = {} if open_model is None else {"open_model": open_model}
        self.index = SessionIndex(options.home)
        self._shelf = Shelf(options, self.index)
        self._trash = Trash(options.home)

    async def start(self) -> None:
        """Read the list once, so that what is wrong with the home is known before the first screen."""
        await self.list()

    def take_notices(self) -> Sentences:
        """Sentences about damaged or missing files, each once; to be shown after a list or a search."""
        return [*self.index.take_notices(), *self._shelf.take_notices()]

    # -- opening -----------------------------------------------------------------------------------------------

    async def new(self, workspace: str) -> Session:
        """A session in which nothing has been said yet."""
        from sessions.session import Session

        return await Session.create(self.options, workspace, self.index, **self._models)

    async def open(self, id: str, *, read_only: bool = False) -> Session:
        """A session as it was left; read-only when another process has it open, or when it is only looked at."""
        from sessions.session import Session

        row = await asyncio.to_thread(self._shelf.find, id)
        return await Session.open(self.options, row, self.index, read_only=read_only, **self._models)

    async def transcript(self, id: str, before: int | None = None, limit: int = 30) -> Events:
        """The ``limit`` events before ``before`` (None: the newest), oldest first, without opening the session."""
        return await asyncio.to_thread(self._transcript, id, before, limit)

    # -- finding -----------------------------------------------------------------------------------------------

    async def find(self, id: str) -> SessionRow:
        """The one session that an id, the beginning of one, or ``last`` means."""
        return await asyncio.to_thread(self._shelf.find, id)

    async def list(self, query: str = "") -> Rows:
        """All sessions, last used first; with a query, those that ``search`` finds."""
        if not query.strip():
            return await asyncio.to_thread(self._shelf.rows)
        return [row async for row in self.search(query)]

    async def search(self, query: str, *, limit: int = SEARCH_LIMIT) -> AsyncIterator[SessionRow]:
        """Sessions with every word of ``query`` in the title, then those in which it was said, with a snippet.

        Newest first within both. Tapes are opened a few at a time, as hits are asked for: stop asking and it stops.
        """
        rows = await asyncio.to_thread(self._shelf.rows)
        titled = search.in_titles(rows, query)
        for row in titled[:limit]:
            yield row
        known = {row.id for row in titled}
        others = [row for row in rows if row.id not in known]
        left = limit - len(titled)
        for start in range(0, len(others), _TAPES_AT_A_TIME):
            hits = await asyncio.to_thread(self._search_in, others[start : start + _TAPES_AT_A_TIME], query)
            for row in hits[: max(left, 0)]:
                yield row
            left -= len(hits)
            if left <= 0:
                return

    # -- changing ----------------------------------------------------------------------------------------------

    async def rename(self, id: str, title: str) -> None:
        """Give a session another title, on one line.

        Raises:
            TitleRefused: the title has nothing to see.
        """
        await asyncio.to_thread(self._rename, id, checked_title(title))

    async def delete(self, id: str) -> None:
        """Move a session to the trash; ``undo_delete`` brings it back.

        Raises:
            SessionBusy: it is open, here or in another process.
        """
        await asyncio.to_thread(self._delete, id)

    async def undo_delete(self) -> SessionRow | None:
        """Bring back the session that was deleted last, also after a restart; None when there is none."""
        return await asyncio.to_thread(self._undo_delete)

    async def fork(self, id: str, at_seq: int) -> SessionRow:
        """A new session with everything up to the end of the turn that event ``at_seq`` belongs to.

        Events keep their ids, numbers and times; the parent is left as it is.

        Raises:
            UnknownId: the session has no such event.
        """
        return await asyncio.to_thread(self._fork, id, at_seq)

    # -- taking away and bringing in ---------------------------------------------------------------------------

    async def export(
        self,
        id: str,
        path: Path,
        *,
        format: Literal["json", "markdown"] = "json",
        tape: bool = False,
        overwrite: bool = False,
    ) -> Path:
        """Write a session to a file of its own and return where; ``-`` writes to standard output.

        A folder gets a file named after the session. ``tape`` adds the whole record to the JSON.

        Raises:
            ExportRefused: the file exists and ``overwrite`` is false, or it cannot be written.
        """
        return await asyncio.to_thread(self._export, id, path, format, tape, overwrite)

    async def import_file(self, path: Path) -> SessionRow:
        """Bring in a session from an export, checked whole before anything is written.

        If its id is in use here, it gets another one and the row's ``notice`` says so.

        Raises:
            ImportRefused: what is wrong with the file, and where in it.
        """
        return await asyncio.to_thread(self._import_file, path)

    # -- looking after -----------------------------------------------------------------------------------------

    async def reembed(self, id: str, progress: Callable[[int, int], None]) -> None:
        """Make the vectors of a session anew with the current embedding model; ``progress(done, total)``.

        Raises:
            SessionBusy: it is open, here or in another process.
            EmbeddingUnavailable: there is no model to do it with.
        """
        from sessions.reembedding import reembed_tape

        row = await asyncio.to_thread(self._shelf.find, id)
        await reembed_tape(self.options, row.id, progress)

    async def verify(self, id: str) -> VerifyReport:
        """Check everything that must hold of a session on its file."""
        return await asyncio.to_thread(self._verify, id)

    # -- in the thread -----------------------------------------------------------------------------------------

    def _search_in(self, rows: Rows, query: str) -> Rows:
        return search.in_what_was_said(self.options.home, rows, query, self._shelf.report_damage)

    def _rename(self, id: str, title: str) -> None:
        row = self._shelf.find(id)
        self.index.rename(row.id, title)
        lock = SessionLock(self._shelf.path(row.id))
        # A session that is open elsewhere keeps its old title on the tape; the list goes by the index.
        if lock.take():
            try:
                with MemoryStore(self._shelf.path(row.id), now=self.options.now) as store:
                    store.set_meta(tapes.TITLE, title)
            finally:
                lock.release()

    def _transcript(self, id: str, before: int | None, limit: int) -> Events:
        with MemoryStore(self._shelf.path(self._shelf.find(id).id), read_only=True, now=self.options.now) as store:
            return store.events(before=before, kinds=TIERED_KINDS, limit=limit, newest_first=True)[::-1]

    def _delete(self, id: str) -> None:
        row = self._shelf.find(id)
        lock = SessionLock(self._shelf.path(row.id))
        if not lock.take():
            raise SessionBusy(f"{taken_sentence(lock.owner())} It was not deleted.")
        try:
            self._trash.put(row)
            self.index.remove(row.id)
        finally:
            lock.release()

    def _undo_delete(self) -> SessionRow | None:
        row = self._trash.take_back(self._shelf.taken)
        if row is None:
            return None
        if not row.title:
            summary = tapes.summary_at(self.options.home, row.id)
            row = row if summary is None else replace(summary.row, notice=row.notice)
        self.index.put(row)
        return row

    def _fork(self, id: str, at_seq: int) -> SessionRow:
        from sessions.fork import fork

        parent = self._shelf.find(id)
        row = fork(self.options, parent, at_seq)
        self.index.put(row)
        return row

    def _export(self, id: str, path: Path, format: str, tape: bool, overwrite: bool) -> Path:
        from sessions.export import STANDARD_OUTPUT, export
        from sessions.export_document import LARGEST_IMPORT

        row = self._shelf.find(id)
        written = export(self.options, row, path, format=format, tape=tape, overwrite=overwrite)
        if format == "json" and written != STANDARD_OUTPUT and written.stat().st_size > LARGEST_IMPORT:
            self._shelf.notice(
                f"{written} is larger than {LARGEST_IMPORT // 1_000_000} MB, the most that can be imported again."
            )
        return written

    def _import_file(self, path: Path) -> SessionRow:
        from sessions.importing import import_file

        row = import_file(self.options, path)
        self.index.put(row)
        return row

    def _verify(self, id: str) -> VerifyReport:
        from memory.verify import verify

        with MemoryStore(self._shelf.path(self._shelf.find(id).id), read_only=True) as store:
            return verify(store)
