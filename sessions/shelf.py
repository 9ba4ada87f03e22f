"""Which sessions there are: what the index says, and what only the tapes say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memory.errors import OttoError
from sessions import tapes
from sessions.errors import UnknownSession
from sessions.ids import chosen_id, is_session_id
from sessions.index import SessionIndex
from sessions.options import Options
from sessions.rows import SessionRow, newest_first

_MOST_NAMED = 3

_Stamp = tuple[int, int]


class Shelf:
    """The sessions of a home. Normally one query and one look into one folder; a tape is opened only when the index
    does not know it."""

    def __init__(self, options: Options, index: SessionIndex) -> None:
        self._options = options
        self._index = index
        self._unlisted: dict[str, tuple[_Stamp, SessionRow | None]] = {}
        self._damaged: dict[str, str] = {}
        self._notices: list[str] = []
        self._noticed: set[str] = set()

    def rows(self) -> list[SessionRow]:
        """Every session that has a tape, last used first."""
        there = tapes.tape_ids(self._options.home)
        self._damaged = {id: why for id, why in self._damaged.items() if id in there}
        indexed = self._indexed()
        self._report_missing(row.id for row in indexed if row.id not in there)
        known = {row.id for row in indexed}
        lost = self._from_tapes(there - known)
        self._report_damaged()
        return newest_first([row for row in indexed if row.id in there] + lost)

    def find(self, typed: str) -> SessionRow:
        """The session that ``typed`` means: an id, the beginning of one, or ``last``.

        Raises:
            UnknownSession: it means none or several.
        """
        exact = self._exactly(typed)
        if exact is not None:
            return exact
        rows = self.rows()
        try:
            id = chosen_id(typed, [row.id for row in rows])
        except UnknownSession:
            if typed in self._damaged:
                raise UnknownSession(self._damaged[typed]) from None
            raise
        return next(row for row in rows if row.id == id)

    def path(self, id: str) -> Path:
        """The tape of the session with this id."""
        return tapes.tape_path(self._options.home, id)

    def taken(self, id: str) -> bool:
        """Whether a new session must not be called this."""
        return self.path(id).exists()

    def report_damage(self, id: str, error: OttoError) -> None:
        """Remember that a session's tape cannot be read."""
        self._damaged[id] = str(error)
        self._report_damaged()

    def notice(self, sentence: str) -> None:
        """Have a person told this, once."""
        if sentence not in self._noticed:
            self._noticed.add(sentence)
            self._notices.append(sentence)

    def take_notices(self) -> list[str]:
        """Sentences that a person should see, each once."""
        notices, self._notices = self._notices, []
        return notices

    def _exactly(self, id: str) -> SessionRow | None:
        """The session with this very id, where the index knows it: no need to look at all the others."""
        if not is_session_id(id) or not self.path(id).exists():
            return None
        try:
            return self._index.row(id)
        except OttoError:
            # The list that follows reports it.
            return None

    def _indexed(self) -> list[SessionRow]:
        try:
            return self._index.rows()
        except OttoError as error:
            self.notice(f"{error} The list was made from the sessions themselves.")
            return []

    def _from_tapes(self, ids: Iterable[str]) -> list[SessionRow]:
        """Sessions that the index does not know. Those in which a turn has ended are written there."""
        rows: list[SessionRow] = []
        answered: list[SessionRow] = []
        for id in sorted(ids):
            try:
                stamp = _stamp(self.path(id))
                known = self._unlisted.get(id)
                if known is None or known[0] != stamp:
                    summary = self._summary(id)
                    known = stamp, summary.row if summary is not None else None
                    if summary is not None and summary.answered:
                        answered.append(summary.row)
                    else:
                        self._unlisted[id] = known
            except FileNotFoundError:
                # Deleted meanwhile by another process.
                continue
            if known[1] is not None:
                rows.append(known[1])
        if answered:
            self._record(answered)
        return rows

    def _summary(self, id: str) -> tapes.TapeSummary | None:
        try:
            summary = tapes.summary_at(self._options.home, id)
        except OttoError as error:
            self._damaged[id] = str(error)
            return None
        self._damaged.pop(id, None)
        return summary

    def _record(self, rows: list[SessionRow]) -> None:
        try:
            self._index.record(*rows)
        except OttoError as error:
            self.notice(str(error))

    def _report_damaged(self) -> None:
        if self._damaged:
            self.notice(
                f"{_count(self._damaged, 'session')} cannot be read: {_names(self._damaged)}."
                f" {next(iter(self._damaged.values()))}"
            )

    def _report_missing(self, ids: Iterable[str]) -> None:
        missing = sorted(ids)
        if missing:
            self.notice(
                f"{_count(missing, 'session')} in the list have no file in {tapes.folder(self._options.home)} and"
                f" are not shown: {_names(missing)}."
            )


def _stamp(tape: Path) -> _Stamp:
    """Changes when the tape does."""
    wal = tape.with_name(f"{tape.name}-wal")
    return tape.stat().st_mtime_ns, wal.stat().st_mtime_ns if wal.exists() else 0


def _count(ids: Iterable[str], what: str) -> str:
    number = len(list(ids))
    return f"{number} {what}" + ("s" if number != 1 else "")


def _names(ids: Iterable[str]) -> str:
    named = list(ids)
    return ", ".join(named[:_MOST_NAMED]) + (", ..." if len(named) > _MOST_NAMED else "")
