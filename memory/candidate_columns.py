"""``Candidates``: what a recall may return, as columns, since there may be many of which few are returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memory.columns import NO_DAY, Columns, EventColumns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Candidates:
    """Chunks by place, in the order in which they were said: neighbours stand at the next places.

    Columns of numbers are buffers: each element is a plain int, and ``numpy.asarray`` takes the whole without a copy.
    """

    rows: Sequence[int] = field(repr=False)
    """The row of each chunk in its table and in the keyword index."""
    hashes: Sequence[str] = field(repr=False)
    seqs: Sequence[int] = field(repr=False)
    """The event of each chunk."""
    tokens: Sequence[int] = field(repr=False)
    events: EventColumns | None = field(default=None, repr=False)
    """The store's events, where the candidates come from one."""
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What has been found out about these candidates, whatever is asked."""

    def __len__(self) -> int:
        return len(self.rows)

    def places_of(self, rows: NDArray[np.int64]) -> NDArray[np.intp]:
        """The place of the chunk in each of these rows; -1 where it is no candidate."""
        import numpy as np

        places = np.full(len(rows), -1, np.intp)
        if len(self):
            by_row, order = self._by_row
            at = np.minimum(np.searchsorted(by_row, rows), len(by_row) - 1)
            found = by_row[at] == rows
            places[found] = at[found] if order is None else order[at[found]]
        return places

    @cached_property
    def speakers(self) -> NDArray[np.int32]:
        """Who said each, as a place in ``speaker_names``; -1 where that is not known."""
        import numpy as np

        return np.full(len(self), -1, np.int32) if self.events is None else self.events.speakers[self._event_places]

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """What the text of each calls its speaker, as a place in ``speaker_names``; -1 where it does not."""
        import numpy as np

        return np.full(len(self), -1, np.int32) if self.events is None else self.events.labels[self._event_places]

    @property
    def speaker_names(self) -> tuple[str, ...]:
        """Names as ``RecallItem.speaker`` has them; some may be nobody's."""
        return () if self.events is None else self.events.names

    @cached_property
    def said_at(self) -> NDArray[np.float64]:
        """When each was said, in seconds since 1970 in UTC; NaN where that is not known."""
        import numpy as np

        return np.full(len(self), np.nan) if self.events is None else self.events.said_at[self._event_places]

    @cached_property
    def days(self) -> NDArray[np.int32]:
        """The date on which each was said, on the speaker's own calendar, as ``date.toordinal`` counts; else 0."""
        import numpy as np

        return np.full(len(self), NO_DAY, np.int32) if self.events is None else self.events.days[self._event_places]

    @cached_property
    def _event_places(self) -> NDArray[np.intp]:
        import numpy as np

        assert self.events is not None
        return self.events.places_of(np.asarray(self.seqs))

    @cached_property
    def _by_row(self) -> tuple[NDArray[np.int64], NDArray[np.intp] | None]:
        """The rows in order, and the place of each; None where that is the order of the places."""
        import numpy as np

        rows = np.asarray(self.rows, np.int64)
        if bool((rows[1:] > rows[:-1]).all()):
            return rows, None
        order = np.argsort(rows)
        return rows[order], order


def chosen(columns: Columns, mask: NDArray[np.bool_]) -> Candidates:
    """The chunks where ``mask`` is true."""
    chunks = columns.chunks
    return Candidates(
        rows=chunks.rows[mask].data,
        hashes=tuple(chunks.hashes[mask]),
        seqs=chunks.seqs[mask].data,
        tokens=chunks.tokens[mask].data,
        events=columns.events,
    )
