"""When it was said: a question that speaks of a day or a month is about what was said then, or soon after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.question_dates import Days, days_asked

if TYPE_CHECKING:
    from memory.ranking import Mask, Scores

AFTERWARDS = 7
"""Days: people speak of a day on the days after it."""

RELATIVE_WEIGHT = 0.3
"""What "yesterday" counts beside a date: it may have been counted from another day than today."""


@dataclass(frozen=True)
class SaidThen:
    """1 for what was said within the days that the question speaks of, or up to ``AFTERWARDS`` later, and 2 on the one
    day that it names; less for relative dates; else 0."""

    name: str = "date"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        scores = np.zeros(len(candidates), np.float32)
        for span in spans_asked(question, candidates):
            weight = RELATIVE_WEIGHT if span.relative else 1.0
            worth = weight * _within(candidates, span, 1, AFTERWARDS)
            if span.first == span.last:
                worth += weight * _within(candidates, span, 1, 0)
            scores = np.maximum(scores, worth)
        return scores


def said_within(question: str, candidates: Candidates) -> Mask:
    """Which candidates were said on the very days that the question speaks of."""
    import numpy as np

    mask = np.zeros(len(candidates), np.bool_)
    for span in spans_asked(question, candidates):
        mask |= _within(candidates, span, 0, 0) > 0
    return mask


def spans_asked(question: str, candidates: Candidates) -> tuple[Days, ...]:
    """The days that the question speaks of, where any candidate has a date."""
    days = candidates.days
    known = days[days > 0]
    return days_asked(question, int(known.min()), int(known.max())) if len(known) else ()


def _within(candidates: Candidates, span: Days, before: int, after: int) -> Scores:
    import numpy as np

    days = candidates.days
    return ((days >= max(1, span.first - before)) & (days <= span.last + after)).astype(np.float32)
