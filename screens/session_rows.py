"""A session as one row of the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from screens.painting import Line, Part, Tone, padded
from screens.ports import Row
from screens.wording import age, counted, grouped
from screens.wrapping import shortened
from sessions.display import one_line

COLUMNS_FROM = 70
"""Columns from which a row is one line."""

_TURNS, _UPDATED = 7, 9


@dataclass(frozen=True, slots=True)
class SessionLine:
    """Title, workspace, turns and when it was last used; under it what was said, where that is why it was found."""

    row: Row
    now: datetime
    home: str
    """The person's home folder, which a workspace shows as ``~``."""
    open_now: bool = False
    selectable: bool = True

    @property
    def key(self) -> str:
        return self.row.id

    def height(self, width: int) -> int:
        return (1 if width >= COLUMNS_FROM else 2) + (1 if self.row.snippet else 0)

    def lines(self, width: int) -> Sequence[Line]:
        title = Part(one_line(self.row.title[:1_000], 300) or "(no title)")
        marks = [Part(f"  {mark}", "muted") for mark in self._marks()]
        if width >= COLUMNS_FROM:
            lines = [columns(title, marks, self._workspace(), grouped(self.row.turns), self._updated(), width)]
        else:
            facts = f"{counted(self.row.turns, 'turn')} · {self._workspace()}"
            below = padded((Part(f"  {facts}", "muted"),), (Part(self._updated(), "muted"),), width)
            lines = [padded((title,), marks, width), below]
        if self.row.snippet:
            said = one_line(self.row.snippet[:1_000], 300)
            lines.append((Part(f"  {shortened(f'“{said}”', width - 2)}", "x"),))
        return lines

    def _marks(self) -> list[str]:
        marks = ["fork"] if self.row.parent else []
        return [*marks, "open now"] if self.open_now else marks

    def _workspace(self) -> str:
        workspace = one_line(self.row.workspace[:1_000], 300)
        if self.home and (workspace == self.home or workspace.startswith(f"{self.home}/")):
            workspace = "~" + workspace[len(self.home) :]
        return workspace

    def _updated(self) -> str:
        return age(self.row.updated, self.now)


def columns(
    title: Part, marks: Sequence[Part], workspace: str, turns: str, updated: str, width: int, tone: Tone = "muted"
) -> Line:
    """The cells of a row, or of the line with the names of the columns."""
    for_workspace = max(width // 4, 12)
    left = padded((title,), marks, width - for_workspace - _TURNS - _UPDATED - 3) if marks else (title,)
    place = _end_of(workspace, for_workspace)
    right = Part(f"  {place:<{for_workspace}}{turns:>{_TURNS}}{updated:>{_UPDATED}}", tone)
    return padded(left, (right,), width)


def _end_of(path: str, room: int) -> str:
    """A path's end says more than its beginning."""
    return path if len(path) <= room else "…" + path[-(room - 1) :]
