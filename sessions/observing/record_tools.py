"""Taking what workers record: which records of a model's calls are sound, and the receipt that it gets.

A record with anything wrong in it is rejected by itself; the others of the same call are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memory.ledger_fold import LedgerState
from memory.observations import InvalidRecord, Observation, Reflection, observation, reflection
from memory.values import Event
from sessions.chat_model import ToolSpec
from sessions.display import one_line
from sessions.observing.json_schema import parsed, problem_with
from sessions.observing.record_schemas import DROP_OBSERVATIONS, RECORD_OBSERVATIONS, RECORD_REFLECTIONS

MOST_RECORDS = 400
"""In one run. A model that goes on beyond them is not reading but repeating itself."""

MOST_REASONS = 8
"""Rejections that one receipt explains."""


class Rejected(ValueError):
    """One record is not taken; the message says why, as part of a sentence."""


class RecordingTool:
    """Goes through a model's calls of one tool, record by record.

    Args:
        take: takes one record that the schema allows; False where it is known already. Raises ``Rejected``.
    """

    def __init__(self, spec: ToolSpec, take: Callable[[Any], bool]) -> None:
        self.spec = spec
        self.accepted = 0
        """Records taken in all calls."""
        self.duplicates = 0
        self.rejected = 0
        self._take = take

    def call(self, arguments: str) -> str:
        """Take what a model sent, JSON or not; the receipt that it is told. Never raises."""
        value = parsed(arguments)
        schema = self.spec["function"]["parameters"]
        key = schema["required"][0]
        if not isinstance(value, dict) or not isinstance(value.get(key), list):
            self.rejected += 1
            return f"Nothing was recorded: the arguments must be a JSON object with the list {key}."
        before = self.accepted, self.duplicates
        reasons: list[str] = []
        for place, given in enumerate(value[key], 1):
            try:
                if problem := problem_with(given, schema["properties"][key]["items"], "it"):
                    raise Rejected(problem)
                if self.accepted >= MOST_RECORDS:
                    raise Rejected(f"there are {MOST_RECORDS} records already, which is the most of one run")
                if self._take(given):
                    self.accepted += 1
                else:
                    self.duplicates += 1
            except Rejected as rejected:
                reasons.append(f"number {place}: {rejected}")
        self.rejected += len(reasons)
        return _receipt(self.accepted - before[0], self.duplicates - before[1], reasons, self.accepted)

    @property
    def was_garbage(self) -> bool:
        """Whether something was sent and nothing of it made sense."""
        return self.rejected > 0 and not self.accepted and not self.duplicates


class ObservationRecorder:
    """Takes observations of the events that the observer was shown.

    Args:
        entries: the events, by the id under which they were shown, oldest first.
        state: what is known already; a live observation is not recorded again, one that was dropped is.
    """

    def __init__(self, entries: Mapping[str, Event], state: LedgerState) -> None:
        self.tool = RecordingTool(RECORD_OBSERVATIONS, self._take)
        self._taken: dict[str, Observation] = {}
        self._entries = entries
        self._order = {label: place for place, label in enumerate(entries)}
        self._state = state

    @property
    def observations(self) -> tuple[Observation, ...]:
        return tuple(self._taken.values())

    @property
    def read_through(self) -> int:
        """The ``seq`` of the newest event that a taken observation cites; 0 without one."""
        ids = {source for made in self._taken.values() for source in made.sources}
        return max((event.seq for event in self._entries.values() if event.id in ids), default=0)

    def _take(self, given: Mapping[str, Any]) -> bool:
        labels = [_bare(label) for label in given["sources"]]
        if unknown := [label for label in labels if label not in self._order]:
            raise Rejected(f"no entry has the id {one_line(unknown[0], 40) or '(empty)'}")
        events = [self._entries[label] for label in sorted(set(labels), key=self._order.__getitem__)]
        made = _observation(given, events)
        if made.id in self._taken or made.id in self._state.observations:
            return False
        self._taken[made.id] = made
        return True


class ReflectionRecorder:
    """Takes reflections on live observations.

    Args:
        shown: ids of the observations that the reflector was shown.
    """

    def __init__(self, state: LedgerState, shown: Sequence[str]) -> None:
        self.tool = RecordingTool(RECORD_REFLECTIONS, self._take)
        self._taken: dict[str, Reflection] = {}
        self._state = state
        self._order = {id: place for place, id in enumerate(shown)}

    @property
    def reflections(self) -> tuple[Reflection, ...]:
        return tuple(self._taken.values())

    def _take(self, given: Mapping[str, Any]) -> bool:
        supports = [_bare(id) for id in given["supports"]]
        for id in supports:
            if id in self._state.dropped:
                raise Rejected(f"the observation {id} has been retired")
            if id not in self._order:
                raise Rejected(f"no observation has the id {one_line(id, 40) or '(empty)'}")
        try:
            made = reflection(given["content"], supports=sorted(set(supports), key=self._order.__getitem__))
        except InvalidRecord as invalid:
            raise Rejected(str(invalid)) from None
        if made.id in self._taken or made.id in self._state.reflections:
            return False
        self._taken[made.id] = made
        return True


class DropRecorder:
    """Takes proposals to retire observations. Which of them go is decided by ``memory/dropping.py``."""

    def __init__(self, shown: Sequence[str]) -> None:
        self.tool = RecordingTool(DROP_OBSERVATIONS, self._take)
        self._taken: dict[str, None] = {}
        self._shown = frozenset(shown)

    @property
    def proposed(self) -> tuple[str, ...]:
        return tuple(self._taken)

    def _take(self, given: str) -> bool:
        id = _bare(given)
        if id not in self._shown:
            raise Rejected(f"no observation has the id {one_line(id, 40) or '(empty)'}")
        if id in self._taken:
            return False
        self._taken[id] = None
        return True


def _observation(given: Mapping[str, Any], events: Sequence[Event]) -> Observation:
    """The record; a time that is none becomes that of the newest source."""
    content = " ".join(given["content"].split())
    sources = [event.id for event in events]
    for timestamp in (given["timestamp"].strip().replace("T", " ")[:16], events[-1].t_event[:16].replace("T", " ")):
        try:
            return observation(content, timestamp=timestamp, relevance=given["relevance"], sources=sources)
        except InvalidRecord as invalid:
            problem = str(invalid)
    raise Rejected(problem)


def _bare(id: str) -> str:
    """An id without the brackets that a model may have copied along."""
    return re.sub(r"^\[(?:entry\s+)?|\]$", "", id.strip())


def _receipt(added: int, duplicates: int, reasons: Sequence[str], total: int) -> str:
    receipt = f"Added {added}, known already {duplicates}, rejected {len(reasons)}; {total} in this run."
    if not reasons:
        return receipt
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    return f"{receipt} Rejected: {'; '.join(reasons[:MOST_REASONS])}{more}."
